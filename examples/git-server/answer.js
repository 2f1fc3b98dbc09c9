import { RpcError } from "@parlance/mcp/server";
import { GitError } from "./git.js";
import { watchFor } from "./watch-for.js";

/** @import { Context } from "@parlance/mcp/server" */
/** @import { Repository } from "./git.js" */

/** The exit code of git when it gives up. Not a code of JSON-RPC: those are below zero. */
const gitFailed = 128;

/**
 * The result of a resource or a prompt. Unlike a tool these have no result that says how they failed, so that git's words are
 * an error of the protocol.
 *
 * @template Value
 * @param {Repository} repository
 * @param {Context} context
 * @param {(git: Repository) => Promise<Value>} ask
 */
export async function answer(repository, context, ask) {
  try {
    return await ask(repository.watched(watchFor(context)));
  } catch (error) {
    throw error instanceof GitError ? new RpcError(gitFailed, error.message, undefined, { cause: error }) : error;
  }
}
