/** @import { Context } from "@parlance/mcp/server" */

/** Progress is told once for as many bytes. */
const block = 64 * 1024;

/**
 * Git ends when the call is cancelled. Until then the client may follow what it does.
 *
 * @param {Context} context
 */
export function watchFor(context) {
  return {
    signal: context.signal,
    onStart: (/** @type {readonly string[]} */ args) => context.log("debug", `git ${args.join(" ")}`, "git"),
    // A change that was notified before is not sent again.
    onOutput: (/** @type {number} */ bytes) =>
      context.progress(Math.ceil(bytes / block), undefined, `${bytes} bytes from git`),
  };
}
