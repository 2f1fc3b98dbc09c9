import { fileURLToPath } from "node:url";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, test } from "vitest";
import { jsonLines, misbehaving, parlance, toolsServer } from "../../run.js";

const contacts = [
  "--",
  process.execPath,
  fileURLToPath(new URL("../../../../examples/contacts/server.js", import.meta.url)),
];

test.concurrent("a list is a table of names, descriptions and arguments", async () => {
  const { code, stdout, stderr } = await parlance(["list", ...toolsServer]);
  expect(stdout).toMatch(/^tools-server 1\.2\.3 in 2026-07-28\n\n10 tools\n {2}hello {8}Say hello\n/);
  expect(stdout).toContain("\n  add          a: number, b: number\n");
  expect(stdout).toContain("\n  echo         number?: number, integer?: integer|null, truth?: boolean\n");
  expect(stdout).not.toContain("resources");
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test.concurrent("only the lists that are named are asked for, in the order in which they are named", async () => {
  const { code, stdout } = await parlance(["list", "prompts", "templates", ...contacts], { COLUMNS: "80" });
  expect(stdout).toBe(`contacts 0.1.0 in 2026-07-28

1 prompt
  write_to  A message to one of the contacts
            name, about

1 template
  contacts:/{id}  A contact
                  application/json
`);
  expect(code).toBe(0);
});

test.concurrent("what is asked for and not offered is said", async () => {
  const { code, stdout } = await parlance(["list", "prompts", ...toolsServer]);
  expect(stdout).toContain("\nno prompts: the server does not offer any\n");
  expect(code).toBe(0);
});

test.concurrent("a revision can be insisted on", async () => {
  const { stdout } = await parlance(["list", "--revision", "2024-11-05", "tools", ...toolsServer]);
  expect(stdout).toMatch(/^tools-server 1\.2\.3 in 2024-11-05\n/);
});

test.concurrent("--json has everything as the server sent it", async () => {
  const { stdout } = await parlance(["list", "--json", "--revision", "2025-11-25", ...toolsServer]);
  const [{ server, revision, tools, ...rest } = {}] = jsonLines(stdout);
  expect({ server, revision }).toEqual({
    server: { name: "tools-server", version: "1.2.3" },
    revision: "2025-11-25",
  });
  expect((tools as readonly unknown[])[0]).toMatchObject({ name: "hello", annotations: { readOnlyHint: true } });
  expect(rest).toEqual({});
});

test.concurrent("arguments have the types that a person would write", async () => {
  const server = createServer({ name: "types", version: "1" });
  const properties = {
    list: { type: "array", items: { type: "string" } },
    either: { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
    level: { enum: ["low", "high"] },
    fixed: { const: 3 },
    any: {},
    needed: { type: "object" },
  };
  server.tool("t", { inputSchema: { type: "object", properties, required: ["needed"] } }, () => "");
  await using http = await serveHttp(server);
  const { code, stdout } = await parlance(["list", http.url, "tools"], { COLUMNS: "160" });
  expect(stdout).toContain(
    'needed: object, list?: string[], either?: (string|number)[], level?: "low"|"high", fixed?: 3, any?: any\n',
  );
  expect(code).toBe(0);
});

test.concurrent("a tool that changes nothing, or may delete, is marked below its arguments", async () => {
  const server = createServer({ name: "marks", version: "1" });
  const inputSchema = { type: "object", properties: { id: { type: "integer" } } };
  server.tool("drop", { description: "Drop it", inputSchema, annotations: { destructiveHint: true } }, () => "");
  server.tool("look", { annotations: { readOnlyHint: true, destructiveHint: true } }, () => "");
  server.tool("add", { annotations: { destructiveHint: false } }, () => "");
  await using http = await serveHttp(server);
  const { stdout } = await parlance(["list", http.url, "tools"]);
  expect(stdout).toContain("  drop      Drop it\n            id?: integer\n            destructive\n");
  expect(stdout).toContain("  look      read-only\n  add\n");
});

test.concurrent("why a list has stopped is not cut, and has its remedy", async () => {
  const program = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const serverInfo = { name: "endless", version: "1" };
    const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
    if (method === "initialize") console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (method === "tools/list") process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: { tools: [] } }));
  })`;
  const args = ["list", "--revision", "2025-11-25", "--timeout", "2s", "--", process.execPath, "-e", program];
  const { code, stdout } = await parlance(args, { COLUMNS: "60" });
  expect(stdout).toContain(`0 tools
  ✖ tools/list (id 2): no response or notification for 2000
    ms; the peer has sent 46 bytes of a message, without the
    newline that ends it:
    "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":2,\\"result\\":{\\"tools\\":[]…
    → write a line feed after each message, as console.log
    does: parlance explain S-1
`);
  expect(code).toBe(4);
});

test.concurrent("lists that are refused, do not end or hold anything are shown as far as they go", async () => {
  const { code, stdout } = await parlance(["list", ...misbehaving("lists")]);
  expect(stdout).toContain("3 tools\n  (no name)\n");
  expect(stdout).toMatch(/^ {2}\\u\{1b\}\[31mred\\u\{a\}line {2}one$/m);
  expect(stdout).toContain('self?: any, id?: "\\u001b[2J"|1');
  expect(stdout).toContain("0 resources\n  ✖ the server repeats a cursor\n");
  expect(stdout).toContain("0 prompts\n  ✖ the server answered with error -32603 (Internal error): no database\n");
  expect(stdout).not.toContain("template");
  expect(code).toBe(5);
});

test.concurrent("a server that breaks rules besides is listed, and is not clean", async () => {
  const { code, stdout, stderr } = await parlance(["list", ...misbehaving("noisy")]);
  expect(stdout).toContain("0 tools\n");
  expect(stderr).toMatch(
    /^the server also broke the protocol, \d times?; parlance run --call or a recording shows where:\n {2}✖ S-2 /m,
  );
  expect(code).toBe(2);
});
