import { latest, latestHandshake } from "@parlance/mcp";
import type { RpcNotification, RpcRequest } from "@parlance/mcp/jsonrpc";
import {
  type JsonObject,
  type Messages,
  type Method,
  messagesOf,
  methods,
  notifications,
} from "@parlance/mcp/protocol";
import { type Explanation, facts, spanText, specPage, versionsWhere, type WireExample } from "./explanation.js";

type NotificationMethod = (typeof notifications)[keyof typeof notifications];

/** Explains a request: its purpose, its senders by revision, and an example. */
export function explainRequest(method: Method): Explanation {
  const { says, needs, page, example, result } = requestNotes[method];
  const { byClient, byServer, version } = sendersOf("requests", method);
  const inside = versionsWhere(({ inputRequests }) => inputRequests.has(method));
  const from = byClient.includes(version) ? "client" : "server";
  const request: WireExample = { from, raw: JSON.stringify(example(messagesOf(version))) };
  const answer: WireExample = {
    from: from === "client" ? "server" : "client",
    raw: JSON.stringify({ jsonrpc: "2.0", id: 1, result }),
  };
  return {
    topic: "request",
    name: method,
    title: `a request of ${sides(byClient, byServer)}`,
    says,
    facts: facts({
      in: spans(byClient, byServer),
      inside: inside.length === 0 ? undefined : `${spanText(inside)}: sent in a result of type input_required instead`,
      needs,
      "at fault": "the sender, if the revision does not allow it: the error is −32601",
    }),
    wire: [request, answer],
    spec: [specPage(version, page)],
  };
}

/** Explains a notification in the same way. */
export function explainNotification(method: NotificationMethod): Explanation {
  const { says, needs, page, example } = notificationNotes[method];
  const { byClient, byServer, version } = sendersOf("notifications", method);
  const from = byClient.includes(version) ? "client" : "server";
  return {
    topic: "notification",
    name: method,
    title: `a notification of ${sides(byClient, byServer)}`,
    says,
    facts: facts({
      in: spans(byClient, byServer),
      needs,
      "at fault": "a sender that gives it an id, or a receiver that responds; an unknown notification is ignored",
    }),
    wire: [{ from, raw: JSON.stringify(example(messagesOf(version))) }],
    spec: [specPage(version, page)],
  };
}

interface Senders {
  readonly byClient: readonly string[];
  readonly byServer: readonly string[];
  /** The newest version with the message. */
  readonly version: string;
}

function sendersOf(kind: "requests" | "notifications", method: string): Senders {
  const byClient = versionsWhere((revision) => revision[kind].client.has(method));
  const byServer = versionsWhere((revision) => revision[kind].server.has(method));
  const version = [...byClient, ...byServer].toSorted().at(-1) ?? latest.version;
  return { byClient, byServer, version };
}

function sides(byClient: readonly string[], byServer: readonly string[]): string {
  if (byServer.length === 0) return "the client";
  return byClient.length === 0 ? "the server" : "either side";
}

function spans(byClient: readonly string[], byServer: readonly string[]): string {
  const [client, server] = [spanText(byClient), spanText(byServer)];
  if (byServer.length === 0 || client === server) return client;
  return byClient.length === 0 ? server : `${client} from the client, ${server} from the server`;
}

/** Notes on a message, besides the facts of the revisions. */
interface MessageNote<Message extends RpcRequest | RpcNotification> {
  /** One sentence. */
  readonly says: string;
  /** The capability that one side must have declared. */
  readonly needs?: string;
  /** The page of the specification, below its version. */
  readonly page: string;
  /** An example. */
  readonly example: (messages: Messages) => Message;
}

/** Notes on a request. */
interface RequestNote extends MessageNote<RpcRequest> {
  /** A result for the example. */
  readonly result: JsonObject;
}

/** The messages that need a capability, given as a path or as the last member of one: `tools.listChanged`, `listChanged`. */
export function messagesOfCapability(word: string): readonly string[] {
  const wanted = word.toLowerCase().replaceAll("_", "");
  return [...Object.entries(requestNotes), ...Object.entries(notificationNotes)].flatMap(([method, { needs = "" }]) => {
    const path = /^the capability ([\w.]+)/.exec(needs)?.[1]?.toLowerCase() ?? "";
    return path === wanted || path.endsWith(`.${wanted}`) ? [method] : [];
  });
}

