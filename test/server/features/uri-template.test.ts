import { uriTemplate } from "@parlance/mcp/server";
import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { TemplateVariables } from "../../../packages/mcp/src/server/features/resources/uri-template.js";

describe("a template takes the values out of a URI", () => {
  test.each([
    ["notes:/{id}", "notes:/7", { id: "7" }],
    ["notes:/{id}/text", "notes:/7/text", { id: "7" }],
    ["git:/{ref}/{+path}", "git:/main/src/a.ts", { ref: "main", path: "src/a.ts" }],
    ["git:/{+path}@{ref}", "git:/src/a.ts@main", { path: "src/a.ts", ref: "main" }],
    ["file:///{name}.{ext}", "file:///a.tar.gz", { name: "a", ext: "tar.gz" }],
    ["file:///{name}.txt", "file:///a.txt.txt", { name: "a.txt" }],
    ["x:{+a}/end/{b}", "x:1/end/2/end/3", { a: "1/end/2", b: "3" }],
    ["db://{host}/{table}", "db://h:1/t", { host: "h:1", table: "t" }],
    ["x:{a,b}", "x:1,2", { a: "1", b: "2" }],
    ["x:a{.ext}", "x:a.md", { ext: "md" }],
    ["x:a{/b,c}", "x:a/1/2", { b: "1", c: "2" }],
    ["x:a{;b,c}", "x:a;b=1;c=2", { b: "1", c: "2" }],
    ["x:a{#part}", "x:a#one/two", { part: "one/two" }],
    ["x:{a.b}", "x:1", { "a.b": "1" }],
    ["x:{__proto__}", "x:1", Object.fromEntries([["__proto__", "1"]])],
  ])("%s of %s", (template, uri, values) => {
    expect(uriTemplate(template).match(uri)).toEqual(values);
  });

  test.each([
    ["find:{topic}{?limit,tag}", "find:cats", { topic: "cats" }],
    ["find:{topic}{?limit,tag}", "find:cats?", { topic: "cats" }],
    ["find:{topic}{?limit,tag}", "find:cats?tag=a%2Fb&limit=", { topic: "cats", tag: "a/b", limit: "" }],
    ["find:{topic}{?limit,tag}", "find:cats?tag=a=b", { topic: "cats", tag: "a=b" }],
    ["find:{topic}?q={q}", "find:cats?q=1", { topic: "cats", q: "1" }],
  ])("%s of %s, whatever the order of the query", (template, uri, values) => {
    expect(uriTemplate(template).match(uri)).toEqual(values);
  });

  test.each([
    ["x:{a}", "x:a%20b%C3%BC", { a: "a bü" }],
    ["x:{a}", "x:100%25", { a: "100%" }],
    ["x:{a}", "x:ü", { a: "ü" }],
    ["x:%7Ea/{b}", "x:~a/1", { b: "1" }],
    ["x:~a/{b}", "x:%7ea/1", { b: "1" }],
    ["x:{a}%2f{b}", "x:1%2F2", { a: "1", b: "2" }],
  ])("%s of %s, decoded once", (template, uri, values) => {
    expect(uriTemplate(template).match(uri)).toEqual(values);
  });
});

describe("a URI is not of a template", () => {
  test.each([
    ["notes:/{id}", "notes:/"],
    ["notes:/{id}", "notes:/7/8"],
    ["notes:/{id}", "NOTES:/7"],
    ["notes:/{id}", "other:/7"],
    ["notes:/{id}", "notes:/7?x=1"],
    ["notes:/{id}", "notes:/7#x"],
    ["notes:/{id}/text", "notes:/7/text/more"],
    ["x:{a}", "x:%"],
    ["x:{a}", "x:%FF"],
    ["x:{a}", "x:a%2"],
    ["x:{a}F{b}", "x:1%2F2"],
    ["find:{topic}{?limit}", "find:cats?limit=1&limit=2"],
    ["find:{topic}{?limit}", "find:cats?other=1"],
    ["find:{topic}{?limit}", "find:cats?limit"],
    ["find:{topic}{?limit}", "find:cats?limit=1&"],
    ["find:{topic}{?limit}", "find:cats?limit=1#x"],
    ["find:{topic}{?limit}", "find:?limit=1"],
  ])("%s, %s", (template, uri) => {
    expect(uriTemplate(template).match(uri)).toBeUndefined();
  });
});

