import { patchFormat } from "./changes.js";

/** @import { Repository } from "./git.js" */

/**
 * The changes of the next commit.
 *
 * @param {Repository} git
 */
export async function stagedPatch(git) {
  await git.requireWorkTree();
  return patch(git, ["diff", "--cached"], "git_diff with staged and a path");
}

/**
 * A commit with its message and what it has changed; a merge with what it has brought to its first parent.
 *
 * @param {Repository} git
 * @param {string} hash
 */
export function commitPatch(git, hash) {
  return patch(git, ["show", "--format=medium", "--root", "--diff-merges=first-parent", hash], "git_show with a path");
}

/**
 * @param {Repository} git
 * @param {readonly string[]} args
 * @param {string} tool how to see more than fits
 */
async function patch(git, [command = "", ...args], tool) {
  const { text, cut } = await git.run([command, ...patchFormat, ...args]);
  return cut ? `${text.slice(0, text.lastIndexOf("\n"))}\n[The patch is cut here: ${tool} shows the rest]\n` : text;
}
