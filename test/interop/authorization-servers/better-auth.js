// An authorization server on better-auth: `node better-auth.js '{"resource":"http://127.0.0.1:1234/mcp"}'`. Prints its issuer. Its pages
// sign Ada in and consent by themselves.
//
// Where it differs from oidc-provider: its issuer has a path, its resources are listed in advance, and it revokes tokens of public clients
// although `revocation_endpoint_auth_methods_supported` does not list `none`. Both write access tokens of the type `at+jwt`.
import { createServer } from "node:http";
import { oauthProvider } from "@better-auth/oauth-provider";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { toNodeHandler } from "better-auth/node";
import { jwt } from "better-auth/plugins";

/** `resource` is the only resource that it issues tokens for; `lifetime` is the seconds of access tokens. */
const { resource, lifetime = 3600 } = JSON.parse(process.argv[2] ?? "{}");

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const ofSignIns = ["user", "session", "account", "verification", "jwks"];
const ofClients = ["Client", "Resource", "ClientResource", "ClientAssertion", "Consent", "AccessToken", "RefreshToken"];
const tables = [...ofSignIns, ...ofClients.map((name) => `oauth${name}`)];

const auth = betterAuth({
  baseURL: origin,
  secret: "a secret of this test, at least 32 characters",
  database: memoryAdapter(Object.fromEntries(tables.map((name) => [name, []]))),
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
  plugins: [
    jwt(),
    oauthProvider({
      loginPage: "/sign-in",
      consentPage: "/consent",
      allowDynamicClientRegistration: true,
      allowUnauthenticatedClientRegistration: true,
      scopes: ["openid", "offline_access", "notes", "notes:write"],
      resources: [resource],
      enforcePerClientResources: false,
      accessTokenExpiresIn: lifetime,
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    }),
  ],
});
const ada = { email: "ada@example.com", password: "a password of Ada", name: "Ada" };
const { user } = await auth.api.signUpEmail({ body: ada });

/** The response of the library to a request of this program. */
const ask = (path, init) => auth.handler(new Request(`${origin}/api/auth${path}`, init));

const answer = toNodeHandler(auth);
server.on("request", async (request, response) => {
  const { pathname, search } = new URL(request.url, origin);
  if (pathname === "/sign-in") {
    const signedIn = await auth.api.signInEmail({ body: ada, asResponse: true });
    const location = `/api/auth/oauth2/authorize${search}`;
    return response.writeHead(302, { location, "set-cookie": signedIn.headers.getSetCookie() }).end();
  }
  if (pathname === "/consent") {
    const headers = { cookie: request.headers.cookie ?? "", origin, "content-type": "application/json" };
    const body = JSON.stringify({ accept: true, oauth_query: search.slice(1) });
    const { url } = await (await ask("/oauth2/consent", { method: "POST", headers, body })).json();
    return response.writeHead(302, { location: url }).end();
  }
  // The library has the metadata below its own path; RFC 8414 has it at the origin.
  const [, name] = /^\/\.well-known\/(oauth-authorization-server|openid-configuration)/.exec(pathname) ?? [];
  if (name === undefined) {
    // The browser of the tests is `fetch`, to which the library responds with JSON instead of a redirect.
    request.headers["sec-fetch-mode"] = "navigate";
    return answer(request, response);
  }
  const metadata = await ask(`/.well-known/${name}`);
  return response.writeHead(metadata.status, { "content-type": "application/json" }).end(await metadata.text());
});
console.log(JSON.stringify({ issuer: `${origin}/api/auth`, subject: user.id }));
