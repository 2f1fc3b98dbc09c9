import { Conversation, compileFilter, parseFilter } from "@parlance/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Filter } from "../../../packages/wire/src/filter/filter.js";
import { stdioFrame } from "../recording/recorded.js";

function finds(source: string, ignoreCase: boolean, text: string): boolean {
  const row = new Conversation({ rules: [] }).push(stdioFrame(1, `← ${text}`));
  if (row === undefined) throw new Error("a frame is a row");
  const filter: Filter = { is: "pattern", pattern: { source, ignoreCase } };
  return compileFilter(filter)(row);
}

const atom = fc.constantFrom(
  "a",
  "b",
  ".",
  "[ab]",
  "[^a]",
  "\\d",
  "\\w",
  "\\s",
  "\\b",
  "\\B",
  "^",
  "$",
  "é",
  "\\u0041",
  "\\.",
);
const quantity = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?");
const { expression } = fc.letrec<{ expression: string; term: string }>((tie) => ({
  expression: fc.array(tie("term"), { minLength: 1, maxLength: 4 }).map((terms) => terms.join("")),
  term: fc.oneof(
    { maxDepth: 2 },
    fc.tuple(atom, quantity).map(([each, many]) => (/^(?:\^|\$|\\[bB])$/.test(each) ? each : each + many)),
    fc.tuple(tie("expression"), tie("expression"), quantity).map(([a, b, many]) => `(?:${a}|${b})${many}`),
    fc.tuple(tie("expression"), quantity).map(([a, many]) => `(${a})${many}`),
  ),
}));

test("a regular expression finds what the one of the runtime finds", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "A", "1", " ", ".", "é", "€"), { maxLength: 8 })
    .map((all) => all.join(""));
  fc.assert(
    fc.property(expression, fc.boolean(), text, (source, ignoreCase, each) => {
      expect(finds(source, ignoreCase, each)).toBe(new RegExp(source, ignoreCase ? "iu" : "u").test(each));
    }),
    { numRuns: 1_000 },
  );
});

// An engine that backtracks takes longer than the universe is old for each of these.
test.each(["(a+)+$", "(a|aa)+$", "(.*)*x", "(a?){500}a{500}b", "(?:a*)*b"])(
  "/%s/ ends on a text made to keep it busy",
  (source) => {
    expect(parseFilter(`/${source}/`).ok).toBe(true);
    expect(finds(source, false, `${"a".repeat(20_000)}!`)).toBe(false);
  },
);

test("a character outside of the first 65,536 is one character", () => {
  expect(finds("^.$", false, "😀")).toBe(true);
  expect(finds("^..$", false, "😀")).toBe(false);
  expect(finds("[😀-😂]", false, "a😁b")).toBe(true);
});

test("what would take too much room is refused", () => {
  expect(parseFilter("/(((a{99}){99}){99}){99}/")).toMatchObject({ ok: false, fault: { at: 1 } });
  expect(parseFilter(`/${"(".repeat(1_000)}${")".repeat(1_000)}/`)).toMatchObject({ ok: false });
});
