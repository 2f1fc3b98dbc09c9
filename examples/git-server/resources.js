import { answer } from "./answer.js";
import { completePath, readFile } from "./files.js";
import { logLines } from "./log-lines.js";
import { stagedPatch } from "./patches.js";
import { completeRef } from "./refs.js";

/** @import { Server } from "@parlance/mcp/server" */
/** @import { Repository } from "./git.js" */

export const stagedUri = "git:/diff/staged";
export const logUri = "git:/log";

/**
 * @param {Server} server
 * @param {Repository} repository
 */
export function addResources(server, repository) {
  server.resource(
    stagedUri,
    {
      name: "staged",
      title: "Staged changes",
      description: "What the next commit would change, as a patch",
      mimeType: "text/x-diff",
    },
    (_uri, context) => answer(repository, context, stagedPatch),
  );

  server.resource(
    logUri,
    {
      name: "log",
      title: "History",
      description: "The last 100 commits of HEAD, newest first",
      mimeType: "text/plain",
    },
    (_uri, context) => answer(repository, context, (git) => logLines(git, 100)),
  );

  server.resourceTemplate(
    // The names of branches have slashes, and so have paths: only one of the two can stand in the path of the URI.
    "git:/files/{+path}{?ref}",
    {
      name: "file",
      title: "File",
      description: "A file as it was committed: at a branch, a tag or a commit, or else at HEAD",
      complete: {
        path: (typed, { ref = "HEAD" }, context) => answer(repository, context, (git) => completePath(git, typed, ref)),
        ref: (typed, _settled, context) => answer(repository, context, (git) => completeRef(git, typed)),
      },
    },
    ({ path, ref = "HEAD" }, context) => answer(repository, context, (git) => readFile(git, path, ref)),
  );
}
