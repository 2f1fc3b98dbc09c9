import { readFileSync, writeFileSync } from "node:fs";
import type { Auth } from "@parlance/mcp/http";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { type Entry, encodeEntry } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import type { HttpEntry } from "../../packages/wire/src/recording/entry.js";
import { header, opening, recorded, type Said, stdioFrame } from "../wire/recording/recorded.js";
import { parlance } from "./run.js";
import { Scratch } from "./scratch.js";

/** Where each of the ten was planted. What follows the prefix differs from its first letter on. */
const planted = {
  argument: "a1b2c3d4-argument",
  environment: "e5f6g7h8-environment",
  header: "h9i0j1k2-header",
  cookie: "c3d4e5f6-cookie",
  bearer: "b7c8d9e0.bearer-token",
  body: "y1z2a3b4-body",
  result: "r5s6t7u8-result",
  stderr: "s9t0u1v2-stderr",
  url: "u3v4w5x6-url",
  pem: "MIIEvgIBADANBgkqhkiG9w0BAQEFAASC",
} as const;

const pem = `-----BEGIN PRIVATE KEY-----\n${planted.pem}\nBKgwggSkAgEAAoIBAQ\n-----END PRIVATE KEY-----\n`;
const all = Object.values(planted).join(" ");

const tool = {
  name: "login",
  inputSchema: { type: "object", properties: { note: { type: "string", maxLength: 3 } } },
  outputSchema: { type: "object", properties: { session: { enum: ["none"] }, secret: { type: "string" } } },
};

const text = (value: object): string => JSON.stringify({ jsonrpc: "2.0", ...value });

/** Messages that hold all of them, and break rules at the places where they stand. */
const said: readonly Said[] = [
  ...opening("2025-11-25", { server: { tools: {} } }),
  `→ ${text({ id: 1, method: "tools/list" })}`,
  `← ${text({ id: 1, result: { tools: [tool] } })}`,
  `→ ${text({ id: 2, method: "tools/call", params: { name: "login", arguments: { password: planted.body, note: all } } })}`,
  `← ${text({ id: 2, result: { content: [{ type: "text", text: all }], structuredContent: { secret: planted.result, session: planted.result } } })}`,
  `← ${text({ id: 2, result: { content: [], structuredContent: { session: planted.body } } })}`,
  `← {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"${planted.header}","data":{"key":${JSON.stringify(pem)},"token":12345678901234567890}}}`,
  `← not a message: ${all}`,
  `→ ${text({ id: planted.cookie, method: "resources/read", params: { uri: `https://x/?api_key=${planted.url}` } })}`,
];

function entriesOf(): readonly Entry[] {
  const frames = recorded(...said);
  const head = (n: number, rest: Partial<HttpEntry>): Entry => ({ k: "h", n, t: n, s: "2", x: 1, ph: "req", ...rest });
  return [
    {
      ...header,
      server: { cmd: "node", args: ["server.js", "--api-key", planted.argument], envNames: ["GITHUB_TOKEN"] },
    },
    ...frames,
    { k: "e", n: 30, s: "1", t: 30, raw: `GITHUB_TOKEN=${planted.environment} password: ${planted.stderr}\n` },
    { k: "e", n: 31, s: "1", t: 31, raw: `${all}\n${pem}` },
    head(32, {
      method: "POST",
      url: `/mcp?access_token=${planted.url}`,
      headers: [
        ["X-Api-Key", planted.header],
        ["Authorization", `Bearer ${planted.bearer}`],
        ["Cookie", `sid=${planted.cookie}`],
        ["Mcp-Session-Id", "0123456789"],
        ["X-Echo", all],
      ],
    }),
    head(33, {
      ph: "res",
      status: 200,
      headers: [
        ["Mcp-Session-Id", "ünseen name"],
        ["Content-Type", "text/html"],
      ],
    }),
    { ...stdioFrame(34, `← ${text({ id: 9, result: { x: all } })}`), s: "2", ch: "http", req: 1 },
    head(35, { ph: "end" }),
    { k: "a", n: 34, text: `look at ${all}` },
  ];
}

