import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { mutationsOf, outcomeOf, root } from "./mutations.js";

const mutations = mutationsOf();

describe.each(mutations)("$item: $removes", ({ file, find, test: testFile, title }) => {
  test("the defence stands once in its file", () => {
    const text = readFileSync(new URL(file, root), "utf8");
    expect(text.split(find)).toHaveLength(2);
  });

  test("the test that must notice exists", () => {
    expect(readFileSync(new URL(testFile, root), "utf8")).toContain(title);
  });
});

test("mutations have items and say what they remove", () => {
  for (const { item, removes, replace, find } of mutations) {
    expect(item).toMatch(/^[A-C]\d+$/);
    expect(removes).not.toBe("");
    expect(replace).not.toBe(find);
  }
});

test("every threat to authorization has a defence whose removal a test notices", () => {
  const threats = [14, 16, 17, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 45].map((number) => `S${number}`);
  const named = new Set(mutations.flatMap((each) => each.threats ?? []));
  expect(threats.filter((threat) => !named.has(threat))).toEqual([]);
});

test.each(mutations.slice(0, 1))(
  "a mutation whose text is not in its source, or is there twice, is an error",
  (mutation) => {
    for (const find of ["this text is in no source", "\n"]) expect(outcomeOf({ ...mutation, find })).toBe("stale");
  },
);
