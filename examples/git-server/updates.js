import { logUri, stagedUri } from "./resources.js";
import { Watcher } from "./watcher.js";

/** @import { Server } from "@parlance/mcp/server" */
/** @import { Repository } from "./git.js" */

/**
 * The git commands that detect a change of a resource: their output is shorter than the resource, and changes with it.
 *
 * @type {ReadonlyMap<string, readonly string[]>}
 */
const questions = new Map([
  [stagedUri, ["diff", "--cached", "--raw", "--no-abbrev", "--no-renames"]],
  [logUri, ["rev-parse", "--verify", "HEAD"]],
]);

/** How a client subscribes, in either era. */
const subscribing = new Set(["resources/subscribe", "subscriptions/listen"]);

/**
 * Tells subscribers when a resource has changed, whoever has changed it. Nothing is watched until somebody subscribes.
 *
 * @param {Server} server
 * @param {Repository} repository
 * @returns {Watcher} to be stopped
 */
export function addUpdates(server, repository) {
  const watcher = new Watcher(repository, questions, (uri) => server.changed.resource(uri));
  server.use((next) => (method, params, operation) => {
    if (!subscribing.has(method)) return next(method, params, operation);
    // First this, so that a client hears of all that changes after it has been told that it is subscribed.
    return watcher.start().then(() => next(method, params, operation));
  });
  return watcher;
}
