import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readText } from "../architecture/source.js";
import { readSurface } from "../architecture/surface.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readText(root, "docs/reference/glossary.md");
const rows = [...page.matchAll(/^\| (?<term>[^|]+?)(?: ★)? \| (?<meaning>[^|]+) \| (?<names>[^|]*)\|$/gmu)]
  .map(({ groups = {} }) => groups)
  .filter(({ term }) => term !== "term");

/** Words of the old dialect, and of implementation jargon, that no public name may bring back. */
const retired =
  /carrier|visit|heard|promised|insist|unhurried|lasting|newcomer|manners|outlet|door|passage|crossing|farend|nearend|utils|helper|impl$/i;

const published = new Set(readSurface(root).flatMap(({ names }) => names.map(({ name }) => name)));

describe("docs/reference/glossary.md", () => {
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
