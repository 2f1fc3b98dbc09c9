// An authorization server on oidc-provider: `node oidc-provider.js '{"tokens":"jwt"}'`. Prints its issuer. Its users sign in with any
// name and password, and consent on a second page.
import { createServer } from "node:http";

// Node 20 lacks it, and the library calls it.
URL.parse ??= (url, base) => (URL.canParse(url, base) ? new URL(url, base) : null);
const { default: Provider, errors } = await import("oidc-provider");
const { exportJWK, generateKeyPair } = await import("jose");

/**
 * `tokens` is `jwt` or `opaque`; `lifetime` is the seconds of access tokens; `scopes` are those that clients may
 * register for; `clients` are those that are registered in advance;
 * `documents` is the server to which requests for `https://app.example/` go, where the metadata document of a client is.
 */
const { tokens = "jwt", lifetime = 3600, scopes, clients = [], documents } = JSON.parse(process.argv[2] ?? "{}");

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const { privateKey } = await generateKeyPair("ES256", { extractable: true });

const provider = new Provider(issuer, {
  clients,
  ...(scopes === undefined ? {} : { scopes }),
  cookies: { keys: ["a key that signs the cookies of this test"] },
  jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "key-1", alg: "ES256", use: "sig" }] },
  clientDefaults: { id_token_signed_response_alg: "ES256" },
  enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
  ttl: { AccessToken: lifetime },
  // Without the dispatcher of the library, which refuses addresses of this machine.
  fetch: (url, options) =>
    fetch(String(url).replace("https://app.example", documents), { ...options, dispatcher: undefined }),
  features: {
    registration: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true },
    dPoP: { enabled: true },
    deviceFlow: { enabled: true },
    ...(documents === undefined ? {} : { clientIdMetadataDocument: { enabled: true, ack: "draft-02" } }),
    resourceIndicators: {
      enabled: true,
      // Without it, a client that also requests `openid` gets tokens for the UserInfo endpoint.
      useGrantedResource: () => true,
      getResourceServerInfo(_context, resource) {
        if (!/^http:\/\/127\.0\.0\.1:\d+\/mcp$/.test(resource)) throw new errors.InvalidTarget();
        const format = tokens === "jwt" ? { accessTokenFormat: "jwt", jwt: { sign: { alg: "ES256" } } } : {};
        return { scope: "notes notes:write", audience: resource, accessTokenTTL: lifetime, ...format };
      },
    },
  },
});
server.on("request", provider.callback());
console.log(issuer);
