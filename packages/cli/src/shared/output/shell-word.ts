import { hiddenCharacters } from "./json-lines.js";

/** The controls below a space too; a line break in quotes is one, and a tab shows. */
const hiddenInShell = new RegExp(`[\\0-\\u0008\\u000b-\\u001f${hiddenCharacters}]+`, "gu");

/**
 * A text, or the bytes of one, as one word of a POSIX shell that stands for the same bytes. What cannot be seen is written by
 * `printf` in octal digits, because `$'…'` is not known to every shell that is called `sh`.
 */
export function shellWord(text: string | Uint8Array): string {
  const bytes = Buffer.from(text);
  const decoded = bytes.toString();
  if (!bytes.equals(Buffer.from(decoded))) return quotedWord(bytes.toString("latin1"), /[^\n -~]+/g, "latin1");
  return quotedWord(decoded, hiddenInShell, "utf8");
}

function quotedWord(text: string, escapedPart: RegExp, encoding: "utf8" | "latin1"): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  const quoted = `'${text.replaceAll("'", `'\\''`)}'`;
  const word = quoted.replace(escapedPart, (part) => {
    const octal = [...Buffer.from(part, encoding)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`);
    return `'"$(printf '${octal.join("")}')"'`;
  });
  return word.replace(/^''(?=")/, "").replace(/(?<=")''$/, "");
}
