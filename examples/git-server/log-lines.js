/** @import { Repository } from "./git.js" */

/**
 * The last commits of HEAD, one on each line, newest first.
 *
 * @param {Repository} git
 * @param {number} most
 */
export async function logLines(git, most) {
  // A new repository has no HEAD: that is an empty list, not a fault.
  const scope = ["--ignore-missing", "HEAD", "--"];
  const { text } = await git.run(["log", `--max-count=${most}`, "--format=%h %as %aN: %s", ...scope]);
  return text;
}
