import { type Entry, type FrameEntry, redact } from "@parlance/mcp/wire";
import { expect, test } from "vitest";
import { type Said, stdioFrame } from "./recorded.js";

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

test("what was found under a secret name is covered wherever else it stands, but not in a schema", () => {
  const said = `← {"jsonrpc":"2.0","id":1,"result":{"secret":"long enough","text":"it is long enough","tools":[{"inputSchema":{"default":"long enough"}}]}}`;
  expect(covered(said as Said)).toContain(
    '"secret":"███**","text":"it is ███**","tools":[{"inputSchema":{"default":"long enough"}}]',
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
    url: "https://a/mcp?access_token=abcdef&q=1",
    headers: [
      ["Authorization", "Bearer x"],
      ["MCP-Param-Api-Key", "abc"],
      ["Accept", "text/event-stream"],
    ],
  };
  expect(redact([entry]).entries).toEqual([
    {
      ...entry,
      url: "https://a/mcp?access_token=██&q=1",
      headers: [
        ["Authorization", "██**"],
        ["MCP-Param-Api-Key", "█"],
        ["Accept", "text/event-stream"],
      ],
    },
  ]);
});

test("whoever writes a recording cannot make its redaction take for ever", () => {
  const texts = [
    " ".repeat(1e6),
    "eyJ-".repeat(1e5),
    `token${" ".repeat(1e6)}=`,
    "token=abc ".repeat(1e5),
    "a://".repeat(2e5),
  ];
  const entries = texts.map((raw, at): Entry => ({ k: "e", n: at + 1, s: "1", t: at, raw }));
  expect(redact(entries).covered).toBe(1e5); // The time limit of the test is what fails.
});
