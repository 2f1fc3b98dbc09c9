import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { clientCredentials, deviceCode, enterpriseManaged, oauth, workloadIdentity } from "@parlance/mcp/auth";
import { fileTokenStore } from "@parlance/mcp/auth-node";
import { connect } from "@parlance/mcp/client";
import { SignInCover } from "@parlance/wire";
import { exportJWK, generateKeyPair } from "jose";
import { expect, onTestFinished, test } from "vitest";
import {
  approve,
  type Behaviour,
  type SignInServer,
  startProtectedServer,
  startSignInServer,
} from "./client/protected-server.js";

/** Everything that must not be seen of the sign-ins at an authorization server. */
function secretsOf(issuer: SignInServer): readonly string[] {
  const names = [
    ...["code", "code_verifier", "nonce", "refresh_token", "client_secret", "client_assertion"],
    ...["assertion", "subject_token", "device_code", "request_uri"],
  ];
  const sent = issuer.seen.flatMap(({ parameters, authorization }) => [
    ...names.map((name) => parameters.get(name)),
    authorization?.split(" ")[1],
  ]);
  const issued = [...issuer.issued].flatMap(([token, { refreshToken }]) => [token, refreshToken]);
  return [...new Set([...sent, ...issued, "CANARY"])].filter((each) => typeof each === "string");
}

/** The secrets that stand in a text, in any of the encodings that a URL or a header has. */
function leaked(seen: string, issuer: SignInServer): readonly string[] {
  const secrets = secretsOf(issuer);
  expect(issuer.seen).not.toEqual([]);
  return secrets.filter((secret) =>
    [secret, encodeURIComponent(secret), btoa(secret)].some((each) => seen.includes(each)),
  );
}

const whole = (value: unknown): string => inspect(value, { depth: 30, showHidden: true, maxStringLength: null });

const bad = (status: number, body: unknown): Behaviour => ({ token: () => ({ status, body }) });
const token = (body: Readonly<Record<string, unknown>>): Behaviour => bad(200, { token_type: "Bearer", ...body });
const registered = (change: Readonly<Record<string, unknown>>): Behaviour => ({
  registration: (body) => ({ ...body, client_secret: "secret-CANARY", ...change }),
});

interface Fault {
  readonly what: string;
  readonly behaviour?: Behaviour;
  /** Whether the MCP server refuses all tokens, once the client is connected. */
  readonly refuses?: boolean;
}

const faults: readonly Fault[] = [
  { what: "nothing wrong" },
  {
    what: "a token response without a type",
    behaviour: token({ access_token: "access-CANARY", token_type: undefined }),
  },
  { what: "a token response of another type", behaviour: token({ access_token: "access-CANARY", token_type: "mac" }) },
  { what: "a wrong expiry of a token", behaviour: token({ access_token: "access-CANARY", expires_in: "CANARY" }) },
  { what: "an invalid ID token", behaviour: token({ access_token: "access-CANARY", id_token: "CANARY" }) },
  { what: "a token response that is no object", behaviour: bad(200, ["access-CANARY"]) },
  { what: "an error beside tokens", behaviour: bad(400, { error: "invalid_grant", access_token: "access-CANARY" }) },
  { what: "a server error with tokens in it", behaviour: bad(500, { access_token: "access-CANARY" }) },
  { what: "a registration without an id", behaviour: registered({ client_id: undefined }) },
  { what: "a wrong expiry of a registration", behaviour: registered({ client_secret_expires_at: "never" }) },
  {
    what: "the secret of a registration",
    behaviour: registered({ client_secret_expires_at: 0, token_endpoint_auth_method: "client_secret_basic" }),
  },
  { what: "a redirect with another state", behaviour: { redirect: (sent) => sent.set("state", "CANARY") } },
  { what: "a redirect with two codes", behaviour: { redirect: (sent) => sent.append("code", "code-CANARY") } },
  { what: "a redirect of another issuer", behaviour: { redirect: (sent) => sent.set("iss", "https://login.example") } },
  { what: "tokens that the server refuses", refuses: true },
];

/** The response of an MCP server that accepts no token. */
function refusal(_: IncomingMessage, response: ServerResponse): boolean {
  response.writeHead(401, { "www-authenticate": 'Bearer error="invalid_token"' }).end();
  return true;
}

test.each(faults)("secrets are in no error, step or object of a sign-in with $what", async ({ behaviour, refuses }) => {
  await using issuer = await startSignInServer();
  await using server = await startProtectedServer(issuer);
  Object.assign(issuer.behaviour, behaviour);
  const seen: unknown[] = [];
  const auth = oauth({
    redirectUrl: "http://127.0.0.1:33418/callback",
    authorize: approve,
    onStep: (step) => seen.push(step),
  });
  seen.push(auth);
  try {
    await using client = await connect(server.url, { auth, reopen: false, report: (report) => seen.push(report) });
    if (refuses === true) server.intercept = refusal;
    seen.push(client);
    seen.push(await client.tools.call("write").catch((error: unknown) => error));
    issuer.expireAll();
    seen.push(await client.tools.call("read").catch((error: unknown) => error));
  } catch (error) {
    seen.push(error);
  }
  expect(seen.length).toBeGreaterThan(3);
  expect(leaked(whole(seen), issuer)).toEqual([]);
});

