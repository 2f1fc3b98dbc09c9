import { type Entry, type FrameEntry, redact } from "@parlance/wire";
import { expect, test } from "vitest";
import type { HttpEntry } from "../../../packages/wire/src/recording/entry.js";
import { header, type Said, stdioFrame } from "../recording/recorded.js";

/** The text of a line of stdio once its secrets are covered. */
function covered(said: Said, options: Parameters<typeof redact>[1] = {}): string {
  const before = stdioFrame(1, said);
  const [after] = redact([before], options).entries as readonly FrameEntry[];
  const bytes = new TextEncoder().encode(after?.raw);
  expect(bytes.length).toBe(before.len);
  return after?.raw ?? "";
}

const call = (args: string): Said => `→ {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":${args}}}`;

test("three bytes become one block, what is left over becomes stars, and nothing moves", () => {
  expect(covered(call('{"password":"é12345678","x":1}'))).toContain('"password":"███*","x":1');
  expect(covered(call('{"api_key":"a\\n","x":1}'))).toContain('"api_key":"█","x":1');
});

test("a number stays one, of the same length", () => {
  expect(covered(call('{"token":[-12.5e3,true,null,"ab"]}'))).toContain('"token":[-11.1e1,true,null,"**"]');
});

test("what was found under a secret name is covered wherever else it stands; the words of a schema stay", () => {
  const said = `← {"jsonrpc":"2.0","id":1,"result":{"secret":"long enough","text":"it is long enough","tools":[{"inputSchema":{"default":"long enough","properties":{"token":{"type":"string"}}}}]}}`;
  expect(covered(said as Said)).toContain(
    '"secret":"███**","text":"it is ███**","tools":[{"inputSchema":{"default":"███**","properties":{"token":{"type":"string"}}}}]',
  );
});

test("a regular expression cuts no escape", () => {
  expect(covered(call('{"x":"1\\u00e92"}'), { patterns: [/0e9/] })).toContain('"x":"1██2"');
});

test("a place is covered in every message of a batch", () => {
  const said: Said = '← [{"id":1,"result":{"a":["x","y"]}},{"id":2,"result":{"a":["zzz"]}}]';
  expect(covered(said, { pointers: ["/result/a/*"] })).toBe(
    '← [{"id":1,"result":{"a":["*","*"]}},{"id":2,"result":{"a":["█"]}}]'.slice(2),
  );
});

test("what is no message is searched as a text, and bytes that are not UTF-8 stay what they are", () => {
  expect(covered("← listening, token=abcdef, ok")).toBe("listening, token=██, ok");
  const b64 = Buffer.from([0xff, ...Buffer.from("password=abc "), 0xfe]).toString("base64");
  const broken: Entry = { k: "f", n: 1, s: "1", t: 1, d: "s2c", ch: "stdout", len: 15, nl: "\n", b64 };
  const [after] = redact([broken]).entries as readonly FrameEntry[];
  expect(Buffer.from(after?.b64 ?? "", "base64")).toEqual(
    Buffer.from([0xff, ...Buffer.from("password="), 0xe2, 0x96, 0x88, 0x20, 0xfe]),
  );
});

test("headers by name, parameters of tools in headers, and what a URL holds", () => {
  const entry: Entry = {
    k: "h",
    n: 1,
    t: 0,
    s: "1",
    x: 1,
    ph: "req",
    url: "https://a/mcp?api_key=abcdef&q=1",
    headers: [
      ["Authorization", "Bearer x"],
      ["MCP-Param-Api-Key", "abc"],
      ["Accept", "text/event-stream"],
    ],
  };
  expect(redact([entry]).entries).toEqual([
    {
      ...entry,
      v: [],
      url: "https://a/mcp?api_key=██&q=1",
      headers: [
        ["Authorization", "██**"],
        ["MCP-Param-Api-Key", "█"],
        ["Accept", "text/event-stream"],
      ],
    },
  ]);
});

const heads = (headers: NonNullable<HttpEntry["headers"]>, url = "/mcp"): Entry => ({
  k: "h",
  n: 1,
  t: 0,
  s: "1",
  x: 1,
  ph: "req",
  method: "POST",
  url,
  headers,
});
const pem =
  "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtL\nAoGCCqGSM49awEHoUQDQgAEAbCdEf01\n-----END EC PRIVATE KEY-----\n";
const withArguments = (...args: readonly string[]): Entry => ({ ...header, server: { cmd: "node", args } });
const stderr = (n: number, raw: string): Entry => ({ k: "e", n, s: "1", t: n, raw });

