import { canonicalJson, ignoring, significant } from "@parlance/wire";
import { describe, expect, test } from "vitest";

describe("what is left of a value without the ignored places", () => {
  const value = { id: 1, list: [{ at: 5, text: "a" }, { text: "b" }], meta: { "a/b": 1, other: 2 } };

  test.each([
    [[], value],
    [["/id"], { list: value.list, meta: value.meta }],
    [["/list/*/at"], { ...value, list: [{ text: "a" }, { text: "b" }] }],
    [["/list/1"], { ...value, list: [value.list[0], null] }],
    [["/meta/a~1b"], { ...value, meta: { other: 2 } }],
    // A member is concerned both by the pointers that name it and by those with `*` in its place.
    [["/*/other", "/meta/a~1b"], { id: 1, list: value.list }],
    [["/list/*/at", "/list/0/text"], { ...value, list: [null, { text: "b" }] }],
    [["/meta", "/meta/other"], { id: 1, list: value.list }],
    [[""], undefined],
  ])("%j", (pointers, left) => {
    expect(canonicalJson(significant(value, ignoring(pointers)))).toBe(canonicalJson(left));
  });
});
