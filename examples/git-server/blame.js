import * as z from "zod";
import { Commit, commitOf } from "./commits.js";

/** @import { Output } from "./git.js" */

/** The result of `git_blame`. */
export const Blame = z.object({
  lines: z.array(z.object({ line: z.int().describe("Counted from 1"), commit: z.string(), text: z.string() })),
  commits: z.array(Commit).describe("Those that the lines come from"),
  note: z.string().optional().describe("There if the answer is cut: how to get the rest"),
});

/** https://git-scm.com/docs/git-blame#_the_porcelain_format */
export const blameFormat = ["--porcelain", "--no-textconv"];

/** @param {Output} output */
export function parseBlame({ text }) {
  const lines = [];
  /** @type {Map<string, z.infer<typeof Commit>>} */
  const commits = new Map();
  /** @type {Map<string, string>} */
  const details = new Map();
  let hash = "";
  let line = 0;
  // Behind the last line end there is nothing, or what a cut has left of a line.
  for (const row of text.split("\n").slice(0, -1)) {
    const [key = "", ...words] = row.split(" ");
    if (row.startsWith("\t")) {
      lines.push({ line, commit: hash, text: row.slice(1) });
      // Only before its first line does a commit have its details.
      if (!commits.has(hash)) commits.set(hash, commitFrom(hash, details));
    } else if (/^[0-9a-f]{40,}$/.test(key)) {
      hash = key;
      line = Number(words[1]);
      details.clear();
    } else details.set(key, words.join(" "));
  }
  return { lines, commits: [...commits.values()] };
}

/**
 * @param {string} hash
 * @param {ReadonlyMap<string, string>} details
 */
function commitFrom(hash, details) {
  const email = details.get("author-mail")?.slice(1, -1);
  return commitOf([hash, details.get("author"), email, details.get("author-time"), details.get("summary")]);
}
