/** Every request of every revision. Which side may send it, and in which revision, is said in `revisions`. */
export const methods = {
  initialize: "initialize",
  ping: "ping",
  discover: "server/discover",
  listTools: "tools/list",
  callTool: "tools/call",
  listResources: "resources/list",
  listResourceTemplates: "resources/templates/list",
  readResource: "resources/read",
  subscribe: "resources/subscribe",
  unsubscribe: "resources/unsubscribe",
  listPrompts: "prompts/list",
  getPrompt: "prompts/get",
  complete: "completion/complete",
  setLevel: "logging/setLevel",
  listen: "subscriptions/listen",
  createMessage: "sampling/createMessage",
  listRoots: "roots/list",
  elicit: "elicitation/create",
  getTask: "tasks/get",
  taskResult: "tasks/result",
  listTasks: "tasks/list",
  cancelTask: "tasks/cancel",
} as const;

/**
 * The requests whose results say how long they may be kept, and for whom.
 * https://modelcontextprotocol.io/specification/latest/server/utilities/caching
 */
export const cacheable: ReadonlySet<string> = new Set([
  methods.discover,
  methods.listTools,
  methods.listPrompts,
  methods.listResources,
  methods.listResourceTemplates,
  methods.readResource,
]);

/** Every notification of every revision. */
export const notifications = {
  initialized: "notifications/initialized",
  cancelled: "notifications/cancelled",
  progress: "notifications/progress",
  message: "notifications/message",
  resourceUpdated: "notifications/resources/updated",
  resourcesChanged: "notifications/resources/list_changed",
  toolsChanged: "notifications/tools/list_changed",
  promptsChanged: "notifications/prompts/list_changed",
  rootsChanged: "notifications/roots/list_changed",
  elicitationComplete: "notifications/elicitation/complete",
  taskStatus: "notifications/tasks/status",
  acknowledged: "notifications/subscriptions/acknowledged",
} as const;

const all: ReadonlySet<string> = new Set(Object.values(methods));

/** Whether some revision has the request. What none has belongs to an extension, or to nobody. */
export function isProtocolMethod(name: string): name is Method {
  return all.has(name);
}

const allNotifications: ReadonlySet<string> = new Set(Object.values(notifications));

/** The same for a notification. */
export function isProtocolNotification(name: string): name is NotificationMethod {
  return allNotifications.has(name);
}

/** The name of a request. */
export type Method = (typeof methods)[keyof typeof methods];

/** The name of a notification. */
export type NotificationMethod = (typeof notifications)[keyof typeof notifications];
