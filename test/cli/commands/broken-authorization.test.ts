import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  type ProtectedServer,
  type SignInServer,
  startProtectedServer,
  startSignInServer,
} from "../../auth/client/protected-server.js";
import { isLong } from "../../testing/forms.js";
import { startInForm } from "../run.js";

/** The fault of a server or its authorization server, and the output of each command. */
interface Fault {
  readonly name: string;
  readonly plant: (issuer: SignInServer, server: ProtectedServer) => void;
  /** The failed check of `parlance doctor`, with its finding, and its remedy. `login` is a check of `--login`: only a user's sign-in shows it. */
  readonly doctor: readonly [check: string, finding: string, remedy: string];
  /** The failed step of `parlance login --explain`, or the check after a sign-in that does not suffer from the fault. */
  readonly login: readonly [step: string, received: string, remedy: string];
}

const wellKnown = "/.well-known/oauth-protected-resource";

function answer(
  server: ProtectedServer,
  path: string,
  status: number,
  headers: Record<string, string>,
  body: string,
): void {
  const before = server.intercept;
  server.intercept = (request, response) => {
    if (request.url?.startsWith(path) !== true) return before?.(request, response) ?? false;
    response.writeHead(status, headers).end(body);
    return true;
  };
}

const json = { "content-type": "application/json" };

