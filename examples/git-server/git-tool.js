import { ToolError } from "@parlance/mcp/server";
import { GitError } from "./git.js";

/** @import { Context, Server, ToolDefinition, ToolHandler } from "@parlance/mcp/server" */
/** @import { ZodType } from "zod" */
/** @import { Repository } from "./git.js" */

/** No tool changes anything, or reaches anything outside of the repository. */
const annotations = { readOnlyHint: true, openWorldHint: false };

/**
 * A tool that asks git, to be added to a server.
 *
 * @template {ZodType} Input
 * @template {ZodType} Output
 * @param {string} name
 * @param {ToolDefinition<Input, Output>} definition
 * @param {(args: Parameters<ToolHandler<Input, Output>>[0], git: Repository) =>
 *   ReturnType<ToolHandler<Input, Output>>} handler
 */
export function gitTool(name, definition, handler) {
  return (/** @type {Server} */ server, /** @type {Repository} */ repository) =>
    server.tool(name, { ...definition, annotations }, async (args, context) => {
      try {
        return await handler(args, repository.watched(watchFor(context)));
      } catch (error) {
        // The model reads what git says, and can ask again in another way.
        throw error instanceof GitError ? new ToolError(error.message, { cause: error }) : error;
      }
    });
}

/** Progress is told once for as many bytes. */
const block = 64 * 1024;

/**
 * Git ends when the call is cancelled. Until then the client may follow what it does.
 *
 * @param {Context} context
 */
function watchFor(context) {
  return {
    signal: context.signal,
    onStart: (/** @type {readonly string[]} */ args) => context.log("debug", `git ${args.join(" ")}`, "git"),
    // What is no more than was told before does not go out.
    onOutput: (/** @type {number} */ bytes) =>
      context.progress(Math.ceil(bytes / block), undefined, `${bytes} bytes from git`),
  };
}
