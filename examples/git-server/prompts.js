import { invalidParams } from "@parlance/mcp/server";
import { answer } from "./answer.js";
import { isRevision, UnknownRevision } from "./git.js";
import { logLines } from "./log-lines.js";
import { commitPatch, stagedPatch } from "./patches.js";
import { completeRef } from "./refs.js";
import { stagedUri } from "./resources.js";

/** @import { Server } from "@parlance/mcp/server" */
/** @import { Repository } from "./git.js" */

// Prompts are for people: a host shows them as commands. What they are about goes along, so that no tool is needed.

/**
 * @param {Server} server
 * @param {Repository} repository
 */
export function addPrompts(server, repository) {
  server.prompt(
    "review",
    {
      title: "Review what is staged",
      description: "Looks for mistakes in the staged changes before they are committed",
      arguments: { focus: { description: "What matters most, such as security or speed" } },
    },
    ({ focus }, context) =>
      answer(repository, context, async (git) => [
        said(
          "Review the changes that I have staged. Name each mistake with its file and line, the worst first, and say how " +
            "to mend it. If there is none, say so; if the patch is empty, tell me that nothing is staged.",
        ),
        ...(focus === undefined ? [] : [said(`What matters most: ${focus}`)]),
        staged(await stagedPatch(git)),
      ]),
  );

  server.prompt(
    "commit_message",
    { title: "Write a commit message", description: "Words the staged changes in the style of the last commits" },
    (_none, context) =>
      answer(repository, context, async (git) => [
        said(
          "Write a message for a commit of the changes that I have staged: what they do and why, in the style of the last " +
            `commits of this repository. Reply with the message alone. The last commits:\n\n${await logLines(git, 20)}`,
        ),
        staged(await stagedPatch(git)),
      ]),
  );

  server.prompt(
    "explain_commit",
    {
      title: "Explain a commit",
      description: "Tells what a commit does and why, for somebody who is new to the repository",
      arguments: { ref: { description: "A branch, a tag or a hash. Default: HEAD" } },
      complete: {
        ref: (typed, _settled, context) => answer(repository, context, (git) => completeRef(git, typed)),
      },
    },
    ({ ref = "HEAD" }, context) =>
      answer(repository, context, async (git) => {
        const commit = await commitPatch(git, await hashOf(git, ref));
        return `Explain this commit to somebody who is new to the repository: what it does, and why.\n\n${commit}`;
      }),
  );
}

/**
 * @param {Repository} git
 * @param {string} ref
 */
async function hashOf(git, ref) {
  const place = { path: "/arguments/ref", message: "must name one commit, such as main, v1.0, 4f2a91c or HEAD~2" };
  if (!isRevision(ref)) throw invalidParams("Unknown commit", [place]);
  try {
    return await git.commit(ref);
  } catch (error) {
    throw error instanceof UnknownRevision ? invalidParams("Unknown commit", [place]) : error;
  }
}

/** @param {string} text */
function said(text) {
  return { role: /** @type {const} */ ("user"), content: { type: /** @type {const} */ ("text"), text } };
}

/** @param {string} text */
function staged(text) {
  const resource = { uri: stagedUri, mimeType: "text/x-diff", text };
  return { role: /** @type {const} */ ("user"), content: { type: /** @type {const} */ ("resource"), resource } };
}
