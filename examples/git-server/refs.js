/** @import { Repository } from "./git.js" */

/**
 * The branches and tags that begin with what is typed, the ones with the newest commits first.
 *
 * @param {Repository} git
 * @param {string} typed
 */
export async function completeRef(git, typed) {
  const { text } = await git.run([
    ...["for-each-ref", "--format=%(refname:strip=2)", "--sort=-creatordate"],
    ...["refs/heads", "refs/tags", "refs/remotes"],
  ]);
  return ["HEAD", ...text.split("\n")].filter((name) => name !== "" && name.startsWith(typed));
}