test.skipIf(process.platform !== "linux")(
  "secrets are not in the output, title, arguments or environment of a process that signs in, nor in those of its browser",
  async () => {
    await using issuer = await startSignInServer();
    await using server = await startProtectedServer(issuer);
    const folder = await mkdtemp(join(tmpdir(), "parlance-canary-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    // A browser whose user approves at once.
    const browser = `#!${process.execPath}
const { writeFileSync } = require("node:fs");
writeFileSync(${JSON.stringify(join(folder, "browser.txt"))}, JSON.stringify([process.argv, process.env, process.title]), { flag: "a" });
fetch(process.argv[2]).then((response) => response.text());
`;
    await writeFile(join(folder, "xdg-open"), browser);
    await chmod(join(folder, "xdg-open"), 0o700);
    const program = join(import.meta.dirname, "../fixtures/browser-client.js");
    const file = join(folder, "state", "credentials.json");
    const child = spawn(process.execPath, [program, file, server.url], {
      env: { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect(err).toContain("To sign in, open:");
    expect(out.split("\n")[0]).toBe("written");
    const opened = await readFile(join(folder, "browser.txt"), "utf8");
    expect(opened).toContain("code_challenge");
    expect(leaked(out + err + opened, issuer)).toEqual([]);
    // The store is the only place for them.
    expect(await readdir(join(folder, "state"))).toEqual(["credentials.json"]);
    expect(await readFile(file, "utf8")).toContain("CANARY");
  },
);

test("a damaged token file is reported without what it contains", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parlance-canary-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "credentials.json");
  await writeFile(file, '{"version":1,"credentials":{"key":{"tokens":{"accessToken":CANARY', { mode: 0o600 });
  const warned = once(process, "warning");
  expect(await fileTokenStore(file).get("key")).toBeUndefined();
  const [warning] = await warned;
  expect(whole(warning)).toContain("does not contain tokens");
  expect(whole(warning)).not.toContain("CANARY");
});

type Auth = ReturnType<typeof oauth>;
type Fetch = ReturnType<Auth>;

interface RecordedGrant {
  readonly grant: string;
  readonly behaviour?: Behaviour;
  readonly auth: (fetch: Fetch, issuer: SignInServer, provider: SignInServer) => Auth | Promise<Auth>;
}

const jag = "urn:ietf:params:oauth:token-type:id-jag";
const redirectUrl = "http://127.0.0.1:33418/callback";

const grants: readonly RecordedGrant[] = [
  {
    grant: "an authorization code, as a client that registers with a secret",
    behaviour: {
      registration: (body) => ({
        ...body,
        client_secret: "registered-secret-CANARY",
        client_secret_expires_at: 0,
        registration_access_token: "registration-token-CANARY",
        token_endpoint_auth_method: "client_secret_basic",
      }),
    },
    auth: (fetch) => oauth({ redirectUrl, authorize: approve, fetch }),
  },
  {
    grant: "an authorization code, with DPoP",
    behaviour: { metadata: { dpop_signing_alg_values_supported: ["ES256"] } },
    auth: (fetch) => oauth({ redirectUrl, authorize: approve, dpop: true, fetch }),
  },
  {
    grant: "a device code",
    behaviour: { device: { interval: 0.01, answer: () => undefined } },
    auth: (fetch) => deviceCode({ show: () => undefined, fetch }),
  },
  {
    grant: "client credentials, with a secret",
    auth: (fetch, { url: issuer }) =>
      clientCredentials({ clientId: "report", clientSecret: "s3cret:CANARY", issuer, fetch }),
  },
  {
    grant: "client credentials, with a signed assertion",
    auth: async (fetch) => {
      const { privateKey } = await generateKeyPair("ES256", { extractable: true });
      return clientCredentials({ clientId: "report", privateKey: (await exportJWK(privateKey)) as JsonWebKey, fetch });
    },
  },
  {
    grant: "the token of a platform",
    auth: (fetch, { url: issuer }) => workloadIdentity({ assertion: () => "platform.token.CANARY", issuer, fetch }),
  },
  {
    grant: "an ID-JAG",
    auth: (fetch, { url: issuer }, { url }) =>
      enterpriseManaged({
        identityProvider: { issuer: url, clientId: "agent" },
        idToken: () => "id-token-CANARY",
        clientId: "notes-agent",
        clientSecret: "s3cret-CANARY",
        issuer,
        fetch,
      }),
  },
];

/** The token endpoint of an authorization server that issues a token for any grant. */
function issuing(issuer: SignInServer, resource: string): NonNullable<Behaviour["token"]> {
  return (parameters) => {
    const scope = parameters.get("scope") ?? "read";
    const token = `machine-${issuer.issued.size}-CANARY`;
    issuer.issued.set(token, {
      scopes: scope.split(" "),
      resource,
      refreshToken: "machine-r-CANARY",
      isRevoked: false,
    });
    const body = { access_token: token, token_type: "Bearer", expires_in: 60, scope, id_token: undefined };
    return parameters.has("assertion") || parameters.get("grant_type") === "client_credentials"
      ? { status: 200, body }
      : undefined;
  };
}

/** How the token endpoint answers the request for a token: what was sent may come back in any answer. */
const answers: readonly (readonly [string, Behaviour["token"]])[] = [
  ["that succeeds", undefined],
  [
    "that the server refuses with what was sent",
    (sent) => ({
      status: 400,
      body: { error: "invalid_grant", error_description: `Unknown: ${[...sent.values()].join(" ")}` },
    }),
  ],
  [
    "that the server refuses with 200",
    (sent) => ({ status: 200, body: { error: "invalid_request", error_description: [...sent.values()].join(" ") } }),
  ],
  ["whose response is broken", (sent) => ({ status: 200, body: [...sent.values()] })],
  ["that fails", (sent) => ({ status: 500, body: Object.fromEntries(sent) })],
];

test.each(grants.flatMap((each) => answers.map(([outcome, answer]) => ({ ...each, outcome, answer }))))(
  "secrets are in no error, step or object of $grant $outcome",
  async ({ behaviour, auth, answer }) => {
    await using issuer = await startSignInServer();
    await using provider = await startSignInServer();
    await using server = await startProtectedServer(issuer);
    issuer.behaviour.token = answer ?? issuing(issuer, server.url);
    Object.assign(issuer.behaviour, behaviour);
    const body = { access_token: "id-jag-CANARY", issued_token_type: jag, token_type: "N_A", expires_in: 60 };
    provider.behaviour.token = () => ({ status: 200, body });
    const seen: unknown[] = [];
    const given = await auth(fetch, issuer, provider);
    try {
      await using client = await connect(server.url, { auth: given, reopen: false, report: (each) => seen.push(each) });
      seen.push(client, await client.tools.call("read"));
    } catch (error) {
      seen.push(error);
    }
    expect(seen[0]).toBeDefined();
    seen.push(given);
    expect(issuer.requests("/token")).not.toEqual([]);
    expect(leaked(whole(seen), issuer)).toEqual([]);
  },
);

test.each(grants)("a recorder covers the secrets of $grant", async ({ grant, behaviour, auth }) => {
  await using issuer = await startSignInServer();
  await using provider = await startSignInServer();
  await using server = await startProtectedServer(issuer);
  issuer.behaviour.token = issuing(issuer, server.url);
  Object.assign(issuer.behaviour, behaviour);
  const body = { access_token: "id-jag-CANARY", issued_token_type: jag, token_type: "N_A", expires_in: 60 };
  provider.behaviour.token = () => ({ status: 200, body });
  const cover = new SignInCover();
  const [crossed, recorded]: [string[], string[]] = [[], []];
  const take = (head: Parameters<SignInCover["head"]>[0], bytes: Uint8Array): void => {
    const text = Buffer.from(bytes).toString();
    const covered = cover.body(bytes);
    expect(covered).toHaveLength(bytes.length);
    crossed.push(JSON.stringify(head), text);
    recorded.push(JSON.stringify(cover.head(head)), Buffer.from(covered).toString());
  };
  const watched: Fetch = async (url, init) => {
    const request = new Request(url, init);
    take({ ph: "req", url: url.href, headers: [...request.headers] }, new Uint8Array(await request.arrayBuffer()));
    const response = await fetch(url, init);
    take({ ph: "res", headers: [...response.headers] }, new Uint8Array(await response.clone().arrayBuffer()));
    return response;
  };
  await using client = await connect(server.url, { auth: await auth(watched, issuer, provider), reopen: false });
  await client.tools.call("read");
  // The secrets have crossed.
  expect(crossed.join("\n")).toContain("CANARY");
  const seen = recorded.join("\n");
  expect(leaked(seen, issuer)).toEqual([]);
  expect(provider.seen.flatMap(({ parameters }) => parameters.get("subject_token") ?? [])).toEqual(
    grant === "an ID-JAG" ? ["id-token-CANARY"] : [],
  );
  // DPoP proofs and signed assertions are JSON Web Tokens.
  expect(seen).not.toMatch(/eyJ[\w-]{8}/);
  // What they belong to stays readable.
  expect(seen).toMatch(/grant_type=[a-z]/);
  expect(seen).toContain('"token_type":"');
});
