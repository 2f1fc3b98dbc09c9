import { execFile } from "node:child_process";
import { chmodSync, chownSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { serveHttp } from "@parlance/mcp/node";
import { type Entry, encodeEntry } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import type { HttpEntry } from "../../../packages/wire/src/recording/entry.js";
import { ask, proxied } from "../../cli/commands/proxy/proxied.js";
import { parlance } from "../../cli/run.js";
import { Scratch } from "../../cli/scratch.js";
import { shop } from "../../http/server/shop.js";
import { header, recorded } from "../../wire/recording/recorded.js";

/** Characters that move a cursor, reverse a text, or are invisible. */
const nasty = "\u007f\u0085\u009b31m\u061c\u200b\u200e\u202eevil\u2066\u2028\ufeff\u{e0041}'$(id)`\\";
const hidden = /[^\P{Cc}\n]|[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;

const params = { name: `x${nasty}`, arguments: { text: nasty } };
const session = recorded(
  `→ ${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}`,
  `← ${JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: nasty }] } })}`,
);

async function exported(
  format: string,
  entries: readonly Entry[],
  server: object = { cmd: "cat", args: [] },
): Promise<string> {
  using scratch = new Scratch();
  const path = scratch.at("run.parlance.jsonl");
  writeFileSync(path, [{ ...header, server }, ...entries].map(encodeEntry).join(""));
  return (await parlance(["export", path, "-T", format, "--no-redact"])).stdout;
}

describe("A12: an export holds nothing that a screen would obey or hide", () => {
  test.each(["curl", "test", "har", "otlp", "jsonl", "sarif"])("as %s", async (format) => {
    expect(await exported(format, session)).not.toMatch(hidden);
  });

  test.each(["markdown", "html"])("nor as %s, where what joins letters stays", async (format) => {
    expect(await exported(format, session)).not.toMatch(
      /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u,
    );
  });

  test("HAR and OTLP are read back as they were", async () => {
    const { log } = JSON.parse(await exported("har", session));
    expect(JSON.parse(log.entries[0].request.postData.text)).toMatchObject({ params });
    expect(JSON.parse(log.entries[0].response.content.text)).toMatchObject({ result: { content: [{ text: nasty }] } });
    const { resourceSpans } = JSON.parse(await exported("otlp", session));
    expect(resourceSpans[0].scopeSpans[0].spans[0].name).toBe(`tools/call ${params.name}`);
    const [, first] = (await exported("jsonl", session))
      .split("\n")
      .map((line) => (line === "" ? {} : JSON.parse(line)));
    expect(JSON.parse(first.raw)).toMatchObject({ params });
  });

  test("a test says and expects what crossed", async () => {
    const said: unknown[] = [];
    const code = (await exported("test", session)).replaceAll(/^import .*$/gm, "").replaceAll("await using", "const");
    const connection = { call: (...words: unknown[]) => said.push(words), notify: () => undefined };
    const expected = { toEqual: (result: unknown) => said.push(result) };
    // biome-ignore lint/nursery/noImpliedEval: what the export would run is what is tested
    const run = new Function("openConnection", "childChannel", "expect", "test", code) as (...given: unknown[]) => void;
    const bodies: (() => Promise<void>)[] = [];
    run(
      () => connection,
      () => undefined,
      () => expected,
      (_: string, body: () => Promise<void>) => bodies.push(body),
    );
    for (const body of bodies) await body();
    expect(said).toEqual([["tools/call", params], { content: [{ type: "text", text: nasty }] }]);
  });

  test("commands for a shell send the same bytes, whatever they are", async () => {
    const frames = [
      Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })),
      Buffer.from("\u001b]0;title\u0007 it's\r\u0000x".replace("\u0000", ""), "utf8"),
      Buffer.from([0x22, 0xff, 0x9b, 0x41, 0xe2, 0x80, 0xae, 0x27, 0x22]),
      Buffer.from("'\u0085'"),
      Buffer.from("plain"),
    ];
    const entries = frames.map((bytes, index): Entry => {
      const text = bytes.toString();
      const written = Buffer.from(text).equals(bytes) ? { raw: text } : { b64: bytes.toString("base64") };
      return { k: "f", n: index + 1, s: "1", t: index, d: "c2s", ch: "stdin", len: bytes.length, nl: "\n", ...written };
    });
    const script = await exported("curl", entries);
    expect(script).not.toMatch(hidden);
    const { stdout } = await promisify(execFile)("sh", ["-c", script], { encoding: "buffer" });
    expect(stdout).toEqual(Buffer.concat(frames.flatMap((frame) => [frame, Buffer.from("\n")])));
  });

  test("curl sends the same headers", async () => {
    const place = { s: "1", t: 1, x: 1 } as const;
    const headers = [["X-A", "a\u009b'b"]] as const;
    const head: HttpEntry = { k: "h", n: 1, ...place, ph: "req", method: "POST", url: "/mcp", headers };
    const script = await exported("curl", [head, { k: "h", n: 2, ...place, ph: "end" }], { url: "http://server/mcp" });
    expect(script).not.toMatch(hidden);
    const { stdout } = await promisify(execFile)("sh", ["-c", script.replace(/^curl/, "printf '%s\\n'")]);
    expect(stdout.split("\n")).toContain("X-A: a\u009b'b");
  });
});

