import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { allowed } from "./allowed.js";
import { judge } from "./findings.js";
import { findings, rules } from "./rules.js";
import { readSources, readText } from "./source.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packages = ["packages/mcp", "packages/wire", "packages/web", "packages/cli", "packages/create-parlance"];
const sources = readSources(root);
const published = new Set(packages.flatMap(publicSpecifiers));
const { open, unneeded } = judge(findings({ sources, published }), allowed);

test.each([...rules.keys()])("the repository keeps the rule: %s", (rule) => {
  const broken = open.filter((finding) => finding.rule === rule);
  expect(broken.map(({ path, line, what, message }) => `${path}:${line} ${what}: ${message}`)).toEqual([]);
});

test("every entry of the allow-list gives its reason and is still needed", () => {
  expect(allowed.filter(({ reason }) => reason.trim() === "")).toEqual([]);
  expect(unneeded).toEqual([]);
});

test("every entry file is published under its own name", () => {
  const entries = sources.flatMap(({ path }) => /^packages\/mcp\/src\/entries\/(.+)\.ts$/.exec(path)?.[1] ?? []);
  const specifiers = entries.map((name) => (name === "index" ? "@parlance/mcp" : `@parlance/mcp/${name}`));
  expect(specifiers.filter((specifier) => !published.has(specifier))).toEqual([]);
});

test("every dependency earns its place in docs/design/dependencies.md", () => {
  const page = readText(root, "docs/design/dependencies.md");
  const names = [".", ...packages].flatMap((folder) => {
    const { dependencies, devDependencies, peerDependencies } = readManifest(folder);
    return Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
  });
  expect(names.filter((name) => !page.includes(`\n| \`${name}\` |`))).toEqual([]);
});

interface Manifest {
  readonly name: string;
  readonly exports?: object;
  readonly dependencies?: object;
  readonly devDependencies?: object;
  readonly peerDependencies?: object;
}

function readManifest(folder: string): Manifest {
  // Our own files, of a shape that npm checks.
  return JSON.parse(readText(root, `${folder}/package.json`)) as Manifest;
}

/** The specifiers that a user may import: the package's name with each of its subpaths. */
function publicSpecifiers(folder: string): readonly string[] {
  const { name, exports = {} } = readManifest(folder);
  return Object.keys(exports).map((subpath) => name + subpath.slice(1));
}
