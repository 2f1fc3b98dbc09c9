import * as z from "zod";
import { GitError } from "./git.js";

/** @import { Output } from "./git.js" */

const count = z.int().min(0);

/** The changes between two states, as `git_diff` returns them. */
export const Changes = z.object({
  filesChanged: count,
  insertions: count.describe("Lines"),
  deletions: count.describe("Lines"),
  files: z.array(
    z.object({
      path: z.string(),
      from: z.string().optional().describe("The path before it was renamed"),
      change: z.string().describe("modified, added, deleted, renamed, type changed or unmerged"),
      insertions: count,
      deletions: count,
      binary: z.boolean().optional().describe("Then lines are not counted"),
    }),
  ),
  patch: z.string(),
  note: z.string().optional().describe("There if something is missing or needs a word"),
});

/** The patch, without the programs that the configuration names. */
export const patchFormat = [
  "--patch",
  ...["--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/"],
  ...["--find-renames", "--submodule=short", "--ignore-submodules=dirty"],
];

/**
 * The list of files and their counts of lines, and behind these the patch.
 * https://git-scm.com/docs/git-diff#_raw_output_format
 */
export const changesFormat = ["--raw", "--numstat", "-z", ...patchFormat];

const changes = new Map([
  ["M", "modified"],
  ["T", "type changed"],
  ["A", "added"],
  ["D", "deleted"],
  ["R", "renamed"],
  ["U", "unmerged"],
]);

/**
 * @param {Output} output
 * @returns {z.infer<typeof Changes>}
 * @throws {GitError} for more files than can be listed
 */
export function parseChanges({ text, cut }) {
  // Without a change git prints nothing, not even the empty field that ends its lists.
  const fields = new Fields(text || "\0");
  const states = readStates(fields);
  const counted = readCounts(fields).map((file) => ({ ...file, change: states.get(file.path) ?? "modified" }));
  // A line that the cut has shortened is left out.
  const patch = cut ? fields.rest.slice(0, fields.rest.lastIndexOf("\n") + 1) : fields.rest;
  const lines = new Set(patch.split("\n"));
  const files = counted.filter((file) => cut || isChanged(file, lines));
  return {
    filesChanged: files.length,
    insertions: files.reduce((sum, file) => sum + file.insertions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    files,
    patch,
  };
}

/**
 * As git may not write to the index that it has seen a new time stamp, it lists the file. Of a text it counts nothing
 * then, but a binary file only gives itself away by not being in the patch.
 *
 * @param {{ path: string, change: string, binary?: boolean }} file
 * @param {ReadonlySet<string>} lines
 */
function isChanged({ path, change, binary }, lines) {
  if (change !== "modified" || binary !== true) return true;
  return lines.has(`diff --git ${quoted(`a/${path}`)} ${quoted(`b/${path}`)}`);
}

/**
 * A name in a patch: in quotes if it must be.
 *
 * @param {string} name
 */
function quoted(name) {
  const json = JSON.stringify(name);
  return json === `"${name}"` ? name : json;
}

/** @param {Fields} fields */
function readStates(fields) {
  /** @type {Map<string, string | undefined>} */
  const states = new Map();
  while (fields.startWith(":")) {
    const [letter = ""] = fields.next().split(" ").at(-1) ?? "";
    if (letter === "R") fields.next();
    const path = fields.next();
    // A file with a conflict comes twice: as unmerged, and as modified.
    if (!states.has(path)) states.set(path, changes.get(letter));
  }
  return states;
}

/** @param {Fields} fields */
function readCounts(fields) {
  const files = new Map();
  for (let field = fields.next(); field !== ""; field = fields.next()) {
    const [insertions, deletions, ...words] = field.split("\t");
    const name = words.join("\t");
    // Two names have fields of their own.
    const from = name === "" ? fields.next() : undefined;
    const path = name === "" ? fields.next() : name;
    const counts =
      insertions === "-"
        ? { insertions: 0, deletions: 0, binary: true }
        : { insertions: Number(insertions), deletions: Number(deletions) };
    files.set(path, { path, from, ...counts });
  }
  return [...files.values()];
}

/** Fields that end with NUL, at the beginning of a text. */
class Fields {
  #text;
  #at = 0;

  /** @param {string} text */
  constructor(text) {
    this.#text = text;
  }

  /** The text after the fields that were taken. */
  get rest() {
    return this.#text.slice(this.#at);
  }

  /** @param {string} character */
  startWith(character) {
    return this.#text[this.#at] === character;
  }

  next() {
    const end = this.#text.indexOf("\0", this.#at);
    if (end === -1) throw new GitError("More files have changed than can be listed: ask again with a path");
    const field = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return field;
  }
}