function write(scratch: Scratch): string {
  const path = scratch.at("run.parlance.jsonl");
  writeFileSync(path, entriesOf().map(encodeEntry).join(""));
  return path;
}

function expectNone(output: string): void {
  for (const [place, secret] of Object.entries(planted)) {
    expect(output, place).not.toContain(secret);
    expect(output, place).not.toContain(secret.slice(0, 8));
  }
}

interface JsonVerdict {
  readonly rule: string;
  readonly party: string;
  readonly n: number;
  readonly pointer?: string;
  readonly range?: readonly number[];
  readonly header?: string;
  readonly version: string;
}

interface JsonReport {
  readonly verdicts: readonly JsonVerdict[];
  readonly pending: readonly { readonly n: number }[];
}

/** The findings of a check, without their texts. */
async function found(path: string): Promise<unknown> {
  const { stdout } = await parlance(["check", path, "--json"]);
  const { verdicts, pending } = JSON.parse(stdout) as JsonReport;
  const places = verdicts.map(({ rule, party, n, pointer, range, header: name, version }) => {
    return { rule, party, n, pointer, range, name, version };
  });
  return { places, pending: pending.map(({ n }) => n) };
}

const formats = ["html", "har", "otlp", "markdown", "curl", "jsonl", "junit", "sarif", "test"] as const;

describe("ten planted secrets", () => {
  test.each(formats)("are in no export as %s", async (format) => {
    using scratch = new Scratch();
    const { code, stdout } = await parlance(["export", write(scratch), "-T", format]);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(200);
    expectNone(stdout);
  });

  test.each(["text", "json", "sarif", "junit"])("are in no report of a check as %s", async (format) => {
    using scratch = new Scratch();
    const { stdout } = await parlance(["check", write(scratch), "--format", format]);
    expect(stdout).toContain("R-5");
    expectNone(stdout);
  });

  test("are not in a redacted copy, nor in what is made of it", async () => {
    using scratch = new Scratch();
    const copy = scratch.at("copy.parlance.jsonl");
    await parlance(["redact", write(scratch), "-o", copy]);
    expectNone(readFileSync(copy, "utf8"));
    for (const format of formats) expectNone((await parlance(["export", copy, "-T", format, "--no-redact"])).stdout);
  });
});

