/** Longer than any URI that a person or a program writes on purpose, and short enough to look at more than once. */
const maxLength = 8_192;

/**
 * A scheme, followed by no character that a URI must escape. Letters of any script are allowed, because some clients do not
 * escape them.
 */
const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{Cc}\p{Cs}]*$/u;

/**
 * The fault of a URI of a resource, in words; undefined for a valid one.
 * https://www.rfc-editor.org/rfc/rfc3986
 */
export function uriFault(value: string): string | undefined {
  if (value.length > maxLength) return `must be at most ${maxLength} characters, got ${value.length}`;
  return uri.test(value) ? undefined : "must be a URI: a scheme, a colon, and no spaces or control characters";
}

/**
 * The fault of a URI that is sent. Unlike in a received one, every character must be allowed in URIs.
 * https://www.rfc-editor.org/rfc/rfc3986#section-2
 */
export function ownUriFault(value: string): string | undefined {
  const fault = uriFault(value);
  const escaped = escapedUri(value);
  if (fault !== undefined || escaped === value) return fault;
  if (value.includes("{")) return "must be a URI, not a template: server.resourceTemplate adds one";
  return `must be written ${JSON.stringify(escaped)}`;
}

const toEscape = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]|%(?![\dA-Fa-f]{2})/gu;

/**
 * A URI in which every character is escaped that must be: what has been made of a name, or was sent by a client that does not escape.
 * A lone surrogate becomes U+FFFD.
 *
 * @example
 * escapedUri("notes:///my list"); // "notes:///my%20list"
 */
export function escapedUri(text: string): string {
  return text.replace(toEscape, (character) => encodeURIComponent(character.replace(/\p{Cs}/u, "\u{FFFD}")));
}

const encoded = /%[0-9A-Fa-f]{2}/g;
const unreserved = /[A-Za-z0-9._~-]/;

/**
 * A URI in which characters that need no escape have none, and escapes have large letters: two spellings of a URI become one.
 * https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2
 */
export function normalUri(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(encoded, (written) => {
    const character = String.fromCharCode(Number.parseInt(written.slice(1), 16));
    return unreserved.test(character) ? character : written.toUpperCase();
  });
}