const serverHas = (capability: string): string => `the capability ${capability} of the server`;
const clientHas = (capability: string): string => `the capability ${capability} of the client`;
const schema = { type: "object", properties: { a: { type: "number" } } };
const task = {
  taskId: "t-1",
  status: "working",
  createdAt: new Date(0).toISOString(),
  lastUpdatedAt: new Date(0).toISOString(),
  ttl: 60_000,
};

/** The requests, one by one. */
export const requestNotes: Readonly<Record<Method, RequestNote>> = {
  [methods.initialize]: {
    says: "Opens a conversation of the handshake era: the client requests a revision, the server responds with it or its own",
    page: "basic/lifecycle#initialization",
    example: (messages) =>
      messages.request(1, methods.initialize, {
        protocolVersion: messages.revision.version,
        capabilities: {},
        clientInfo: { name: "me", version: "1.0" },
      }),
    result: {
      protocolVersion: latestHandshake.version,
      capabilities: { tools: {} },
      serverInfo: { name: "calculator", version: "1.0" },
    },
  },
  [methods.ping]: {
    says: "Checks that the other side responds; either side may send it at any time, and the result is empty",
    page: "basic/utilities/ping",
    example: (messages) => messages.request(1, methods.ping),
    result: {},
  },
  [methods.discover]: {
    says: "Requests the revisions and capabilities of a server of the stateless era; no other request has to precede it",
    page: "server/discover",
    example: (messages) => messages.request(1, methods.discover),
    result: {
      resultType: "complete",
      supportedVersions: [latest.version],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: "public",
    },
  },
  [methods.listTools]: {
    says: "Lists the tools of a server, page by page",
    needs: serverHas("tools"),
    page: "server/tools#listing-tools",
    example: (messages) => messages.request(1, methods.listTools),
    result: {
      resultType: "complete",
      tools: [{ name: "add", inputSchema: schema }],
      ttlMs: 0,
      cacheScope: "public",
    },
  },
  [methods.callTool]: {
    says: "Calls a tool. If the tool fails, it returns a result with isError, which the model can read, and not an error",
    needs: serverHas("tools"),
    page: "server/tools#calling-tools",
    example: (messages) => messages.request(1, methods.callTool, { name: "add", arguments: { a: 2, b: 3 } }),
    result: { resultType: "complete", content: [{ type: "text", text: "5" }] },
  },
  [methods.listResources]: {
    says: "Lists the resources of a server, page by page",
    needs: serverHas("resources"),
    page: "server/resources#listing-resources",
    example: (messages) => messages.request(1, methods.listResources),
    result: {
      resultType: "complete",
      resources: [{ uri: "file:///a.txt", name: "a.txt" }],
      ttlMs: 0,
      cacheScope: "public",
    },
  },
  [methods.listResourceTemplates]: {
    says: "Lists the resource templates, whose URIs have variables",
    needs: serverHas("resources"),
    page: "server/resources#resource-templates",
    example: (messages) => messages.request(1, methods.listResourceTemplates),
    result: {
      resultType: "complete",
      resourceTemplates: [{ uriTemplate: "file:///{path}", name: "files" }],
      ttlMs: 0,
      cacheScope: "public",
    },
  },
  [methods.readResource]: {
    says: "Reads a resource: its contents are text or base64",
    needs: serverHas("resources"),
    page: "server/resources#reading-resources",
    example: (messages) => messages.request(1, methods.readResource, { uri: "file:///a.txt" }),
    result: {
      resultType: "complete",
      contents: [{ uri: "file:///a.txt", text: "hello" }],
      ttlMs: 0,
      cacheScope: "public",
    },
  },
  [methods.subscribe]: {
    says: "Subscribes to the updates of a resource",
    needs: serverHas("resources.subscribe"),
    page: "server/resources#subscriptions",
    example: (messages) => messages.request(1, methods.subscribe, { uri: "file:///a.txt" }),
    result: {},
  },
  [methods.unsubscribe]: {
    says: "Ends the subscription to a resource",
    needs: serverHas("resources.subscribe"),
    page: "server/resources#subscriptions",
    example: (messages) => messages.request(1, methods.unsubscribe, { uri: "file:///a.txt" }),
    result: {},
  },
  [methods.listPrompts]: {
    says: "Lists the prompts of a server, page by page",
    needs: serverHas("prompts"),
    page: "server/prompts#listing-prompts",
    example: (messages) => messages.request(1, methods.listPrompts),
    result: { resultType: "complete", prompts: [{ name: "review" }], ttlMs: 0, cacheScope: "public" },
  },
  [methods.getPrompt]: {
    says: "Gets a prompt with its arguments filled in, as messages for a model",
    needs: serverHas("prompts"),
    page: "server/prompts#getting-a-prompt",
    example: (messages) =>
      messages.request(1, methods.getPrompt, { name: "review", arguments: { language: "Python" } }),
    result: {
      resultType: "complete",
      messages: [{ role: "user", content: { type: "text", text: "Review this Python code" } }],
    },
  },
  [methods.complete]: {
    says: "Requests suggestions for an argument of a prompt, or a variable of a resource template, while the user types",
    needs: `${serverHas("completions")}, which the first revision does not have`,
    page: "server/utilities/completion",
    example: (messages) =>
      messages.request(1, methods.complete, {
        ref: { type: "ref/prompt", name: "review" },
        argument: { name: "language", value: "py" },
      }),
    result: { resultType: "complete", completion: { values: ["python"] } },
  },
  [methods.setLevel]: {
    says: "Sets the lowest level of log messages that the server sends; in the stateless era, each request has the level",
    needs: serverHas("logging"),
    page: "server/utilities/logging",
    example: (messages) => messages.request(1, methods.setLevel, { level: "warning" }),
    result: {},
  },
  [methods.listen]: {
    says: "Subscribes to changes; the subscription lasts until the response, or until the request is cancelled",
    page: "basic/patterns/subscriptions",
    example: (messages) => messages.request(1, methods.listen, { notifications: { toolsListChanged: true } }),
    result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
  },
  [methods.createMessage]: {
    says: "Requests a message of the client's model; the user may review it, change it or refuse",
    needs: clientHas("sampling"),
    page: "client/sampling#creating-messages",
    example: (messages) =>
      messages.request(1, methods.createMessage, {
        messages: [{ role: "user", content: { type: "text", text: "Name a colour" } }],
        maxTokens: 10,
      }),
    result: { role: "assistant", content: { type: "text", text: "blue" }, model: "some-model" },
  },
  [methods.listRoots]: {
    says: "Requests the folders in which the server may work",
    needs: clientHas("roots"),
    page: "client/roots",
    example: (messages) => messages.request(1, methods.listRoots),
    result: { roots: [{ uri: "file:///home/me/project" }] },
  },
  [methods.elicit]: {
    says: "Requests input of the user: a form, or a URL to open",
    needs: clientHas("elicitation"),
    page: "client/elicitation",
    example: (messages) =>
      messages.request(1, methods.elicit, {
        message: "Who are you?",
        requestedSchema: { type: "object", properties: { name: { type: "string" } } },
      }),
    result: { action: "accept", content: { name: "Ada" } },
  },
  [methods.getTask]: {
    says: "Requests the status of a task, which continues after the response to its call",
    needs: "the capability tasks of the side that runs it",
    page: "basic/utilities/tasks",
    example: (messages) => messages.request(1, methods.getTask, { taskId: "t-1" }),
    result: task,
  },
  [methods.taskResult]: {
    says: "Requests the result of a task, and waits for it",
    needs: "the capability tasks of the side that runs it",
    page: "basic/utilities/tasks",
    example: (messages) => messages.request(1, methods.taskResult, { taskId: "t-1" }),
    result: { content: [{ type: "text", text: "5" }] },
  },
  [methods.listTasks]: {
    says: "Lists the tasks of the requestor, page by page",
    needs: "the capability tasks.list of the side that runs them",
    page: "basic/utilities/tasks",
    example: (messages) => messages.request(1, methods.listTasks),
    result: { tasks: [task] },
  },
  [methods.cancelTask]: {
    says: "Cancels a task",
    needs: "the capability tasks.cancel of the side that runs it",
    page: "basic/utilities/tasks",
    example: (messages) => messages.request(1, methods.cancelTask, { taskId: "t-1" }),
    result: { ...task, status: "cancelled" },
  },
};