describe("A12: a recording is for this user alone", () => {
  test.skipIf(process.platform === "win32")("also where an empty file of another mode was there", async () => {
    using scratch = new Scratch();
    const path = scratch.at("run.parlance.jsonl");
    writeFileSync(path, "");
    chmodSync(path, 0o666);
    const { code } = await parlance(["tap", "--record", path, "--", process.execPath, "-e", "0"]);
    expect({ code, mode: statSync(path).mode & 0o777 }).toEqual({ code: 0, mode: 0o600 });
    expect(readFileSync(path, "utf8")).toContain('"k":"end"');
  });

  // Only root can make a file of another user.
  test.skipIf(process.getuid?.() !== 0)("and no file of another user is taken", async () => {
    using scratch = new Scratch();
    const path = scratch.at("run.parlance.jsonl");
    writeFileSync(path, "");
    chmodSync(path, 0o666);
    chownSync(path, 65_534, 65_534);
    const { code } = await parlance(["tap", "--record", path, "--", process.execPath, "-e", "0"]);
    expect({ code, bytes: statSync(path).size }).toEqual({ code: 0, bytes: 0 });
    const beside = scratch.at("run-2.parlance.jsonl");
    expect(existsSync(beside) && statSync(beside).mode & 0o777).toBe(0o600);
  });
});

const secret = "s3cret-unique";
const credentials = {
  Authorization: "Bearer abcdefghijk",
  "proxy-authorization": "Basic abc",
  Cookie: "a=b; session=xyz",
  "X-API-Key": "0123456789",
} as const;

function headsOf(entries: readonly Entry[]): readonly HttpEntry[] {
  return entries.filter((entry) => entry.k === "h");
}

describe("A12: credentials in heads of HTTP", () => {
  const server =
    (seen: unknown[]): Parameters<typeof proxied>[0] =>
    (request, response) => {
      seen.push(request.headers["x-api-key"], request.url);
      response.setHeader("Set-Cookie", ["sid=12345", "theme=dark"]);
      response.setHeader("Location", "/next?access_token=abcdef");
      response.end('{"token":"in a body"}');
    };
  const options = { method: "POST", headers: { ...credentials, "X-Other": "stays", "Mcp-Session-Id": "s-1" } };

  test("are covered as they are recorded, by as many bytes, and go on as they are", async () => {
    const seen: unknown[] = [];
    await using stand = await proxied(server(seen));
    const answer = await ask(`${stand.near}/mcp?api_key=hunter22&page=2`, options, [Buffer.from('{"password":"p"}')]);
    expect(answer.headers["set-cookie"]).toEqual(["sid=12345", "theme=dark"]);
    expect(seen).toEqual(["0123456789", "/mcp?api_key=hunter22&page=2"]);
    const entries = await stand.recorded();
    const [asked, answered] = headsOf(entries);
    const recordedHeaders = new Map(asked?.headers?.map(([name, value]) => [name, value]));
    for (const [name, value] of Object.entries(credentials)) {
      expect(recordedHeaders.get(name)).toMatch(/^[█*]+$/);
      expect(Buffer.byteLength(recordedHeaders.get(name) ?? "")).toBe(value.length);
    }
    expect(recordedHeaders.get("X-Other")).toBe("stays");
    expect(recordedHeaders.get("Mcp-Session-Id")).toBe("s-1");
    expect(asked?.url).toBe("/mcp?api_key=██**&page=2");
    const said = answered?.headers?.map(([name, value]) => `${name}: ${value}`) ?? [];
    expect(said.join("\n")).toMatch(/^Set-Cookie: ███\nSet-Cookie: ███\*\nLocation: \/next\?access_token=██$/m);
    expect(entries.flatMap((entry) => (entry.k === "f" ? [entry.raw] : []))).toEqual([
      '{"password":"p"}',
      '{"token":"in a body"}',
    ]);
    expect(entries.find((entry) => entry.k === "hdr")).toMatchObject({
      redact: ["credentials in HTTP headers and URLs"],
    });
  });

  test("are kept where that is wanted", async () => {
    await using stand = await proxied(server([]), ["--keep-secrets"]);
    await ask(`${stand.near}/mcp?api_key=hunter22`, options);
    const entries = await stand.recorded();
    const [asked] = headsOf(entries);
    expect(asked?.url).toBe("/mcp?api_key=hunter22");
    expect(asked?.headers).toEqual(expect.arrayContaining(Object.entries(credentials)));
    expect(entries.find((entry) => entry.k === "hdr")).not.toHaveProperty("redact");
  });

  test("are covered where the command itself is the client", async () => {
    using scratch = new Scratch();
    await using http = await serveHttp(shop(), { auth: () => ({ principal: "a" }) });
    const record = (name: string, ...flags: string[]): Promise<unknown> =>
      parlance(["run", "--once", "--header", `X-Api-Key: ${secret}`, "--record", scratch.at(name), ...flags, http.url]);
    await record("covered.jsonl");
    const text = readFileSync(scratch.at("covered.jsonl"), "utf8");
    expect(text).toMatch(/x-api-key/i);
    expect(text).not.toContain("s3cret");
    await record("kept.jsonl", "--keep-secrets");
    expect(readFileSync(scratch.at("kept.jsonl"), "utf8")).toContain("s3cret");
  });
});
