import * as z from "zod";

/** @import { Output } from "./git.js" */

/** One commit of a list. */
export const Commit = z.object({
  hash: z.string(),
  author: z.string(),
  email: z.string(),
  date: z.string().describe("When it was written: ISO 8601, UTC"),
  subject: z.string().describe("What its message begins with"),
});

/** The result of `git_log`. */
export const Log = z.object({
  commits: z.array(Commit).describe("Newest first"),
  more: z.boolean().describe("Whether there are older ones, to be had with skip"),
});

/** One commit, in full. */
export const WholeCommit = Commit.extend({
  parents: z.array(z.string()).describe("A merge has more than one"),
  message: z.string(),
});

/** https://git-scm.com/docs/pretty-formats */
export const logFormat = ["-z", "--format=%H%x00%aN%x00%aE%x00%at%x00%s"];
export const commitFormat = ["-z", "--format=%H%x00%aN%x00%aE%x00%at%x00%s%x00%P%x00%B"];
const fieldsOfCommit = 5;

/** @param {Output} output */
export function parseLog({ text }) {
  // Behind the last NUL there is nothing, or what a cut has left of a field.
  const fields = text.split("\0").slice(0, -1);
  const commits = [];
  while (fields.length >= fieldsOfCommit) commits.push(commitOf(fields.splice(0, fieldsOfCommit)));
  return commits;
}

/** @param {Output} output */
export function parseCommit({ text }) {
  const fields = text.split("\0");
  const [parents = "", message = ""] = fields.slice(fieldsOfCommit);
  return { ...commitOf(fields), parents: parents.split(" ").filter(Boolean), message: message.trimEnd() };
}

/**
 * @param {readonly (string | undefined)[]} fields
 * @returns {z.infer<typeof Commit>}
 */
export function commitOf([hash = "", author = "", email = "", seconds = "", subject = ""]) {
  // A commit may say any number of seconds, and git passes it on.
  const date = new Date(Number(seconds) * 1_000);
  return { hash, author, email, date: Number.isNaN(date.getTime()) ? "unknown" : date.toISOString(), subject };
}
