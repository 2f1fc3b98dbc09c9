import { ToolError } from "@parlance/mcp/server";
import { GitError } from "./git.js";
import { watchFor } from "./watch-for.js";

/** @import { Server, ToolDefinition, ToolHandler } from "@parlance/mcp/server" */
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
