import type { StringFormat } from "./shape.js";

// All expressions run in linear time without recursion, however long the string: only single character classes are
// repeated, and `%` is checked separately.

/** A string format: its name in words, and its test. */
export interface FormatRule {
  readonly expected: string;
  readonly test: (text: string) => boolean;
}

/** All string formats. */
export const stringFormats: Readonly<Record<StringFormat, FormatRule>> = {
  uri: { expected: "a URI", test: isUri },
  "uri-template": { expected: "a URI template", test: isUriTemplate },
  base64: { expected: "base64", test: isBase64 },
};

const scheme = /^[a-z][a-z\d+.-]*:/i;
const notInUris = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]|%(?![\da-f]{2})/i;
const authority = /^\/\/[^/?#]*/;
const host = /^(?:[^@[\]]*@)?(?:\[(?:[\da-f:.]+|v[\da-f]+\.[^@[\]]+)\]|[^@[\]:]*)(?::\d*)?$/i;
const notAfterAuthority = /[[\]]|#[^#]*#/;

/** The syntax of RFC 3986 §3. An IP literal in brackets is not parsed further. */
function isUri(text: string): boolean {
  const start = scheme.exec(text)?.[0];
  if (start === undefined || notInUris.test(text)) return false;
  const hierarchy = text.slice(start.length);
  const [peer = ""] = authority.exec(hierarchy) ?? [];
  return (peer === "" || host.test(peer.slice(2))) && !notAfterAuthority.test(hierarchy.slice(peer.length));
}

const expression = /\{([^{}]*)\}/g;
const notInLiterals = /[\p{Cc} "<>\\^`{|}]|%(?![\da-f]{2})/iu;
const operator = /^[+#./;?&=,!@|]/;
const modifier = /(?::[1-9]\d{0,3}|\*)$/;
const notInNames = /[^\w.%]|%(?![\da-f]{2})|^\.|\.\.|\.$|^$/i;

/** The syntax of RFC 6570 §2. */
function isUriTemplate(text: string): boolean {
  // Replace each expression with a dash, so that `%` before an expression is not joined with the text after it.
  if (notInLiterals.test(text.replaceAll(expression, "-"))) return false;
  for (const [, inner = ""] of text.matchAll(expression)) {
    if (!inner.replace(operator, "").split(",").every(isVariable)) return false;
  }
  return true;
}

function isVariable(specification: string): boolean {
  return !notInNames.test(specification.replace(modifier, ""));
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[a-z\d+/]*={0,2}$/i.test(text);
}
