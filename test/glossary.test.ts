import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseSource, readText, type Source } from "./architecture/source.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readText(root, "docs/glossary.md");
const rows = [...page.matchAll(/^\| (?<term>[^|]+?)(?: ★)? \| (?<meaning>[^|]+) \| (?<names>[^|]*)\|$/gmu)]
  .map(({ groups = {} }) => groups)
  .filter(({ term }) => term !== "term");

/** Words of the old dialect, and of implementation jargon, that no public name may bring back. */
const retired =
  /carrier|visit|heard|promised|insist|unhurried|lasting|newcomer|manners|outlet|door|passage|crossing|farend|nearend|utils|helper|impl$/i;

const entries = "packages/mcp/src/entries";
const published = new Set(
  [...readdirSync(join(root, entries)).map((name) => `${entries}/${name}`), "packages/wire/src/index.ts"].flatMap(
    (path) => namesOf(read(path)),
  ),
);

function read(path: string): Source {
  return parseSource(path, readText(root, path));
}

/** The names that a module exports: its own, those that it passes on by name, and all of a module that it passes on whole. */
function namesOf(source: Source): readonly string[] {
  return source.nodes.flatMap(({ node }) => {
    if (node.type === "ExportAllDeclaration") {
      const target = posix.join(posix.dirname(source.path), node.source.value.replace(/\.js$/, ".ts"));
      return node.exported === null ? namesOf(read(target)) : [];
    }
    if (node.type !== "ExportNamedDeclaration") return [];
    const passedOn = node.specifiers.flatMap(({ exported }) => (exported.type === "Identifier" ? [exported.name] : []));
    return [...passedOn, ...declaredIn(source.text.slice(node.start, node.end))];
  });
}

function declaredIn(statement: string): readonly string[] {
  const name = /^export (?:async )?(?:class|const|function|interface|type) (?<name>\w+)/.exec(statement)?.groups?.name;
  return name === undefined ? [] : [name];
}

describe("docs/glossary.md", () => {
  test("has a row for each term, in the order of the alphabet", () => {
    const terms = rows.map(({ term = "" }) => term);
    expect(terms.length).toBeGreaterThan(50);
    expect(terms).toEqual([...new Set(terms)].sort((a, b) => a.localeCompare(b, "en")));
  });

  test("names only what the packages export", () => {
    const names = rows.flatMap(({ names: list = "" }) => [...list.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
    expect(names.filter((name) => !published.has(name))).toEqual([]);
  });
});

test("no public name uses a retired word", () => {
  expect(published.size).toBeGreaterThan(200);
  expect([...published].filter((name) => retired.test(name))).toEqual([]);
});

test("the names of a module are found, whichever way it exports them", () => {
  const source = parseSource("a.ts", 'export const one = 1; export { two } from "./b.js"; export interface Three {}');
  expect(namesOf(source)).toEqual(["one", "two", "Three"]);
});
