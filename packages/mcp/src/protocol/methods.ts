/** The requests of all revisions. The files in `revisions/` list which side may send them in which revision. */
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
 * The requests whose results have `ttlMs` and `cacheScope`.
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

/** The notifications of all revisions. */
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

/** The name of a request. */
export type Method = (typeof methods)[keyof typeof methods];

/** The name of a notification. */
export type NotificationMethod = (typeof notifications)[keyof typeof notifications];