describe("the verdicts on a recording are those on every copy of it", () => {
  test("redacted, exported, and both again", async () => {
    using scratch = new Scratch();
    const path = write(scratch);
    const before = await found(path);
    expect(before).toMatchObject({ places: expect.arrayContaining([expect.objectContaining({ rule: "H-9" })]) });
    const [copy, again, exported] = ["copy", "again", "exported"].map((name) => scratch.at(`${name}.parlance.jsonl`));
    await parlance(["redact", path, "-o", copy ?? ""]);
    await parlance(["redact", copy ?? "", "--key", "note", "-o", again ?? ""]);
    await parlance(["export", path, "-T", "jsonl", "-o", exported ?? ""]);
    for (const each of [copy, again, exported]) expect(await found(each ?? "")).toEqual(before);
  });

  test("in every format that has verdicts", async () => {
    using scratch = new Scratch();
    const path = write(scratch);
    const made = async (format: string): Promise<readonly string[]> =>
      Promise.all(
        [["--no-redact"], []].map(async (flags) => (await parlance(["export", path, "-T", format, ...flags])).stdout),
      );
    const sarif = (await made("sarif")).map((each) =>
      JSON.parse(each).runs[0].results.map(({ ruleId, locations, properties }: Record<string, unknown>) => {
        return { ruleId, locations, properties };
      }),
    );
    expect(sarif[1]).toEqual(sarif[0]);
    const failed = /<testcase [^>]*name="(\S+)[^>]*>\n\s*<(failure|system-out)/g;
    const junit = (await made("junit")).map((each) => [...each.matchAll(failed)].map(([, rule, how]) => [rule, how]));
    expect(junit[1]).toEqual(junit[0]);
    const html = (await made("html")).map((each) =>
      [...each.matchAll(/id="(n\d+)"|>✖ ([^<]*)</g)].map(([, n, bad]) => n ?? bad),
    );
    expect(html[1]).toEqual(html[0]);
    const markdown = (await made("markdown")).map((each) =>
      [...each.matchAll(/^- \*\*(\S+)\*\*, (\w+), frame (\d+)/gm)].map(([place]) => place),
    );
    expect(markdown[1]).toEqual(markdown[0]);
    expect(markdown[0]?.length).toBeGreaterThan(3);
  });

  test("a header that is covered is no H-9, and a text that is covered no T-1", async () => {
    using scratch = new Scratch();
    const ok: readonly Entry[] = [
      ...recorded(
        ...opening("2025-11-25", { server: { tools: {} } }),
        `→ ${text({ id: 1, method: "tools/list" })}`,
        `← ${text({ id: 1, result: { tools: [{ ...tool, outputSchema: { type: "object", properties: { token: { enum: ["abcdefgh1"] } } } }] } })}`,
        `→ ${text({ id: 2, method: "tools/call", params: { name: "login" } })}`,
        `← ${text({ id: 2, result: { content: [{ type: "text", text: '{"token":"abcdefgh1"}' }], structuredContent: { token: "abcdefgh1" } } })}`,
      ),
    ];
    const path = scratch.write("run.parlance.jsonl", ok);
    const copy = scratch.at("copy.parlance.jsonl");
    await parlance(["redact", path, "-o", copy]);
    expect(readFileSync(copy, "utf8")).not.toContain("abcdefgh1");
    expect((await parlance(["check", copy, "--fail-on", "must,should,may"])).code).toBe(0);
    expect((await parlance(["export", path, "-T", "sarif"])).stdout).toContain('"results": []');
  });

  test("of some frames alone", async () => {
    using scratch = new Scratch();
    const path = write(scratch);
    const part = scratch.at("part.parlance.jsonl");
    await parlance(["export", path, "-T", "jsonl", "--filter", "n:6..9", "--no-redact", "-o", part]);
    const [after, before] = (await Promise.all([found(part), found(path)])) as readonly {
      places: JsonVerdict[];
    }[];
    expect(after?.places).toEqual(before?.places.filter(({ n }) => n >= 6 && n <= 9));
  });
});

test("check and replay, which are clients themselves, record no key in the clear", async () => {
  using scratch = new Scratch();
  const key = "q4r5s6t7-key-of-ada";
  const auth: Auth = ({ header: of }) =>
    of("authorization") === `Bearer ${key}` && of("x-api-key") === key ? { principal: "ada" } : undefined;
  await using http = await serveHttp(createServer({ name: "notes", version: "1" }), { port: 0, auth });
  const [one, two] = [scratch.at("one.parlance.jsonl"), scratch.at("two.parlance.jsonl")];
  const keys = ["--bearer-env", "KEY", "--header-env", "x-api-key=KEY"];
  const url = `${http.url}?access_token=${key}`;
  await parlance(["check", url, "--revision", "2025-11-25", ...keys, "--record", one], { KEY: key });
  await parlance(["run", "--once", url, ...keys, "--record", scratch.at("run.parlance.jsonl")], { KEY: key });
  await parlance(["replay", scratch.at("run.parlance.jsonl"), "--as", "client", "--record", two, url, ...keys], {
    KEY: key,
  });
  for (const path of [one, two]) {
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain(key);
    expect(text).toContain('"redact":["credentials in HTTP headers and URLs"]');
    expect(text).toContain('"authorization","█');
  }
});
