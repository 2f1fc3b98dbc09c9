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
import { start } from "../run.js";

/** The fault of a server or its authorization server, and the output of each command. */
interface Fault {
  readonly name: string;
  readonly plant: (issuer: SignInServer, server: ProtectedServer) => void;
  /** The failed check of `parlance doctor`, with its finding, and its remedy or its rule. Without it, only a user's sign-in shows the fault. */
  readonly doctor?: readonly [check: string, finding: string, remedy: string];
  /** The failed step of `parlance login --explain`. Without it, the sign-in of a client does not suffer from the fault. */
  readonly login?: readonly [step: string, received: string, remedy: string];
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
    doctor: ["metadata", '`resource` is "https://other.example/mcp"', "clients refuse another one"],
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
    login: ["registration", "without a registration endpoint", "register a client there"],
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
    plant(_, server) {
      server.intercept = (request, response) => {
        if (request.headers.authorization === undefined || request.url !== "/mcp") return false;
        response.writeHead(200, json).end('{"jsonrpc":"2.0","id":1,"result":{}}');
        return true;
      };
    },
    doctor: ["bad tokens", "a token that is none gets 200", "verify the signature, the issuer and the audience"],
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
    doctor: ["bad tokens", "a token that is none gets 500", "a token that cannot be verified is 401"],
  },
  {
    name: "the response to the sign-in has no issuer, although that is announced",
    plant: ({ behaviour }) =>
      void Object.assign(behaviour, { metadata: { authorization_response_iss_parameter_supported: true } }),
    login: ["redirect", "no `iss`", "may come from another authorization server"],
  },
  {
    name: "the response to the sign-in is of another issuer",
    plant: ({ behaviour }) =>
      void Object.assign(behaviour, {
        redirect: (parameters: URLSearchParams) => parameters.set("iss", "https://other.example"),
      }),
    login: ["redirect", "https://other.example", "may come from another authorization server"],
  },
  {
    name: "the scopes that the server requires are not granted",
    plant: ({ behaviour }) => void Object.assign(behaviour, { grants: ["profile"] }),
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
  return (...args: string[]) => start(args, env).ended;
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

  const examined = await run("doctor", server.url);
  const failed = examined.stdout.split("\n").filter((line) => line.startsWith("✖") && !line.includes("is MCP"));
  if (doctor === undefined)
    expect(failed.length, examined.stdout).toBe(1); // The sum.
  else {
    const [check, finding, remedy] = doctor;
    expect(failed[0], examined.stdout).toContain(`✖ ${check} `);
    expect(examined.stdout).toContain(finding);
    expect(examined.stdout).toContain(remedy);
    expect(examined.stdout).toMatch(/^ +§ https:\/\/\S+#\S+$/m);
  }
  expect(examined.code).toBe(3);
  expect(issuer.requests("/register")).toEqual([]);

  if (login === undefined) return;
  const [step, received, remedy] = login;
  const explained = await run("login", "--explain", server.url);
  expect(explained.code, explained.stderr).toBe(3);
  expect(explained.stderr).toContain(`✖ sign-in failed: ${step}\n`);
  expect(explained.stderr).toContain(received);
  expect(explained.stderr).toContain(remedy);
  // The steps up to there, each with its page.
  expect(explained.stdout).toMatch(/^challenge {2}/);
  expect(explained.stdout).toMatch(/^ +https:\/\/\S+#\S+$/m);
});
