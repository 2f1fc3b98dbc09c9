import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { expectGone, fixture, jsonLines, misbehaving, parlance, toolsServer } from "../../run.js";
import { Scratch } from "../../scratch.js";

test.concurrent("a call prints structured output on stdout, and what it took on stderr", async () => {
  const { code, stdout, stderr } = await parlance(["call", "add", "a=2", "b:=3", ...toolsServer]);
  expect(stdout).toBe('{\n  "sum": 5\n}\n');
  expect(stderr).toMatch(/^\d+(\.\d+)? m?s · \d+ B · ok\n$/);
  expect(code).toBe(0);
});

test.concurrent("the command may also stand in front, in one word", async () => {
  const { code, stdout } = await parlance(["call", `"${process.execPath}" '${fixture("tools-server.js")}'`, "hello"]);
  expect(stdout).toBe("hello\nthere\n");
  expect(code).toBe(0);
});

test.concurrent("arguments are converted to the types of the schema, or stay text", async () => {
  const written = ["number=1.5", "integer=7", "truth=true", "other=7", "a=b=c", 'json:={"x":[1]}', "__proto__=1"];
  const { stdout } = await parlance(["call", "echo", ...written, ...toolsServer]);
  expect(stdout).toBe(
    '{"number":1.5,"integer":7,"truth":true,"other":"7","a":"b=c","json":{"x":[1]},"__proto__":"1"}\n',
  );
});

test.concurrent("numbers that a double would change are sent as they are written", async () => {
  using folder = new Scratch();
  const path = folder.at("run.parlance.jsonl");
  const call =
    "echo number=12345678901234567890 integer=9007199254740993 json:='[1.0,-9007199254740993,1e400]' other=1.0";
  expect(await parlance(["run", "--once", "--record", path, "--call", call, ...toolsServer])).toMatchObject({
    code: 0,
  });
  expect(readFileSync(path, "utf8").replaceAll("\\", "")).toContain(
    '{"number":12345678901234567890,"integer":9007199254740993,"json":[1.0,-9007199254740993,1e400],"other":"1.0"}',
  );
});

test.concurrent("text that does not look like its type stays a string", async () => {
  const written = ["number=0x10", "integer=1.5", "truth=yes"];
  const { stdout } = await parlance(["call", "--json", "echo", ...written, ...toolsServer]);
  const [result] = jsonLines(stdout);
  expect(JSON.stringify(result)).toContain('/number: expected number, got \\"0x10\\"');
  expect(JSON.stringify(result)).toContain('/integer: expected integer or null, got \\"1.5\\"');
  expect(JSON.stringify(result)).toContain('/truth: expected boolean, got \\"yes\\"');
});

test.concurrent("--json prints the whole result", async () => {
  const { stdout } = await parlance(["call", "--json", "--revision", "2025-11-25", "hello", ...toolsServer]);
  expect(stdout).toBe('{"content":[{"type":"text","text":"hello\\nthere"}]}\n');
});

test.concurrent("a tool that fails gives 5", async () => {
  const { code, stdout, stderr } = await parlance(["call", "fail", ...toolsServer]);
  expect(stdout).toBe("the disk is full\n");
  expect(stderr).toMatch(/· isError\n$/);
  expect(code).toBe(5);
});

test.concurrent("an error instead of a result gives 5, with the last words of the server", async () => {
  const { code, stdout, stderr } = await parlance(["call", "crash", ...toolsServer]);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^✖ the server answered with error -32603: Internal error\n {2}│ its last lines on stderr:\n/);
  expect(stderr).toContain("a secret");
  expect(code).toBe(5);
});

test.concurrent.each([
  ["server.tsx", "const port: number = 1;", "does not run TypeScript: npx tsx in place of node"],
  ["server.cjs", 'import "node:fs";', "npm pkg set type=module"],
])("for a server that Node cannot read, such as %s, the remedy is how to start it", async (name, text, remedy) => {
  using folder = new Scratch();
  writeFileSync(folder.at("package.json"), '{ "type": "module" }');
  writeFileSync(folder.at(name), text);
  const { code, stderr } = await parlance(["call", "hello", "--", process.execPath, folder.at(name)]);
  expect(stderr).toContain("exited with code 1; its last lines on stderr:");
  expect(stderr).toContain(remedy);
  expect(code).toBe(3);
});

test.concurrent("an unknown tool is a wrong command line, and names the nearest", async () => {
  const { code, stderr } = await parlance(["call", "hallo", ...toolsServer]);
  expect(stderr).toContain("✖ the server has no tool hallo: it offers hello, add,");
  expect(stderr).toContain("→ did you mean hello?");
  expect(code).toBe(1);
});

test.concurrent("a call that fails names the arguments that the tool does not have", async () => {
  const { code, stderr } = await parlance(["call", "add", "aa:=1", "b:=2", ...toolsServer]);
  expect(stderr).toContain("! the tool has no argument aa: did you mean a?\n");
  expect(code).toBe(5);
});

test.concurrent("so does one that succeeds, because the tool ignores them", async () => {
  const { code, stdout, stderr } = await parlance(["call", "add", "a:=1", "b:=2", "carry:=1", ...toolsServer]);
  expect(stdout).toContain("3");
  expect(stderr).toContain("! the tool has no argument carry: it has a, b\n");
  expect(code).toBe(0);
});

test.concurrent("an image is described, and text cannot move the cursor", async () => {
  expect((await parlance(["call", "picture", ...toolsServer])).stdout).toBe("[image image/png, 6 B]\n");
  expect((await parlance(["call", "escape", ...toolsServer])).stdout).toBe(
    "\\u{1b}[31mred\\u{1b}[0m \\u{202e}gnp.exe\n",
  );
});

test.concurrent("JSON for programs has no character that a terminal would obey", async () => {
  const { stdout } = await parlance(["call", "--json", "escape", ...toolsServer]);
  expect(stdout).toContain("\\u001b[31mred\\u001b[0m \\u202egnp.exe");
});

test.concurrent("a call without an answer says what has arrived instead", async () => {
  const args = ["call", "wait", "--revision", "2025-11-25", "--timeout", "5s", ...misbehaving("hangs")];
  const { code, stdout, stderr } = await parlance(args);
  expect(stdout).toBe("");
  expect(stderr).toContain('no response or notification for 5000 ms; before that, this side received "still thinking"');
  expect(stderr).toMatch(/client → req +3 +tools\/call wait +\d+ B\n.*server ← noise +"still thinking"/);
  expect(stderr, "waiting longer is of no use").not.toContain("--timeout");
  expect(code).toBe(4);
});

test.concurrent("after a call, no server process is left", async () => {
  expectGone((await parlance(["call", "pid", ...toolsServer])).stdout);
});

test.concurrent("a started command gets the variables of the shell, and those that it is given", async () => {
  const asked = ["call", "environment", ...toolsServer];
  expect((await parlance(asked, { PARLANCE_TEST: "of the shell" })).stdout).toBe("of the shell\n");
  expect((await parlance(asked)).stdout).toBe("undefined\n");
  expect((await parlance(["call", "--env", "PARLANCE_TEST=given", ...asked.slice(1)])).stdout).toBe("given\n");
  expect(
    (await parlance(["call", "--env", "PARLANCE_TEST", ...asked.slice(1)], { PARLANCE_TEST: "passed" })).stdout,
  ).toBe("passed\n");
});
