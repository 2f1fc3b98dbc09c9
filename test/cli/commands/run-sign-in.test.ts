import { chmod, readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { openConnection } from "@parlance/mcp/jsonrpc";
import { nodeWebSocketChannel } from "@parlance/mcp/websocket";
import { readRecording } from "@parlance/wire";
import { expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { type SignInServer, startProtectedServer, startSignInServer } from "../../auth/client/protected-server.js";
import { ServedPage } from "../../web/served-page.js";
import { parlance } from "../run.js";
import { Scratch } from "../scratch.js";
import { hasTerminals, inTerminal } from "../terminal.js";

/** A user whose browser approves at once, and whose tokens are kept in a folder of their own. */
async function newUser() {
  const scratch = new Scratch();
  onTestFinished(() => scratch[Symbol.dispose]());
  const browser = scratch.at("xdg-open");
  await writeFile(browser, `#!${process.execPath}\nfetch(process.argv[2]).then((page) => page.text());\n`);
  await chmod(browser, 0o755);
  const env = {
    PATH: `${scratch.path}:${process.env.PATH}`,
    PARLANCE_CREDENTIALS: scratch.at("credentials.json"),
  };
  return { scratch, env };
}

/** The exchanges of a recording: the method, the URL without its query, and the status. */
async function exchangesOf(path: string): Promise<readonly string[]> {
  const { entries } = readRecording(await readFile(path));
  const heads = entries.filter((entry) => entry.k === "h");
  return heads.flatMap(({ x, ph, method, url }) => {
    const { status } = heads.find((each) => each.x === x && each.ph === "res") ?? {};
    return ph === "req" ? [`${method} ${url?.replace(/\?.*$/, "")} ${status}`] : [];
  });
}

/** The bodies of a recording that are no messages, and the URLs. */
async function bodiesOf(path: string): Promise<readonly string[]> {
  const { entries } = readRecording(await readFile(path));
  return entries.flatMap((entry) => {
    if (entry.k === "h") return entry.url ?? [];
    return entry.k === "f" && !entry.raw?.includes("jsonrpc") ? (entry.raw ?? []) : [];
  });
}

/** Everything that a recording is made into: the details of its entries, every export, a report, a copy, and the rows and frames of the page. */
async function derivedFrom(path: string, scratch: Scratch): Promise<string> {
  const { entries } = readRecording(await readFile(path));
  const numbers = entries.flatMap((entry) => ("n" in entry && JSON.stringify(entry).includes("█") ? entry.n : []));
  const copy = scratch.at(`copy-of-${basename(path)}`);
  const commands = [
    ["tail", "--recording", path, "--no-follow"],
    ["check", path, "--json"],
    ["redact", path, "-o", copy],
    ...numbers.map((n) => ["show", path, String(n)]),
    ...formats.map((format) => ["export", path, "-T", format, "--no-redact"]),
  ];
  const seen: string[] = [];
  for (const words of commands) {
    const { code, stdout, stderr } = await parlance(words);
    expect({ code, words }, stderr).toEqual({ code: 0, words });
    seen.push(stdout, stderr);
  }
  return [...seen, await readFile(copy, "utf8"), ...(await shownBy(path, numbers))].join("\n");
}

/** A test is made only of the recording of a command. */
const formats = ["html", "har", "otlp", "markdown", "curl", "jsonl", "junit", "sarif"];

/** What the page is sent: the rows and the frames. */
async function shownBy(path: string, numbers: readonly number[]): Promise<readonly string[]> {
  await using served = await ServedPage.open(path);
  const protocols = ["parlance-page", new URL(served.url).hash.replace("#token=", "parlance-token.")];
  const socket = new WebSocket(`${served.origin.replace("http", "ws")}/connection`, protocols);
  const connection = openConnection(nodeWebSocketChannel(socket));
  const view = await connection.call("open", { filter: "" });
  const rows = await connection.call("rows", { from: 0, count: 200 });
  const frames = await Promise.all(numbers.map((n) => connection.call("frame", { n })));
  await connection.close();
  const shown = [view, rows, ...frames].map((each) => JSON.stringify(each));
  expect(shown.join("\n")).toContain("grant_type");
  return shown;
}

/** Everything that must not be seen of the sign-ins at an authorization server. */
function secretsOf({ seen, issued }: SignInServer): readonly string[] {
  const names = ["code", "code_verifier", "state", "refresh_token", "device_code"];
  const sent = seen.flatMap(({ parameters }) => names.map((name) => parameters.get(name) ?? "CANARY"));
  return [...new Set([...sent, ...issued.keys(), "CANARY"])];
}

// The browser is started by the name that Linux has for it.
test.runIf(process.platform === "linux" && hasTerminals)(
  "a run of a protected URL records the sign-in after the response that began it, and its refresh, without secrets",
  async () => {
    await using issuer = await startSignInServer();
    await using server = await startProtectedServer(issuer);
    const { scratch, env } = await newUser();
    const first = scratch.at("first.parlance.jsonl");
    const { code, stdout } = await inTerminal(["run", "--once", "--call", "read", "--record", first, server.url], env)
      .ended;
    expect(stdout).toContain("read by ada");
    expect(code).toBe(0);
    const { origin } = new URL(server.url);
    const exchanges = await exchangesOf(first);
    const metadata = [
      `GET ${origin}/.well-known/oauth-protected-resource/mcp 200`,
      `GET ${issuer.url}/.well-known/oauth-authorization-server 200`,
    ];
    expect(exchanges).toEqual(
      expect.arrayContaining([
        "POST /mcp 401",
        ...metadata,
        `POST ${issuer.url}/register 201`,
        `POST ${issuer.url}/token 200`,
        "POST /mcp 200",
      ]),
    );
    expect(exchanges.indexOf("POST /mcp 401")).toBeLessThan(exchanges.indexOf(metadata[0] ?? ""));
    expect(exchanges.indexOf(`POST ${issuer.url}/token 200`)).toBeLessThan(exchanges.indexOf("POST /mcp 200"));

    issuer.expireAll();
    const second = scratch.at("second.parlance.jsonl");
    const again = await parlance(["run", "--once", "--call", "read", "--record", second, server.url], env);
    expect(again.stdout, again.stderr).toContain("read by ada");
    expect(await exchangesOf(second)).toContain(`POST ${issuer.url}/token 200`);
    expect(issuer.requests("/token").map(({ parameters }) => parameters.get("resource"))).toEqual([
      server.url,
      server.url,
    ]);

    const [authorization] = issuer.requests("/authorize");
    const redirect = authorization?.parameters.get("redirect_uri");
    expect(exchanges).toEqual(
      expect.arrayContaining([`GET ${issuer.url}/authorize undefined`, `GET ${redirect} undefined`]),
    );
    const bodies = await bodiesOf(first);
    expect(bodies).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /\/authorize\?.*&state=[█*]+&code_challenge=[█*]+&code_challenge_method=S256&resource=http/,
        ),
        expect.stringMatching(/\/callback\?code=[█*]+&state=[█*]+$/),
        expect.stringMatching(/"redirect_uris":\["http:\/\/127\.0\.0\.1:\d+\/callback"\]/),
        expect.stringMatching(/&code=[█*]+&code_verifier=[█*]+&grant_type=authorization_code/),
        expect.stringMatching(/^\{"access_token":"[█*]+","token_type":"Bearer".*"refresh_token":"[█*]+"/),
      ]),
    );
    expect(await bodiesOf(second)).toContainEqual(expect.stringMatching(/(?:^|&)refresh_token=[█*]+(?:&|$)/));

    const shown = await parlance(["tail", "--recording", second, "--no-follow"]);
    expect(shown.stdout).toContain(`${issuer.url}/token`);
    expect(shown.stdout).toMatch(/client → oauth {9}token \S+=/);
    expect(shown.stdout).toMatch(/server ← oauth {9}token \{"access_token":"[█*]+"/);
    expect(shown.stdout).not.toContain(" noise ");
    // The user opens the authorization request, which is printed and has the state.
    const printed = stdout.replaceAll(/^\s*http\S+\/authorize\?\S+$/gm, "");
    const seen = [printed, again.stdout, again.stderr, shown.stdout, await readFile(first, "utf8")].join("\n");
    const derived = [await derivedFrom(first, scratch), await derivedFrom(second, scratch)];
    const all = [seen, await readFile(second, "utf8"), ...derived].join("\n");
    expect(secretsOf(issuer).filter((each) => all.includes(each))).toEqual([]);
  },
);

