import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../examples/service/", import.meta.url));
const run = promisify(execFile);

/** The output of the client, without its first line. The promise rejects when it exits with any code but 0. */
async function transcript(...flags: string[]): Promise<{ first: string; rest: string; stderr: string }> {
  const { stdout, stderr } = await run(process.execPath, ["client.js", ...flags], { cwd: folder });
  const end = stdout.indexOf("\n");
  return { first: stdout.slice(0, end), rest: stdout.slice(end), stderr };
}

async function files(): Promise<{ name: string; text: string }[]> {
  const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  return Promise.all(names.map(async ({ name }) => ({ name, text: await readFile(`${folder}${name}`, "utf8") })));
}

describe("the example service", () => {
  test.each(["content-length", "websocket", "http"])("has the same conversation by lines and by %s", async (way) => {
    const [plain, other] = await Promise.all([transcript(), transcript(`--${way}`)]);
    expect(plain.first).toBe("A service whose messages come by lines");
    expect(other.first).toBe(`A service whose messages come by ${way}`);
    expect(other.rest).toBe(plain.rest);
    expect(plain.stderr + other.stderr).toBe("");
  });

  test("gives the answers of the specification's examples", async () => {
    const { rest } = await transcript();
    expect(scene(rest, "Params by position")).toEqual([
      '--> {"jsonrpc":"2.0","id":1,"method":"subtract","params":[42,23]}',
      '<-- {"jsonrpc":"2.0","id":1,"result":19}',
      "  = 19",
    ]);
    expect(scene(rest, "Params by name")).toEqual([
      '--> {"jsonrpc":"2.0","id":2,"method":"subtract","params":{"subtrahend":23,"minuend":42}}',
      '<-- {"jsonrpc":"2.0","id":2,"result":19}',
      "  = 19",
    ]);
    expect(scene(rest, "A call of something unknown")).toContain("  = RpcError -32601: Method not found");
    expect(scene(rest, "A batch").at(-1)).toBe(
      '  = [7,19,{"code":-32601,"message":"Method not found","data":{"method":"foo.get"}},["hello",5]]',
    );
  });

  test("answers no notification, a batch in one array, and nothing that is cancelled", async () => {
    const { rest } = await transcript();
    const directions = (title: string): string[] => scene(rest, title).map((line) => line.slice(0, 3));
    expect(directions("A notification, which gets no response")).toEqual(["-->", "  ="]);
    expect(directions("A notification with an unknown method, which gets no response either")).toEqual(["-->", "  ="]);
    expect(directions("A batch")).toEqual(["-->", "<--", "  ="]);
    expect(directions("A call that is cancelled")).toEqual(["-->", "-->", "  ="]);
    expect(directions("The same with less to do")).toEqual(["-->", "<--", "  ="]);
  });

  test("prints what its README says", async () => {
    const { rest } = await transcript();
    const readme = await readFile(`${folder}README.md`, "utf8");
    const printed = /```text\n([^`]*)```/.exec(readme)?.[1]?.trim().split("\n\n") ?? [];
    expect(printed.length).toBeGreaterThan(0);
    for (const scene of printed) expect(rest).toContain(scene);
  });

  test("is plain JSON-RPC: beside the names of the package nothing speaks of MCP", async () => {
    for (const { name, text } of await files()) {
      expect(text.replaceAll(/"@parlance\/mcp(\/jsonrpc|\/node|\/websocket)?"/g, ""), name).not.toMatch(
        /mcp|model context/i,
      );
    }
  });

  test("imports nothing but its own files, modules of Node and three entries of the package", async () => {
    const imported = (await files())
      .filter(({ name }) => name.endsWith(".js"))
      .flatMap(({ text }) => [...text.matchAll(/^import .* from "(.*)";$/gm)].map(([, specifier = ""]) => specifier))
      .filter((specifier) => !/^(\.\/|node:)/.test(specifier));
    const entries = ["@parlance/mcp/jsonrpc", "@parlance/mcp/node", "@parlance/mcp/websocket"];
    expect(new Set(imported)).toEqual(new Set(entries));
  });
});

/** The lines of the transcript under a title. */
function scene(rest: string, title: string): string[] {
  const [, lines = ""] = rest.split(`\n${title}:\n`);
  return (lines.split("\n\n")[0] ?? "").trimEnd().split("\n");
}
