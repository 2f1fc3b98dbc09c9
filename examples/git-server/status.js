import * as z from "zod";

/** @import { Output } from "./git.js" */

/** The result of `git_status`. */
export const Status = z.object({
  branch: z.string().nullable().describe("null when HEAD is detached"),
  commit: z.string().nullable().describe("null before the first commit"),
  upstream: z.string().optional(),
  ahead: z.int().optional().describe("How many commits upstream does not have"),
  behind: z.int().optional().describe("How many commits only upstream has"),
  files: z
    .array(
      z.object({
        path: z.string(),
        from: z.string().optional().describe("The path before it was renamed"),
        staged: z.string().optional().describe("What differs in the index: modified, added, deleted, renamed …"),
        unstaged: z.string().optional().describe("What differs in the working tree only: modified, untracked …"),
        conflict: z.string().optional().describe("What a merge left open: both modified, deleted by us …"),
      }),
    )
    .describe("Every file that differs from the last commit. An untracked folder is one entry and ends with /"),
  note: z.string().optional().describe("There if the answer is cut: how to get the rest"),
});

/** https://git-scm.com/docs/git-status#_porcelain_format_version_2 */
export const statusFormat = [
  ...["--porcelain=v2", "-z", "--branch", "--ahead-behind"],
  ...["--find-renames", "--untracked-files=normal", "--ignore-submodules=dirty"],
];

const changes = new Map([
  ["M", "modified"],
  ["T", "type changed"],
  ["A", "added"],
  ["D", "deleted"],
  ["R", "renamed"],
  ["C", "copied"],
]);

const conflicts = new Map([
  ["DD", "both deleted"],
  ["AU", "added by us"],
  ["UD", "deleted by them"],
  ["UA", "added by them"],
  ["DU", "deleted by us"],
  ["AA", "both added"],
  ["UU", "both modified"],
]);

/** @type {Readonly<Record<string, (...words: string[]) => object>>} */
const headers = {
  "branch.oid": (hash) => ({ commit: hash === "(initial)" ? null : hash }),
  "branch.head": (branch) => ({ branch: branch === "(detached)" ? null : branch }),
  "branch.upstream": (upstream) => ({ upstream }),
  "branch.ab": (ahead, behind) => ({ ahead: Number(ahead), behind: -Number(behind) }),
};

/** How many words each kind of entry has before the path, in which there may be spaces. */
const wordsBeforePath = new Map([
  ["1", 8],
  ["2", 9],
  ["u", 10],
  ["?", 1],
]);

/** @param {Output} output */
export function parseStatus({ text }) {
  /** @type {z.infer<typeof Status>} */
  const status = { branch: null, commit: null, files: [] };
  // Behind the last NUL there is nothing, or what a cut has left of an entry.
  const entries = text.split("\0").slice(0, -1).values();
  for (const entry of entries) {
    const [kind = "", state = "", ...words] = entry.split(" ");
    if (kind === "#") Object.assign(status, headers[state]?.(...words));
    else {
      const path = entry.split(" ").slice(wordsBeforePath.get(kind)).join(" ");
      const from = kind === "2" ? entries.next().value : undefined;
      status.files.push({ path, from, ...differences(kind, state) });
    }
  }
  return status;
}

/**
 * @param {string} kind
 * @param {string} state two letters
 */
function differences(kind, state) {
  if (kind === "?") return { unstaged: "untracked" };
  if (kind === "u") return { conflict: conflicts.get(state) };
  const [staged = "", unstaged = ""] = state;
  return { staged: changes.get(staged), unstaged: changes.get(unstaged) };
}
