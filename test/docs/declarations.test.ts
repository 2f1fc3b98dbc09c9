import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readSurface } from "../architecture/surface.js";

// What a function of an entry returns can be exported from a project that writes declarations, as libraries and project references do: its
// type is one that the entry exports, or is made of such.

const root = join(import.meta.dirname, "../..");
const folder = await mkdtemp(join(root, "test", ".declarations-")); // Inside the repository, so that its packages are found.
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The entries for tools that read recordings and the protocol; their values are used where they are made. */
const ofTools = ["@parlance/wire", "@parlance/mcp/protocol"];

const options = {
  compilerOptions: {
    strict: true,
    target: "esnext",
    module: "nodenext",
    lib: ["esnext", "dom", "dom.iterable"],
    types: ["node"],
    declaration: true,
    emitDeclarationOnly: true,
    outDir: "out",
    skipLibCheck: true,
  },
};

test("what the functions of the entries return can be exported by a project with declarations", async () => {
  const entries = readSurface(root).filter(({ specifier }) => !ofTools.includes(specifier));
  const files = entries.map(({ specifier, names }, index) => {
    const functions = names.filter(({ isFunction, home }) => isFunction && home === specifier);
    const calls = functions.map(
      ({ name }) => `export const its_${name} = m.${name}(...(null! as Parameters<typeof m.${name}>));`,
    );
    return { name: `entry-${index}.ts`, text: [`import * as m from "${specifier}";`, ...calls, ""].join("\n"), calls };
  });
  expect(files.flatMap(({ calls }) => calls).length).toBeGreaterThan(50);
  await Promise.all(files.map(({ name, text }) => writeFile(join(folder, name), text)));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(options));
  const compiler = join(root, "node_modules/.bin/tsc");
  const printed = await new Promise<string>((resolve) => {
    execFile(compiler, ["-p", ".", "--pretty", "false"], { cwd: folder }, (_error, stdout) => resolve(stdout));
  });
  expect(printed.split("\n").filter((line) => line !== "")).toEqual([]);
}, 120_000);