describe("what could climb out of its place", () => {
  const climbing = [
    "..",
    ".",
    "%2e%2e",
    "%2E.",
    "a/../b",
    "a/%2e%2e/b",
    "..%2fb",
    "a%2f..",
    "a%5c..%5cb",
    "..\\b",
    "%252e%252e%252fb",
    "a%252fb",
    "a%00b",
    "%0a",
    "a%2500",
  ];

  test.each(climbing)("%s is no value of {x}, nor of {+x}, nor of {?x}", (value) => {
    expect(uriTemplate("file:///{x}").match(`file:///${value}`)).toBeUndefined();
    expect(uriTemplate("file:///{+x}").match(`file:///${value}`)).toBeUndefined();
    expect(uriTemplate("file:///a{?x}").match(`file:///a?x=${value}`)).toBeUndefined();
  });

  test.each(["a/b", "a%2Fb", "a%2fb", "a\\b", "a%5Cb", "/a", "a/"])(
    "%s is no value of {x}, but one of {+x}",
    (value) => {
      expect(uriTemplate("file:///{x}").match(`file:///${value}`)).toBeUndefined();
      expect(uriTemplate("file:///{+x}").match(`file:///${value}`)).toEqual({ x: decodeURIComponent(value) });
    },
  );

  test.each(["...", "..a", "a..", ".git", "a.", "%20..", "a..b"])("%s does not, and is one of {x}", (value) => {
    expect(uriTemplate("file:///{x}").match(`file:///${value}`)).toEqual({ x: decodeURIComponent(value) });
  });

  test("text and values together make no segment that leads up", () => {
    expect(uriTemplate("file:///a/.{+x}").match("file:///a/../etc")).toBeUndefined();
    expect(uriTemplate("file:///a/{x}.{y}").match("file:///a/...")).toBeUndefined();
  });

  test("reaches a handler where the operator allows it, but for control characters", () => {
    const open = uriTemplate("file:///{+x}", { traversal: true });
    expect(open.match("file:///a/../%252e")).toEqual({ x: "a/../%2e" });
    expect(open.match("file:///a%00")).toBeUndefined();
    expect(uriTemplate("file:///{x}", { traversal: true }).match("file:///..%2fb")).toBeUndefined();
  });

  test("never reaches a handler, whatever is written", () => {
    const piece = fc.constantFrom(
      "..",
      ".",
      "/",
      "\\",
      "%2e",
      "%2F",
      "%5c",
      "%25",
      "%00",
      "a",
      "%",
      "2e",
      "?",
      "x=",
      "&",
    );
    const template = uriTemplate("file:///{a}/{+b}{?x}");
    const uri = fc.array(piece, { maxLength: 12 }).map((pieces) => `file:///${pieces.join("")}`);
    fc.assert(
      fc.property(uri, (written) => {
        const { a = "", b = "", x = "" } = template.match(written) ?? {};
        expect(/[/\\]/.test(a)).toBe(false);
        for (const value of [a, b, x]) {
          expect(/\p{Cc}/u.test(value)).toBe(false);
          for (const segment of value.split(/[/\\]/)) expect([".", ".."]).not.toContain(segment);
          expect(value).not.toMatch(/%(2e|2f|5c|00)/i);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a template that cannot be matched is refused when it is defined:", () => {
  test.each([
    ["x:{a}{b}", "ends: put text between them"],
    ["x:{+a}{+b}", "ends: put text between them"],
    ["x:{a}{+b}", "ends: put text between them"],
    ["x:{a:3}", "leave out what follows the name"],
    ["x:{a*}", "leave out what follows the name"],
    ["x:{&a}", "{&…} cannot be matched"],
    ["x:{=a}", "{=…} cannot be matched"],
    ["x:{?a}/b", "nothing may follow {?…}"],
    ["x:?b=1{?a}", "second question mark"],
    ["x:{a}/{a}", "stands there twice"],
    ["x:{}", '"" is not the name of a variable'],
    ["x:{a-b}", '"a-b" is not the name of a variable'],
    ["x:{a} b", "it contains a space or a control character"],
    ["x:{a}\ud800", "it contains a space or a control character"],
    ["x:{a", "a brace is unmatched"],
    ["x:a}", "a brace is unmatched"],
    ["x:{{a}}", "a brace is unmatched"],
    ["{a}", "must begin with a scheme"],
    ["{scheme}:a", "must begin with a scheme"],
    ["x:plain", "it has no variable"],
    [`x:{a}${"b".repeat(2_048)}`, "at most 2048 characters"],
    [`x:${Array.from({ length: 17 }, (_, n) => `{v${n}}`).join("/")}`, "at most 16 variables"],
    [`x:{${Array.from({ length: 17 }, (_, n) => `v${n}`).join(",")}}`, "at most 16 variables"],
  ])("%s", (template, why) => {
    expect(() => uriTemplate(template)).toThrow(TypeError);
    expect(() => uriTemplate(template)).toThrow(why);
  });
});

test("what a template expands to, it matches, and gives back the values", () => {
  const text = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
    .filter((value) => !/[\p{Cc}\p{Cs}/\\%]/u.test(value) && !/^\.{1,2}$/.test(value));
  const template = uriTemplate("x:/{a}/{b}{?c}");
  fc.assert(
    fc.property(text, text, text, (a, b, c) => {
      const uri = `x:/${encodeURIComponent(a)}/${encodeURIComponent(b)}?c=${encodeURIComponent(c)}`;
      expect(template.match(uri)).toEqual({ a, b, c });
    }),
  );
});

test("a URI is read as a regular expression that takes as little as it can would read it", () => {
  const literal = fc
    .array(fc.constantFrom("a", "b", "/", "-"), { minLength: 1, maxLength: 2 })
    .map((each) => each.join(""));
  const parts = fc.array(fc.tuple(fc.boolean(), literal), { minLength: 1, maxLength: 4 });
  const text = fc.array(fc.constantFrom("a", "b", "/", "-"), { maxLength: 12 }).map((each) => each.join(""));
  fc.assert(
    fc.property(parts, text, (pieces, written) => {
      const template = pieces.map(([slashes, behind], index) => `{${slashes ? "+" : ""}v${index}}${behind}`).join("");
      const pattern = pieces.map(([slashes, behind]) => `(${slashes ? "." : "[^/]"}+?)${behind}`).join("");
      const [, ...values] = new RegExp(`^x:${pattern}$`).exec(`x:${written}`) ?? [];
      const named = Object.fromEntries(values.map((value, index) => [`v${index}`, value]));
      expect(uriTemplate(`x:${template}`).match(`x:${written}`)).toEqual(values.length === 0 ? undefined : named);
    }),
    { numRuns: 2_000 },
  );
});

test("a URI that can be read in very many ways is read at once", () => {
  // A matcher that goes back on its choices would not come to its end here.
  const hostile = uriTemplate(`x:${Array.from({ length: 16 }, (_, n) => `{+v${n}}`).join("a")}b`);
  expect(hostile.match(`x:${"a".repeat(65_536)}`)).toBeUndefined();
  expect(Object.keys(hostile.match(`x:${"a".repeat(65_536)}b`) ?? {})).toHaveLength(16);
});

test("the names of the variables are known to the compiler", () => {
  expectTypeOf<TemplateVariables<"git:/{ref}/{+path}">>().toExtend<{ ref: string; path: string }>();
  expectTypeOf<TemplateVariables<"x:{a,b}{?c,d}">>().toExtend<{ a: string; b: string; c?: string; d?: string }>();
  expectTypeOf<keyof TemplateVariables<"x:{a,b}{?c}">>().toEqualTypeOf<"a" | "b" | "c">();
  expectTypeOf<TemplateVariables<string>>().toEqualTypeOf<Readonly<Record<string, string>>>();
});
