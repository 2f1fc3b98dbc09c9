import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parlance } from "../run.js";
import { Scratch } from "../scratch.js";

const library = join(import.meta.dirname, "../../../packages/mcp");

/** A project with a copy of the library of its own, as npm installs it. */
function project(): Scratch {
  const folder = new Scratch();
  const copy = folder.at("node_modules/@parlance/mcp");
  mkdirSync(copy, { recursive: true });
  cpSync(join(library, "dist"), join(copy, "dist"), { recursive: true });
  cpSync(join(library, "package.json"), join(copy, "package.json"));
  writeFileSync(
    folder.at("server.mjs"),
    `import { createServer, RpcError } from "@parlance/mcp/server";
const confirm = { type: "object", properties: { sure: { type: "boolean" } } };
const server = createServer({ name: "copy", version: "1" });
server.tool("busy", {}, () => { throw new RpcError(1234, "the printer is busy"); });
server.tool("ask", {}, async (_, ctx) => {
  const { content } = await ctx.elicit("Sure?", confirm);
  return String(content?.sure);
});
export default server;
`,
  );
  return folder;
}

test.concurrent("the errors of a module are those of the copy of the library that it imports", async () => {
  using folder = project();
  const { stderr } = await parlance(["call", folder.at("server.mjs"), "busy"]);
  expect(stderr).toContain("1234");
  expect(stderr).toContain("the printer is busy");
});

test.concurrent.each([
  ["export const createNotes = () => server;", "createNotes()"],
  ["export default () => server;", "the function that is its default"],
])("a module that exports a function, %s, is told to export its server", async (exports, named) => {
  using folder = project();
  const source =
    'import { createServer } from "@parlance/mcp/server"; const server = createServer({ name: "made", version: "1" });';
  writeFileSync(folder.at("made.mjs"), `${source} ${exports}`);
  const { code, stderr } = await parlance(["list", folder.at("made.mjs")]);
  expect(stderr).toContain(`does ${named} make the server? Export what it returns as \`server\``);
  expect(code).toBe(3);
});

test.concurrent("a module requests input in every revision, with the copy of the library that it imports", async () => {
  using folder = project();
  for (const revision of ["2025-06-18", "2026-07-28"]) {
    const words = ["call", folder.at("server.mjs"), "ask", "--revision", revision, "--answer", '{"sure":true}'];
    expect(await parlance(words)).toMatchObject({ code: 0, stdout: "true\n" });
  }
});
