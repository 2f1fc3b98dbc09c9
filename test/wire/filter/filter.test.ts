import { readFile } from "node:fs/promises";
import { Conversation, compileFilter, type Entry, parseExpectation, parseFilter, wording } from "@parlance/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkExpectation } from "../../../packages/wire/src/filter/expectation.js";
import { fields as filterFields } from "../../../packages/wire/src/filter/fields.js";
import type { Filter, Operator, Written } from "../../../packages/wire/src/filter/filter.js";
import { exampleEntries } from "../recording/example-recording.js";
import { recorded } from "../recording/recorded.js";
import { printFilter } from "./print-filter.js";

const page = await readFile(new URL("../../../docs/reference/filters.md", import.meta.url), "utf8");

/** The rows of the tables of a part of the page, without the backticks of the first cell. */
function tableOf(title: string): readonly (readonly string[])[] {
  const [, part = ""] = page.split(`## ${title}\n`);
  const rows = [...(part.split("\n## ")[0] ?? "").matchAll(/^\| `(.+?)` \| (.*?) ?\|/gm)];
  return rows.map(([, first = "", second = ""]) => [first, second]);
}

function conversationOf(entries: readonly Entry[]): Conversation {
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  return conversation;
}

const example = conversationOf(exampleEntries);

function left(text: string, { rows }: Conversation = example): readonly (number | undefined)[] {
  const parsed = parseFilter(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.fault.says}`);
  return rows.filter(compileFilter(parsed.filter)).map(({ n }) => n);
}

describe("the page on filters", () => {
  test("has examples", () => expect(tableOf("Conditions").length).toBeGreaterThan(25));

  test.each(tableOf("Conditions"))("%s leaves %s", (filter, numbers) => {
    expect(left(filter).join(" ")).toBe(numbers);
  });

  test.each(tableOf("Expectations"))("%s finds %s", (text, found) => {
    const parsed = parseExpectation(text);
    if (!parsed.ok) throw new Error(parsed.fault.says);
    const result = checkExpectation(parsed.expectation, example.rows);
    expect(wording.expectation(result)).toBe(`found ${found}`);
    expect(result.holds).toBe(true);
  });

  test("names every field", () => {
    for (const name of filterFields.keys()) expect(page).toMatch(new RegExp(`[\`(-]${name}\\b`));
  });
});

describe("for a text that is not a filter, the place of the fault is named", () => {
  test.each([
    ["kind:foo", 5, "kind: it is one of"],
    ["verdict:bad", 8, 'verdict: it is one of ok must should may unjudged, and never "bad"'],
    ["colour:red", 0, 'there is no field "colour"'],
    ["is:error", 0, "JSON pointers such as /result/isError=true"],
    ["a (b", 4, 'the "(" at 3 is not closed'],
    ["a ) b", 2, 'there is a ")" that nothing opens'],
    ["a or", 4, "but the filter ends"],
    ["or a", 0, "nothing in front of it"],
    ['tool:"x', 5, "the quote is not closed"],
    ["lat>fast", 4, "lat: a duration as 500ms"],
    ["size>1x", 5, "size: a size as 900, 1k"],
    ["t:1.2..x", 2, "or a range"],
    ["lat has 3", 3, "lat: it is a number"],
    ["tool>3", 4, "tool: it has no order"],
    ["n~4", 1, "~ tests texts"],
    ["/(ab/", 1, "the group is not closed"],
    ["x /a(?=b)/", 4, "a filter cannot look around"],
    ["/(a)\\1/", 4, "a filter cannot refer back"],
    ["method~/a{9999}/", 9, "a repetition counts to at most 1000"],
    ["pair(x)", 5, "the number of a frame was expected"],
    ["call(7", 6, 'ends with ")"'],
    ["@mine", 0, "there is no saved filter mine"],
    ["/a/b>x", 5, "a number was expected"],
  ])("%s", (text, at, says) => {
    const parsed = parseFilter(text);
    expect(parsed).toMatchObject({ ok: false, fault: { at, says: expect.stringContaining(says) } });
  });
});

test("a saved filter stands for what it holds, and one that holds itself is refused", () => {
  const saved = new Map([
    ["slow", "lat>500ms"],
    ["loop", "a @loop"],
  ]);
  const context = { saved: (name: string) => saved.get(name) };
  const parsed = parseFilter("@slow tool:search", context);
  expect(parsed.ok && example.rows.filter(compileFilter(parsed.filter)).map(({ n }) => n)).toEqual([8]);
  expect(parsed.ok && printFilter(parsed.filter)).toBe("@slow tool:search");
  expect(parseFilter("@loop", context)).toMatchObject({ ok: false, fault: { at: 0 } });
});

test("in a batch, one message has to have everything that is asked", () => {
  const batch = conversationOf(
    recorded('→ [{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":"2","method":"b"}]'),
  );
  expect(left("id:1 method:a", batch)).toEqual([1]);
  expect(left('id:"2" method:b kind:batch', batch)).toEqual([1]);
  expect(left("id:1 method:b", batch)).toEqual([]);
});