test("login --record records a sign-in with a device code, without secrets", async () => {
  await using issuer = await startSignInServer();
  await using server = await startProtectedServer(issuer);
  issuer.behaviour.device = { interval: 0.1, answer: () => undefined };
  const { scratch, env } = await newUser();
  const path = scratch.at("device.parlance.jsonl");
  const { code, stdout, stderr } = await parlance(["login", "--device", "--record", path, server.url], env);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(`recorded to ${path}`);
  expect(await bodiesOf(path)).toContainEqual(expect.stringMatching(/^\{"device_code":"[█*]+","user_code":"[█*]+"/));
  expect(await bodiesOf(path)).toContainEqual(expect.stringMatching(/(?:^|&)device_code=[█*]+(?:&|$)/));
  const all = [stdout, stderr, await readFile(path, "utf8"), await derivedFrom(path, scratch)].join("\n");
  expect(issuer.requests("/token")).toHaveLength(1);
  expect(secretsOf(issuer).filter((each) => all.includes(each))).toEqual([]);
});

interface Fault {
  readonly what: string;
  readonly rule: string;
  readonly behaviour?: SignInServer["behaviour"];
  /** The Protected Resource Metadata, in place of the server's own. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const faults: readonly Fault[] = [
  {
    what: "another resource in the metadata",
    rule: "AU-4",
    metadata: { resource: "https://honest.example/mcp", authorization_servers: ["https://login.example"] },
  },
  {
    what: "another issuer in the metadata",
    rule: "AU-6",
    behaviour: { metadata: { issuer: "https://honest.example" } },
  },
  {
    what: "a token response without a type",
    rule: "AU-20",
    behaviour: { token: () => ({ status: 200, body: { access_token: "CANARY" } }) },
  },
];

test.each(faults)("the recording of a sign-in with $what breaks $rule", async ({ rule, behaviour, metadata }) => {
  await using issuer = await startSignInServer();
  await using server = await startProtectedServer(issuer);
  Object.assign(issuer.behaviour, { device: { interval: 0.1, answer: () => undefined }, ...behaviour });
  if (metadata !== undefined)
    server.intercept = ({ url = "" }, response) => {
      if (!url.includes("/oauth-protected-resource")) return false;
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(metadata));
      return true;
    };
  const { scratch, env } = await newUser();
  const path = scratch.at("device.parlance.jsonl");
  expect(await parlance(["login", "--device", "--record", path, server.url], env)).toMatchObject({ code: 3 });
  const { code, stdout } = await parlance(["check", path, "--json"]);
  const { verdicts } = JSON.parse(stdout) as { readonly verdicts: readonly { readonly rule: string }[] };
  expect([...new Set(verdicts.map((each) => each.rule))]).toEqual([rule]);
  expect(code).toBe(2);
  expect(stdout).not.toContain("CANARY");
});

test("--keep-secrets keeps the secrets of a sign-in", async () => {
  await using issuer = await startSignInServer();
  await using server = await startProtectedServer(issuer);
  issuer.behaviour.device = { interval: 0.1, answer: () => undefined };
  const { scratch, env } = await newUser();
  const path = scratch.at("device.parlance.jsonl");
  const words = ["login", "--device", "--keep-secrets", "--record", path, server.url];
  expect(await parlance(words, env)).toMatchObject({ code: 0 });
  const kept = await readFile(path, "utf8");
  expect(kept).toContain([...issuer.issued.keys()][0]);
  expect(kept).toContain(issuer.requests("/token")[0]?.parameters.get("device_code"));
});