test.each<[name: string, place: readonly Entry[], secret: string]>([
  ["an argument", [withArguments("server.js", "--api-key", "planted-1-argument")], "planted-1-argument"],
  ["an argument that is an assignment", [withArguments("BRAVE_API_KEY=planted1b")], "planted1b"],
  ["a header", [heads([["X-Api-Key", "planted-2-header"]])], "planted-2-header"],
  ["a header after its scheme", [heads([["Authorization", "Token planted-3-scheme"]])], "planted-3-scheme"],
  ["a password of Basic", [heads([["Authorization", `Basic ${btoa("ada:planted-4-basic")}`]])], "planted-4-basic"],
  ["a cookie", [heads([["Cookie", "theme=dark; sid=planted-5-cookie"]])], "planted-5-cookie"],
  ["a cookie that is set", [heads([["Set-Cookie", "sid=planted-6-set; Path=/"]])], "planted-6-set"],
  ["a query of a URL", [heads([], "/mcp?page=2&access_token=planted%207%2Fquery")], "planted 7/query"],
  ["a password of a URL", [withArguments("postgres://ada:planted-8-url@db/x")], "planted-8-url"],
  ["a member of a message", [stdioFrame(1, call('{"githubToken":"planted-9-member"}'))], "planted-9-member"],
  [
    "a member of JSON in a text",
    [stdioFrame(1, call('{"x":"{\\"secret\\":\\"planted-10-text\\"}"}'))],
    "planted-10-text",
  ],
  ["stderr", [stderr(1, "starting with GITHUB_TOKEN=planted-11-stderr\n")], "planted-11-stderr"],
  ["a member that is escaped", [stdioFrame(1, call('{"password":"planted\\u002d12"}'))], "planted-12"],
  ["a key in PEM", [stderr(1, pem)], "MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtL"],
  [
    "a key in PEM that comes in pieces",
    [stderr(1, pem.slice(0, 45)), stderr(2, pem.slice(45, 80)), stderr(3, pem.slice(80))],
    "AoGCCqGSM49awEHoUQDQgAEAbCdEf01",
  ],
  [
    "a key in PEM in a message",
    [stdioFrame(1, call(JSON.stringify({ key: pem })))],
    "MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtL",
  ],
  [
    "lines of a key on stdout",
    pem.split("\n").map((line, at) => stdioFrame(at + 1, `← ${line}`)),
    "AoGCCqGSM49awEHoUQDQgAEAbCdEf01",
  ],
])("a secret that was found as %s is covered everywhere", (_name, place, secret) => {
  const elsewhere: readonly Entry[] = [
    stdioFrame(
      11,
      `← {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":${JSON.stringify(`it is ${secret}!`)}}]}}`,
    ),
    stdioFrame(12, `← {"jsonrpc":"2.0","id":1,"error":{"code":1,"message":${JSON.stringify(`no: ${secret}`)}}}`),
    stdioFrame(13, `← ${secret}`),
    stderr(14, `the key is ${secret}\n`),
    { k: "a", n: 12, text: `look: ${secret}` },
    { k: "l", n: 15, t: 15, s: "1", ev: "exit", why: `could not start with ${secret}` },
    heads([["X-Other", secret]], `/mcp?q=${encodeURIComponent(secret)}`),
  ];
  const { entries } = redact([...place, ...elsewhere]);
  const text = JSON.stringify(entries);
  expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
  expect(text).not.toContain(encodeURIComponent(secret));
});

test("a word after a secret name in a text is covered there, and nowhere else", () => {
  const { entries } = redact([stderr(1, "token: required\n"), stderr(2, "it is required\n")]);
  expect(entries).toEqual([stderr(1, "token: ██**\n"), stderr(2, "it is required\n")]);
});

test("what the protocol calls a token is none", () => {
  const said: Said =
    '→ {"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":"abcdefgh-1"},"pageToken":"abc"}}';
  expect(covered(said)).toBe(said.slice(2));
});

test("no recording makes its redaction take for ever", () => {
  const texts = [
    " ".repeat(1e6),
    "eyJ-".repeat(1e5),
    `token${" ".repeat(1e6)}=`,
    "token=abc ".repeat(1e5),
    "a://".repeat(2e5),
    "-----BEGIN PRIVATE KEY-----".repeat(4e4),
    "-".repeat(1e6),
  ];
  const entries = texts.map((raw, at): Entry => ({ k: "e", n: at + 1, s: "1", t: at, raw }));
  expect(redact(entries).covered).toBeGreaterThanOrEqual(1e5); // The time limit of the test is what fails.
});