test("heads of HTTP and what came with them are found by status, header and method", () => {
  const head = { k: "h", s: "1", x: 1 } as const;
  const conversation = conversationOf([
    { ...head, n: 1, t: 1, ph: "req", method: "POST", url: "/mcp", headers: [["Accept", "application/json"]] },
    { k: "f", n: 2, s: "1", t: 2, d: "c2s", ch: "http", len: 2, nl: "", raw: "{}", req: 1 },
    { ...head, n: 3, t: 3, ph: "res", status: 404, headers: [["Content-Type", "text/html"]] },
    { k: "f", n: 4, s: "1", t: 4, d: "s2c", ch: "http", len: 2, nl: "", raw: "no", req: 1 },
    { k: "a", n: 2, text: "look here" },
  ]);
  expect(left("status:404", conversation)).toEqual([1, 2, 3, 4]);
  expect(left("header.accept:*", conversation)).toEqual([1, 2]);
  expect(left("header.content-type has html", conversation)).toEqual([3, 4]);
  expect(left("kind:http method:POST", conversation)).toEqual([1, 3]);
  expect(left("note:look*", conversation)).toEqual([undefined]);
});

test("what is written in escapes is found by what it means", () => {
  const conversation = conversationOf(
    recorded('→ {"jsonrpc":"2.0","id":1,"method":"x","params":{"n\\u0061me":"\\u0061"}}'),
  );
  expect(left("/params/name=a", conversation)).toEqual([1]);
  expect(left('/params/name="a"', conversation)).toEqual([1]);
});

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
const anyText = fc.string({ unit: "grapheme", maxLength: 12 });
const written: fc.Arbitrary<Written> = fc.oneof(
  anyText.map((text) => ({ text, quoted: true })),
  fc.stringMatching(/^[\w*?.,/-]{1,8}$/).map((text) => ({ text, quoted: false })),
);
const pattern = fc
  .tuple(fc.constantFrom("a", "a.*b", "^x$", "\\d+", "[^\\/x]?", "(?:a|b){2,3}", "\\/"), fc.boolean())
  .map(([source, ignoreCase]) => ({ source, ignoreCase }));
const textOperators = fc.constantFrom<Operator[]>(":", "=", "!=", "has");
const numberOperators = fc.constantFrom<Operator[]>(":", "=", "!=", ">", "<", ">=", "<=");
const textFields = fc.constantFrom("method", "tool", "uri", "rule", "session", "id", "header.accept");
const pointers = fc.constantFrom("/params/name", "/a~1b/0", "/result");
const leaf: fc.Arbitrary<Filter> = fc.oneof(
  anyText.map((text): Filter => ({ is: "text", text })),
  pattern.map((each): Filter => ({ is: "pattern", pattern: each })),
  fc
    .record({ field: fc.oneof(textFields, pointers), op: textOperators, value: written })
    // `/a:b/` is a regular expression.
    .filter(({ field, value }) => !field.startsWith("/") || value.quoted || !value.text.includes("/"))
    .map((each): Filter => ({ is: "field", ...each })),
  fc
    .record({ field: fc.constantFrom("n", "pair", "code"), op: numberOperators, value: fc.integer() })
    .map(({ value, ...each }): Filter => ({ is: "field", ...each, value: { text: String(value), quoted: false } })),
  fc
    .record({ field: fc.oneof(fc.constantFrom("method", "stderr"), pointers), value: pattern })
    .map((each): Filter => ({ is: "field", op: "~", ...each })),
  fc.nat().map((n): Filter => ({ is: "pair", n })),
  written.map((id): Filter => ({ is: "call", id })),
);
const { filter } = fc.letrec<{ filter: Filter; list: Filter[] }>((tie) => ({
  list: fc.array(tie("filter"), { minLength: 2, maxLength: 3 }),
  filter: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    tie("filter").map((of): Filter => ({ is: "not", of })),
    fc.tuple(fc.constantFrom("and" as const, "or" as const), tie("list")).map(([is, of]): Filter => ({ is, of })),
  ),
}));

test("what is printed of a filter is read as the same filter", () => {
  fc.assert(
    fc.property(filter, (tree) => {
      expect(parseFilter(printFilter(tree))).toEqual({ ok: true, filter: tree });
    }),
    { numRuns: 2_000 },
  );
});

test("no text makes the parser throw, and what is wrong has a place in the text", () => {
  const pieces = fc.constantFrom(
    ...'( ) - ! : = ~ / " has or and not pair( call( @x t: lat> \\ [ {'.split(" "),
    " ",
    "..",
  );
  const text = fc.array(fc.oneof(pieces, word, anyText), { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (each) => {
      const parsed = parseFilter(each);
      if (parsed.ok) for (const row of example.rows) compileFilter(parsed.filter)(row);
      else expect(parsed.fault.at).toBeLessThanOrEqual(each.length);
      parseExpectation(each);
    }),
    { numRuns: 3_000 },
  );
});

test("parentheses without end, and texts without end, are refused", () => {
  expect(parseFilter("(".repeat(4_000))).toMatchObject({ ok: false });
  expect(parseFilter("-".repeat(4_000))).toMatchObject({ ok: false });
  expect(parseFilter("a ".repeat(4_000))).toMatchObject({ ok: false });
});