const faults: readonly Fault[] = [
  {
    name: "the metadata of the authorization server names another issuer",
    plant: ({ behaviour }) => void Object.assign(behaviour, { metadata: { issuer: "https://other.example" } }),
    doctor: ["sign-in", "its issuer is https://other.example", "have to be the same text"],
    login: ["server-metadata", "its issuer is https://other.example", "have to be the same text"],
  },
  {
    name: "the authorization server has no PKCE",
    plant: ({ behaviour }) =>
      void Object.assign(behaviour, { metadata: { code_challenge_methods_supported: ["plain"] } }),
    doctor: ["sign-in", "PKCE with plain", "has to support PKCE and advertise it"],
    login: ["server-metadata", "PKCE with plain", "has to support PKCE and advertise it"],
  },
  {
    name: "the authorization server does not say that it has PKCE",
    plant: ({ behaviour }) =>
      void Object.assign(behaviour, { metadata: { code_challenge_methods_supported: undefined } }),
    doctor: ["sign-in", "no `code_challenge_methods_supported`", "has to support PKCE and advertise it"],
    login: ["server-metadata", "no `code_challenge_methods_supported`", "has to support PKCE and advertise it"],
  },
  {
    name: "the metadata of the server is of another resource",
    plant(issuer, server) {
      const body = JSON.stringify({ resource: "https://other.example/mcp", authorization_servers: [issuer.url] });
      answer(server, wellKnown, 200, json, body);
    },
    doctor: ["metadata", '`resource` is "https://other.example/mcp"', "clients refuse any other"],
    login: ["resource-metadata", "https://other.example/mcp", ""],
  },
  {
    name: "the metadata of the server names no authorization server",
    plant: (_, server) => answer(server, wellKnown, 200, json, JSON.stringify({ resource: server.url })),
    doctor: ["metadata", "no `authorization_servers`", "name the issuer of at least one"],
    login: ["resource-metadata", "authorization_servers", ""],
  },
  {
    name: "the authorization server has no metadata",
    plant: ({ behaviour }) => void Object.assign(behaviour, { metadataPath: "/nowhere" }),
    doctor: ["sign-in", "status 404", "has to serve its metadata"],
    login: ["server-metadata", "status 404", "has to serve its metadata"],
  },
  {
    name: "the authorization server does not run",
    plant(_, server) {
      const body = JSON.stringify({ resource: server.url, authorization_servers: ["http://127.0.0.1:2"] });
      answer(server, wellKnown, 200, json, body);
    },
    doctor: ["sign-in", "connect ECONNREFUSED 127.0.0.1:2", "check that the authorization server runs"],
    login: ["server-metadata", "connect ECONNREFUSED 127.0.0.1:2", "check that the authorization server runs"],
  },
  {
    name: "users would sign in at a page without TLS",
    plant: ({ behaviour }) =>
      void Object.assign(behaviour, { metadata: { authorization_endpoint: "http://auth.example/authorize" } }),
    doctor: ["sign-in", "http://auth.example/authorize", "has to be corrected"],
    login: ["authorization", "http://auth.example/authorize", "has to be corrected"],
  },
  {
    name: "there is no way to a client id",
    plant: ({ behaviour }) => void Object.assign(behaviour, { metadata: { registration_endpoint: undefined } }),
    doctor: [
      "client id",
      "neither client ID metadata documents nor dynamic registration",
      "parlance login --client-id",
    ],
    login: ["registration", "without a registration endpoint", "register a client at the authorization server"],
  },
  {
    name: "the token endpoint answers with a page",
    plant: ({ behaviour }) =>
      void Object.assign(behaviour, { token: () => ({ status: 200, body: "<h1>Welcome</h1>" }) }),
    doctor: ["token request", "answers an invalid code with 200", "has to be refused with 400"],
    login: ["token", "", "check the client at the authorization server"],
  },
  {
    name: "the 401 has no challenge",
    plant: (_, server) => answer(server, "/mcp", 401, {}, ""),
    doctor: ["challenge", "the 401 has no WWW-Authenticate", 'send `WWW-Authenticate: Bearer resource_metadata="…"`'],
    login: ["challenge", "401", "the operator has to look into it"],
  },
  {
    name: "any token is accepted",
    plant(issuer, server) {
      const anyone = { scopes: ["read"], resource: server.url, refreshToken: "", isRevoked: false };
      Object.assign(issuer.issued, { get: () => anyone });
    },
    doctor: ["bad tokens", "a token of arbitrary text gets 200", "verify the signature, the issuer and the audience"],
    login: ["bad tokens", "a token of arbitrary text gets 200", "verify the signature, the issuer and the audience"],
  },
  {
    name: "an invalid token is an error of the server",
    plant(_, server) {
      server.intercept = (request, response) => {
        if (request.headers.authorization?.includes("parlance-doctor") !== true) return false;
        response.writeHead(500).end("TypeError: cannot read properties of undefined");
        return true;
      };
    },
    doctor: ["bad tokens", "a token of arbitrary text gets 500", "a token that cannot be verified is 401"],
    login: ["bad tokens", "a token of arbitrary text gets 500", "a token that cannot be verified is 401"],
  },
  {
    name: "the response to the sign-in has no issuer, although that is announced",
    plant: ({ behaviour }) =>
      void Object.assign(behaviour, { metadata: { authorization_response_iss_parameter_supported: true } }),
    doctor: ["login", "no `iss`", "may come from another authorization server"],
    login: ["redirect", "no `iss`", "may come from another authorization server"],
  },
  {
    name: "the response to the sign-in is of another issuer",
    plant: ({ behaviour }) =>
      void Object.assign(behaviour, {
        redirect: (parameters: URLSearchParams) => parameters.set("iss", "https://other.example"),
      }),
    doctor: ["login", "https://other.example", "may come from another authorization server"],
    login: ["redirect", "https://other.example", "may come from another authorization server"],
  },
  {
    name: "the scopes that the server requires are not granted",
    plant: ({ behaviour }) => void Object.assign(behaviour, { grants: ["profile"] }),
    doctor: ["login", "insufficient_scope", "ask the operator of the server for access with read"],
    login: ["step-up", "insufficient_scope", "ask the operator of the server for access with read"],
  },
];

