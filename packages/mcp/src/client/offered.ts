import { LocalError } from "../jsonrpc/errors.js";
import type { OpenedCall, ServerDescription } from "../lifecycle/opened.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import { isAdvertised, methodCapabilities } from "../protocol/method-capabilities.js";
import { isProtocolMethod, methods } from "../protocol/methods.js";
import type { SubscriptionFilter } from "../protocol/subscriptions.js";
import type { Revision } from "../revisions/revision.js";

/** What a client may count on: the revision that is spoken, and what the server has advertised. */
export interface Offer {
  readonly revision: Revision;
  readonly server: ServerDescription;
}

/** The capabilities that the members of a subscription need. */
const followable = [
  ["toolsListChanged", "tools.listChanged"],
  ["promptsListChanged", "prompts.listChanged"],
  ["resourcesListChanged", "resources.listChanged"],
  ["resourceSubscriptions", "resources.subscribe"],
] as const;

/** Calls only what the revision has and the server has advertised. A method that the protocol does not know is anybody's. */
export function offeredCall(call: OpenedCall, offer: Offer): OpenedCall {
  return async (method, params, options) => {
    requireOffered(method, offer);
    return call(method, params, options);
  };
}

/** @throws LocalError `refused` for a request that the revision does not have, or naming the capability that is missing */
function requireOffered(method: string, { revision, server }: Offer): void {
  if (isProtocolMethod(method) && !revision.requests.client.has(method)) {
    throw new LocalError("refused", `${method}: revision ${revision.version} has no such request of a client`);
  }
  // Before it was a capability, completion was there or not.
  const isUndeclared = method === methods.complete && !revision.facts.completionsCapability;
  const path = isUndeclared ? undefined : methodCapabilities.get(method);
  if (path !== undefined) requireAdvertised(method, path, server.capabilities);
}

/** @throws LocalError `refused` naming the capability */
export function requireAdvertised(what: string, path: string, capabilities: ServerCapabilities): void {
  if (isAdvertised(path, capabilities)) return;
  throw new LocalError("refused", `${what}: the server has not advertised the capability ${path}`);
}

const toolTasks = "tasks.requests.tools.call";

/** Whether calls of tools can be asked to run as tasks. */
export function runsTasks({ revision, server }: Offer): boolean {
  return revision.facts.tasks === "core" && isAdvertised(toolTasks, server.capabilities);
}

/** @throws LocalError `refused` where calls of tools cannot run as tasks */
export function requireTasks({ revision, server }: Offer): void {
  if (revision.facts.tasks !== "core") {
    throw new LocalError("refused", `${methods.callTool}: revision ${revision.version} has no tasks`);
  }
  requireAdvertised(`${methods.callTool} as a task`, toolTasks, server.capabilities);
}

/** Everything that a server tells of: the changes of its lists. @throws LocalError `refused` if that is nothing */
export function everyList({ server }: Offer): SubscriptionFilter {
  const lists = followable.filter(
    ([member, path]) => member !== "resourceSubscriptions" && isAdvertised(path, server.capabilities),
  );
  if (lists.length > 0) return Object.fromEntries(lists.map(([member]) => [member, true]));
  throw new LocalError("refused", "subscribe: the server has advertised no listChanged, so it tells of no list");
}

/** @throws LocalError `refused` naming the capability */
export function requireFollowable(filter: SubscriptionFilter, { server }: Offer): void {
  for (const [member, path] of followable) {
    const wanted = filter[member];
    const isWanted = wanted === true || (Array.isArray(wanted) && wanted.length > 0);
    if (isWanted) requireAdvertised(`subscribe to ${member}`, path, server.capabilities);
  }
}
