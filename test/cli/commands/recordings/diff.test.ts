import { expect, test } from "vitest";
import { opening, recorded, type Said } from "../../../wire/recording/recorded.js";
import { parlance } from "../../run.js";
import { Scratch } from "../../scratch.js";

const call = (id: number, query: string, result: string): readonly Said[] => [
  `→ {"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"search","arguments":{"query":"${query}"}}}`,
  `← {"jsonrpc":"2.0","id":${id},"result":${result}}`,
];

const tools = (limit: string): readonly Said[] => [
  '→ {"jsonrpc":"2.0","id":90,"method":"tools/list"}',
  `← {"jsonrpc":"2.0","id":90,"result":{"tools":[{"name":"search","inputSchema":{"type":"object","properties":{"limit":{${limit}}}}}]}}`,
];

const ok = (n: string): string => `{"content":[],"structuredContent":{"n":${n}}}`;

test("two recordings of the same conversation do not differ, whatever its ids and its order of two calls", async () => {
  using scratch = new Scratch();
  const a = scratch.write(
    "a.jsonl",
    recorded(...opening("2025-11-25"), ...call(1, "x", ok("1")), ...call(2, "y", ok("2"))),
  );
  const b = scratch.write(
    "b.jsonl",
    recorded(...opening("2025-11-25"), ...call(7, "y", ok("2")), ...call(8, "x", ok("1"))),
  );
  expect(await parlance(["diff", a, b])).toEqual({
    code: 0,
    stdout: "✔ no difference: 4 messages alike\n",
    stderr: "",
  });
});

test("of two long values that differ, the part with the difference is shown", async () => {
  using scratch = new Scratch();
  const said = (end: string): string =>
    `{"content":[{"type":"text","text":"${"the same words ".repeat(10)}and ${end}"}]}`;
  const [a, b] = ["one", "two"].map((end) =>
    scratch.write(`${end}.jsonl`, recorded(...opening("2025-11-25"), ...call(1, "x", said(end)))),
  );
  const { stdout } = await parlance(["diff", a ?? "", b ?? ""]);
  expect(stdout).toContain('/result/content/0/text  …rds and one" → …rds and two"\n');
});

test("differences are listed by section and JSON pointer", async () => {
  using scratch = new Scratch();
  const before = [...opening("2025-11-25", { server: { tools: {} } }), ...tools('"type":"integer"')];
  const after = [
    ...opening("2025-11-25", { server: { tools: { listChanged: true } } }),
    ...tools('"type":"integer","maximum":50'),
  ];
  const a = scratch.write(
    "a.jsonl",
    recorded(
      ...before,
      ...call(1, "x", ok("12345678901234567890")),
      ...call(2, "y", ok("2")),
      ...call(3, "z", ok("3")),
    ),
  );
  const b = scratch.write(
    "b.jsonl",
    recorded(...after, ...call(1, "x", ok("12345678901234567891")), ...call(2, "y", '{"content":[],"isError":true}')),
  );
  const { code, stdout } = await parlance(["diff", a, b]);
  expect(stdout).toBe(`contract            /server/capabilities/tools/listChanged  + true
tools               ~ search
                        /inputSchema/properties/limit/maximum  + 50
                    (0 unchanged, 1 changed, 0 added, 0 removed)
conversation        ~ → tools/call search {"query":"x"}
                        /result/structuredContent/n  12345678901234567890 → 12345678901234567891
                    ✖ → tools/call search {"query":"y"}  ok → isError
                        /result/structuredContent  - {"n":2}
                        /result/isError  + true
                    - → tools/call search {"query":"z"}  only in the first
3 messages alike
`);
  expect(code).toBe(2);
  const ignored = await parlance(["diff", "--json", "--ignore", "/result/structuredContent/*", a, b]);
  const { equal, items } = JSON.parse(ignored.stdout) as { equal: boolean; items: readonly { is: string }[] };
  expect(equal).toBe(false);
  expect(items.map(({ is }) => is)).toEqual(["changed", "only left"]);
});

test("an outcome that is good in the second recording alone has another mark than one that became bad", async () => {
  using scratch = new Scratch();
  const failing = '{"content":[],"isError":true}';
  const token = '{"progressToken":"p"}';
  const request: Said = `→ {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"count","arguments":{},"_meta":${token}}}`;
  const progress = (value: number): Said =>
    `← {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":${value},"total":2}}`;
  const counting = (...values: number[]): readonly Said[] => [
    request,
    ...values.map(progress),
    '← {"jsonrpc":"2.0","id":3,"result":{"content":[]}}',
  ];
  const start = [...opening("2025-11-25", { server: { tools: {} } }), ...tools('"type":"integer"')];
  const bad = scratch.write("bad.jsonl", recorded(...start, ...call(2, "y", failing), ...counting(2, 1)));
  const good = scratch.write("good.jsonl", recorded(...start, ...call(2, "y", ok("2")), ...counting(1, 2)));
  const mended = await parlance(["diff", bad, good]);
  expect(mended.stdout).toContain('✔ → tools/call search {"query":"y"}  isError → ok\n');
  expect(mended.stdout).toContain('✔ ← notifications/progress {"progress":1,"total":2}  P-3 → no violation\n');
  const broken = await parlance(["diff", good, bad]);
  expect(broken.stdout).toContain('✖ → tools/call search {"query":"y"}  ok → isError\n');
  expect(broken.stdout).toContain('✖ ← notifications/progress {"progress":1,"total":2}  no violation → P-3\n');
});

test("an error that breaks a rule no more is better than before", async () => {
  using scratch = new Scratch();
  const request: Said = '→ {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"count","arguments":{}}}';
  const start = [...opening("2025-11-25", { server: { tools: {} } }), ...tools('"type":"integer"')];
  const refusing = (code: string): Said => `← {"jsonrpc":"2.0","id":3,"error":{"code":${code},"message":"no"}}`;
  const bad = scratch.write("bad.jsonl", recorded(...start, request, refusing('"E_NONE"')));
  const sound = scratch.write("sound.jsonl", recorded(...start, request, refusing("-32602")));
  expect((await parlance(["diff", bad, sound])).stdout).toContain(
    "✔ → tools/call count {}  error E_NONE R-6 → error -32602\n",
  );
  expect((await parlance(["diff", sound, bad])).stdout).toContain(
    "✖ → tools/call count {}  error -32602 → error E_NONE R-6\n",
  );
});

test("a damaged recording is not compared", async () => {
  using scratch = new Scratch();
  const a = scratch.write("a.jsonl", recorded(...call(1, "x", ok("1"))));
  const broken = scratch.write("b.jsonl", recorded(...call(1, "x", ok("1"))));
  const { appendFileSync } = await import("node:fs");
  appendFileSync(broken, "nonsense\n");
  const { code, stderr } = await parlance(["diff", a, broken]);
  expect(stderr).toContain("is damaged in line 4");
  expect(code).toBe(6);
});
