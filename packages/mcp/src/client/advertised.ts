import { LocalError } from "../jsonrpc/errors.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import { isAdvertised, methodCapabilities } from "../protocol/method-capabilities.js";
import { isProtocolMethod, methods } from "../protocol/methods.js";
import type { Revision } from "../protocol/revisions/revision.js";
import { changingLists, type SubscriptionFilter } from "../protocol/types/subscriptions.js";
import type { ServerDescription, SessionCall, SessionCallOptions } from "./session/client-session.js";

/** What a client may count on: the revision that is spoken, and what the server has advertised. */
export interface AdvertisedServer {
  readonly revision: Revision;
  readonly server: ServerDescription;
}

/** Whether somebody insists on what is not advertised. */
type UnadvertisedOption = Pick<SessionCallOptions, "unadvertised">;

/** The capabilities that the members of a subscription need. */
const followable = [
  ...changingLists.map(({ member, capability }) => [member, capability] as const),
  ["resourceSubscriptions", "resources.subscribe"] as const,
];

/**
 * Calls only what the revision has and, unless the caller insists, the server has advertised. A method that the protocol does not
 * know is anybody's.
 * @param lenient calls what is not advertised in any case
 */
export function advertisedCall(call: SessionCall, offer: AdvertisedServer, lenient: boolean): SessionCall {
  return async (method, params, { unadvertised = lenient, ...options } = {}) => {
    requireOffered(method, offer, unadvertised);
    return call(method, params, options);
  };
}

/** @throws LocalError `refused` for a request that the revision does not have, or naming the capability that is missing */
function requireOffered(method: string, { revision, server }: AdvertisedServer, isInsistent: boolean): void {
  if (isProtocolMethod(method) && !revision.requests.client.has(method)) {
    throw new LocalError("refused", `${method}: revision ${revision.version} has no such request of a client`);
  }
  if (isInsistent) return;
  // Before it was a capability, completion was there or not.
  const isUndeclared = method === methods.complete && !revision.facts.completionsCapability;
  const path = isUndeclared ? undefined : methodCapabilities.get(method);
  if (path !== undefined) requireAdvertised(method, path, server.capabilities);
}

/** @throws LocalError `refused` naming the capability */
export function requireAdvertised(what: string, path: string, capabilities: ServerCapabilities): void {
  if (isAdvertised(path, capabilities)) return;
  const remedy = "{ unadvertised: true } asks for it all the same";
  throw new LocalError("refused", `${what}: the server has not advertised the capability ${path}; ${remedy}`);
}

const toolTasks = "tasks.requests.tools.call";

/** Whether calls of tools can be asked to run as tasks. */
export function supportsTasks({ revision, server }: AdvertisedServer): boolean {
  return revision.facts.tasks === "core" && isAdvertised(toolTasks, server.capabilities);
}

/** @throws LocalError `refused` where calls of tools cannot run as tasks */
export function requireTasks({ revision, server }: AdvertisedServer, { unadvertised }: UnadvertisedOption): void {
  if (revision.facts.tasks !== "core") {
    throw new LocalError("refused", `${methods.callTool}: revision ${revision.version} has no tasks`);
  }
  if (unadvertised !== true) requireAdvertised(`${methods.callTool} as a task`, toolTasks, server.capabilities);
}

/** Everything that a server tells of: the changes of its lists. @throws LocalError `refused` if that is nothing */
export function everyList({ server }: AdvertisedServer, { unadvertised }: UnadvertisedOption): SubscriptionFilter {
  const lists = changingLists.filter(
    ({ capability }) => unadvertised === true || isAdvertised(capability, server.capabilities),
  );
  if (lists.length > 0) return Object.fromEntries(lists.map(({ member }) => [member, true]));
  throw new LocalError("refused", "subscribe: the server has advertised no listChanged, so it tells of no list");
}

/** @throws LocalError `refused` naming the capability */
export function requireSubscribable(
  filter: SubscriptionFilter,
  { server }: AdvertisedServer,
  { unadvertised }: UnadvertisedOption,
): void {
  if (unadvertised === true) return;
  for (const [member, path] of followable) {
    const wanted = filter[member];
    const isWanted = wanted === true || (Array.isArray(wanted) && wanted.length > 0);
    if (isWanted) requireAdvertised(`subscribe to ${member}`, path, server.capabilities);
  }
}