/** The notifications, one by one. */
export const notificationNotes: Readonly<Record<NotificationMethod, MessageNote<RpcNotification>>> = {
  [notifications.initialized]: {
    says: "Ends the handshake: the client has received the result of initialize, and operations may begin",
    page: "basic/lifecycle#initialization",
    example: (messages) => messages.notification(notifications.initialized),
  },
  [notifications.cancelled]: {
    says: "Cancels a request; it may cross with the response",
    page: "basic/utilities/cancellation",
    example: (messages) => messages.notification(notifications.cancelled, { requestId: 1, reason: "took too long" }),
  },
  [notifications.progress]: {
    says: "Reports the progress of a request that has a progressToken in _meta; the number must grow",
    page: "basic/utilities/progress",
    example: (messages) => messages.notification(notifications.progress, { progressToken: 1, progress: 1, total: 3 }),
  },
  [notifications.message]: {
    says: "Carries a log message of the server, of the level that the client has set or above",
    needs: "the capability logging of the server",
    page: "server/utilities/logging",
    example: (messages) => messages.notification(notifications.message, { level: "info", data: "connected" }),
  },
  [notifications.resourceUpdated]: {
    says: "Reports that a resource with a subscription has changed; the client reads it again",
    needs: "the capability resources.subscribe of the server",
    page: "server/resources#subscriptions",
    example: (messages) => messages.notification(notifications.resourceUpdated, { uri: "file:///a.txt" }),
  },
  [notifications.resourcesChanged]: {
    says: "Reports that the list of resources has changed; the client lists them again",
    needs: "the capability resources.listChanged of the server",
    page: "server/resources#list-changed-notification",
    example: (messages) => messages.notification(notifications.resourcesChanged),
  },
  [notifications.toolsChanged]: {
    says: "Reports that the list of tools has changed; the client lists them again",
    needs: "the capability tools.listChanged of the server",
    page: "server/tools#list-changed-notification",
    example: (messages) => messages.notification(notifications.toolsChanged),
  },
  [notifications.promptsChanged]: {
    says: "Reports that the list of prompts has changed; the client lists them again",
    needs: "the capability prompts.listChanged of the server",
    page: "server/prompts#list-changed-notification",
    example: (messages) => messages.notification(notifications.promptsChanged),
  },
  [notifications.rootsChanged]: {
    says: "Reports that the client's list of roots has changed; the server requests it again",
    needs: "the capability roots.listChanged of the client",
    page: "client/roots",
    example: (messages) => messages.notification(notifications.rootsChanged),
  },
  [notifications.elicitationComplete]: {
    says: "Reports that the user has completed a URL elicitation",
    needs: "the capability elicitation.url of the client",
    page: "client/elicitation#completion-notifications-for-url-mode-elicitation",
    example: (messages) => messages.notification(notifications.elicitationComplete, { elicitationId: "e-1" }),
  },
  [notifications.taskStatus]: {
    says: "Reports the status of a task; it is optional, so a requestor must not rely on it",
    needs: "the capability tasks of the side that runs it",
    page: "basic/utilities/tasks#task-status-notification",
    example: (messages) => messages.notification(notifications.taskStatus, { ...task, status: "completed" }),
  },
  [notifications.acknowledged]: {
    says: "The first message for subscriptions/listen: the changes that the server will report",
    page: "basic/patterns/subscriptions",
    example: (messages) =>
      messages.notification(notifications.acknowledged, {
        notifications: { toolsListChanged: true },
        _meta: { "io.modelcontextprotocol/subscriptionId": 1 },
      }),
  },
};
