import { format } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringFormats } from "../../../packages/mcp/src/protocol/shapes/checker.js";

const { uri, "uri-template": template, base64 } = stringFormats;

const pieces = ["a", "Z", "7", "-", ".", "_", "~", ":", "/", "//", "?", "#", "@", "[", "]", "[::1]", "%", "%4", "%41"];
const braces = ["{", "}", "{a}", "{+a,b*}", "{?a:3}", ",", "*", "!", "'", "(", " ", "é", "\\", '"', "|", "\u0000"];
const texts = fc.array(fc.constantFrom(...pieces, ...braces), { maxLength: 8 }).map((parts) => parts.join(""));

describe("a URI", () => {
  test.each([
    "file:///home/user/a.txt",
    "https://user:pass@example.com:8080/a/b;c=1?q=%5B1%5D",
    "http://[2001:db8::7]/c=GB?objectClass?one",
    "http://[v7.a:b]/",
    "git:/diff/staged",
    "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
    "mailto:John.Doe@example.com",
    "tel:+1-816-555-1212",
    "data:image/png;base64,AA==",
    "ui://weather/view",
    "a:",
    "x-y.z+1:?q#f",
  ])("may be %s", (text) => expect(uri.test(text)).toBe(true));

  test.each([
    "",
    "a",
    "/a/b",
    "//example.com",
    "C:\\a",
    "1a:b",
    "file:///a b",
    "file:///ä",
    "file:///%4",
    "a:#b#c",
    "http://a]/",
    "http://[::1",
    "http://[::1]x/",
    "http://a:b/",
    "http://a@b@c/",
    "file:///{path}",
    "a:/b[c]",
    "a:b\n",
  ])("is not %j", (text) => expect(uri.test(text)).toBe(false));

  // The other one takes an authority that is wrong for a path, and does not take a scheme alone.
  test("is what another implementation takes for one", () => {
    fc.assert(
      fc.property(fc.constantFrom("x:a", "x:a/", "x://h/", "x://[::1]:8/"), texts, (start, rest) => {
        expect(uri.test(start + rest)).toBe(format.uri?.(start + rest));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("a URI template", () => {
  test.each(["", "file:///{path}", "http://{+host}/{a,b*,c:3}{?q,r*}{&s}{#f}", "é/{a.b}", "{%41}"])(
    "may be %s",
    (text) => expect(template.test(text)).toBe(true),
  );

  test.each(["{", "}", "{}", "{a", "{a,}", "{a b}", "{a:0}", "{a:12345}", "{.a..b}", "a b", "%zz", "%{a}41"])(
    "is not %j",
    (text) => expect(template.test(text)).toBe(false),
  );

  test("is what another implementation takes for one", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(template.test(text)).toBe(format["uri-template"]?.(text));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("base64", () => {
  test("is what an encoder writes", () => {
    fc.assert(
      fc.property(fc.base64String(), (text) => {
        expect(base64.test(text)).toBe(true);
      }),
    );
  });

  test.each(["A", "AA", "AAA", "A===", "AA==A", "AA=A", "A A=", "AA-_", "AA==\n"])("is not %j", (text) =>
    expect(base64.test(text)).toBe(false),
  );
});
