import { LocalError } from "../jsonrpc/errors.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import { isAdvertised, methodCapabilities } from "../protocol/method-capabilities.js";
import { methods } from "../protocol/methods.js";
import { isProtocolMethod } from "../protocol/revisions/all.js";
import { changingLists, filterOf, type SubscriptionFilter } from "../protocol/types/subscriptions.js";
import type { ClientSession, SessionCall, SessionCallOptions } from "./session/client-session.js";

type UnadvertisedOption = Pick<SessionCallOptions, "unadvertised">;

/** The capability that each member of a subscription filter requires. */
const followable = [
  ...changingLists.map(({ member, capability }) => [member, capability] as const),
  ["resourceSubscriptions", "resources.subscribe"] as const,
];

/**
 * Rejects calls of protocol methods that the revision does not have or, unless `unadvertised` is set, that the server has not
 * advertised. Methods of extensions are not checked.
 * @param lenient the default of `unadvertised`
 */
export function advertisedCall(call: SessionCall, session: ClientSession, lenient: boolean): SessionCall {
  return async (method, params, { unadvertised = lenient, ...options } = {}) => {
    requireOffered(method, session, unadvertised);
    return call(method, params, options);
  };
}

/** @throws LocalError `refused` for a request that the revision does not have, or naming the missing capability */
function requireOffered(method: string, { revision, server }: ClientSession, unadvertised: boolean): void {
  if (isProtocolMethod(method) && !revision.requests.client.has(method)) {
    throw new LocalError("refused", `${method}: revision ${revision.version} has no such request of a client`);
  }
  if (unadvertised) return;
  // Early revisions have no `completions` capability.
  const isUndeclared = method === methods.complete && !revision.facts.completionsCapability;
  const path = isUndeclared ? undefined : methodCapabilities.get(method);
  if (path !== undefined) requireAdvertised(method, path, server.capabilities);
}

/** @throws LocalError `refused` naming the capability */
export function requireAdvertised(what: string, path: string, capabilities: ServerCapabilities): void {
  if (isAdvertised(path, capabilities)) return;
  const remedy = "{ unadvertised: true } sends it anyway";
  throw new LocalError("refused", `${what}: the server has not advertised the capability ${path}; ${remedy}`);
}

const toolTasks = "tasks.requests.tools.call";

/** Whether tools can run as tasks. */
export function supportsTasks({ revision, server }: ClientSession): boolean {
  return revision.facts.tasks === "core" && isAdvertised(toolTasks, server.capabilities);
}

/** @throws LocalError `refused` if tools cannot run as tasks */
export function requireTasks({ revision, server }: ClientSession, { unadvertised }: UnadvertisedOption): void {
  if (revision.facts.tasks !== "core") {
    throw new LocalError("refused", `${methods.callTool}: revision ${revision.version} has no tasks`);
  }
  if (unadvertised !== true) requireAdvertised(`${methods.callTool} as a task`, toolTasks, server.capabilities);
}

/** A filter with every list that the server notifies changes of. @throws LocalError `refused` if there is none */
export function everyList({ server }: ClientSession, { unadvertised }: UnadvertisedOption): SubscriptionFilter {
  const lists = filterOf(({ capability }) => unadvertised === true || isAdvertised(capability, server.capabilities));
  if (Object.keys(lists).length > 0) return lists;
  throw new LocalError("refused", "subscribe: the server has advertised listChanged for no list");
}

/** @throws LocalError `refused` naming the capability */
export function requireSubscribable(
  filter: SubscriptionFilter,
  { server }: ClientSession,
  { unadvertised }: UnadvertisedOption,
): void {
  if (unadvertised === true) return;
  for (const [member, path] of followable) {
    const wanted = filter[member];
    const isWanted = wanted === true || (Array.isArray(wanted) && wanted.length > 0);
    if (isWanted) requireAdvertised(`subscribe to ${member}`, path, server.capabilities);
  }
}