/** A user whose browser approves at once. */
async function newUser() {
  const folder = await mkdtemp(join(tmpdir(), "parlance-faults-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const browser = join(folder, "xdg-open");
  await writeFile(browser, `#!${process.execPath}\nfetch(process.argv[2]).then((page) => page.text());\n`);
  await chmod(browser, 0o755);
  const PARLANCE_CREDENTIALS = join(folder, "credentials.json");
  const env = { PATH: `${folder}:${process.env.PATH}`, PARLANCE_CREDENTIALS, COLUMNS: "400" };
  return (...args: string[]) => startInForm(args, env).ended;
}

/** Every third fault in the short form. */
const tried = faults.filter((_, index) => isLong || index % 3 === 0);

test.runIf(process.platform === "linux").each(tried)("$name", async ({ plant, doctor, login }) => {
  const issuer = await startSignInServer();
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const server = await startProtectedServer(issuer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  plant(issuer, server);
  const run = await newUser();

  const [check, finding, remedy] = doctor;
  const examined = await run("doctor", ...(check === "login" ? ["--login"] : []), server.url);
  const failed = examined.stdout.split("\n").filter((line) => line.startsWith("✖") && !line.includes("is MCP"));
  expect(failed[0], examined.stdout).toContain(`✖ ${check} `);
  expect(examined.stdout).toContain(finding);
  expect(examined.stdout).toContain(remedy);
  expect(examined.stdout).toMatch(/^ +§ https:\/\/\S+#\S+$/m);
  expect(examined.code).toBe(3);
  if (check !== "login") expect(issuer.requests("/register")).toEqual([]);

  const [step, received, mending] = login;
  const explained = await run("login", "--explain", server.url);
  // The steps up to there, each with its page.
  expect(explained.stdout).toMatch(/^challenge {2}/);
  expect(explained.stdout).toMatch(/^ +https:\/\/\S+#\S+$/m);
  const isSignedIn = step === "bad tokens";
  expect(explained.code, explained.stderr).toBe(isSignedIn ? 0 : 3);
  const said = isSignedIn ? explained.stdout : explained.stderr;
  expect(said).toContain(isSignedIn ? `✖ ${step} ` : `✖ sign-in failed: ${step}\n`);
  expect(said).toContain(received);
  expect(said).toContain(mending);
});

test.runIf(process.platform === "linux")(
  "metadata at one place is no fault, but is named with both places",
  async () => {
    await using issuer = await startSignInServer();
    await using server = await startProtectedServer(issuer);
    answer(server, `${wellKnown}/mcp`, 404, {}, "");
    const run = await newUser();
    const { stdout } = await run("doctor", server.url);
    expect(stdout).toMatch(/^✔ metadata/m);
    expect(stdout).toContain("· only at one place, and some clients look at the other one alone: ");
    expect(stdout).toMatch(new RegExp(`${wellKnown}/mcp: 404;\\s+\\S+${wellKnown}: 200$`, "m"));
    const explained = await run("login", "--explain", server.url);
    expect(explained).toMatchObject({ code: 0 });
    expect(explained.stdout).toMatch(new RegExp(`^resource-metadata {2}GET \\S+${wellKnown}/mcp: 404$`, "m"));
    expect(explained.stdout).toMatch(/^✔ bad tokens {4}refused with 401$/m);
  },
);

test.runIf(process.platform === "linux")(
  "with a token, doctor also examines what happens without one, and with a bad one",
  async () => {
    await using issuer = await startSignInServer();
    await using server = await startProtectedServer(issuer);
    const run = await newUser();
    const signedIn = await run("doctor", "--login", server.url);
    const lines = signedIn.stdout.split("\n").filter((line) => /^[✔✖]/.test(line));
    expect(lines.slice(0, 10).map((line) => line.slice(2, 15).trimEnd())).toEqual([
      ...["login", "resolves", "connects", "HTTP answers", "challenge", "metadata", "sign-in", "client id"],
      ...["token request", "bad tokens"],
    ]);
    expect(signedIn.stdout).toMatch(/^✔ is MCP/m);
    expect(signedIn).toMatchObject({ code: 0 });
    const token = [...issuer.issued.keys()].at(-1);
    const header = ["--header", `Authorization: Bearer ${token}`];
    server.intercept = (request, response) => {
      if (request.headers.authorization?.includes("parlance-doctor") !== true) return false;
      response.writeHead(500).end();
      return true;
    };
    expect((await run("doctor", ...header, server.url)).stdout).toContain("✖ bad tokens");
    const open = await run("doctor", "--login", ...header, server.url);
    expect(open.stderr).toContain("--login is for a server over HTTP, without a token");
  },
);
