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

/** Explains a request or a notification: its purpose, its senders by revision, and an example. */
export function explainMessage(method: Method | NotificationMethod): Explanation {
  const topic = isRequest(method) ? "request" : "notification";
  const { says, needs, page, result }: MessageNote = notes[method];
  const kind = `${topic}s` as const;
  const byClient = versionsWhere((revision) => revision[kind].client.has(method));
  const byServer = versionsWhere((revision) => revision[kind].server.has(method));
  const newest = [...byClient, ...byServer].toSorted().at(-1) ?? latest.version;
  const inside = versionsWhere(({ inputRequests }) => inputRequests.has(method));
  const isOfClient = byClient.includes(newest);
  const example: WireExample = {
    from: isOfClient ? "client" : "server",
    raw: JSON.stringify(exampleOf(method, messagesOf(newest))),
  };
  const answer: WireExample = {
    from: isOfClient ? "server" : "client",
    raw: JSON.stringify({ jsonrpc: "2.0", id: 1, result }),
  };
  return {
    topic,
    name: method,
    title: `a ${topic} of ${sides(byClient, byServer)}`,
    says,
    facts: facts({
      in: spans(byClient, byServer),
      inside: inside.length === 0 ? undefined : `${spanText(inside)}: sent in a result of type input_required instead`,
      needs,
      "at fault": faults[topic],
    }),
    wire: topic === "request" ? [example, answer] : [example],
    spec: [specPage(newest, page)],
  };
}

const faults = {
  request: "the sender, if the revision does not allow it: the error is −32601",
  notification: "a sender that gives it an id, or a receiver that responds; an unknown notification is ignored",
} as const;

/** The example of a message in a revision. @throws TypeError if its params do not fit the revision */
export function exampleOf(method: Method | NotificationMethod, messages: Messages): RpcRequest | RpcNotification {
  const { params }: MessageNote = notes[method];
  // The types of params differ by method, and `messages` checks them.
  return isRequest(method)
    ? messages.request(1, method, params as never)
    : messages.notification(method, params as never);
}

function isRequest(method: string): method is Method {
  return Object.hasOwn(requestNotes, method);
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
interface MessageNote {
  /** One sentence. */
  readonly says: string;
  /** The capability that one side must have declared. */
  readonly needs?: string;
  /** The page of the specification, below its version. */
  readonly page: string;
  /** The params of the example. */
  readonly params?: JsonObject;
  /** For a request: a result for the example. */
  readonly result?: JsonObject;
}

/** The messages that need a capability, given as a path or as the last member of one: `tools.listChanged`, `listChanged`. */
export function messagesOfCapability(word: string): readonly string[] {
  const wanted = word.toLowerCase().replaceAll("_", "");
  return Object.entries<MessageNote>(notes).flatMap(([method, { needs = "" }]) => {
    const path = /^the capability ([\w.]+)/.exec(needs)?.[1]?.toLowerCase() ?? "";
    return path === wanted || path.endsWith(`.${wanted}`) ? [method] : [];
  });
}

const serverHas = (capability: string): string => `the capability ${capability} of the server`;
const clientHas = (capability: string): string => `the capability ${capability} of the client`;
const schema = { type: "object", properties: { a: { type: "number" } } };
/** The members of a result that a client may keep. */
const cacheable = { ttlMs: 0, cacheScope: "public" };
const task = {
  taskId: "t-1",
  status: "working",
  createdAt: new Date(0).toISOString(),
  lastUpdatedAt: new Date(0).toISOString(),
  ttl: 60_000,
};

/** The requests, one by one. */
export const requestNotes: Readonly<Record<Method, MessageNote & { readonly result: JsonObject }>> = {
  [methods.initialize]: {
    says: "Opens a conversation of the handshake era: the client requests a revision, the server responds with it or its own",
    page: "basic/lifecycle#initialization",
    params: {
      protocolVersion: latestHandshake.version,
      capabilities: {},
      clientInfo: { name: "me", version: "1.0" },
    },
    result: {
      protocolVersion: latestHandshake.version,
      capabilities: { tools: {} },
      serverInfo: { name: "calculator", version: "1.0" },
    },
  },
  [methods.ping]: {
    says: "Checks that the other side responds; either side may send it at any time, and the result is empty",
    page: "basic/utilities/ping",
    result: {},
  },
  [methods.discover]: {
    says: "Requests the revisions and capabilities of a server of the stateless era; no other request has to precede it",
    page: "server/discover",
    result: {
      resultType: "complete",
      supportedVersions: [latest.version],
      capabilities: { tools: {} },
      ...cacheable,
    },
  },
  [methods.listTools]: {
    says: "Lists the tools of a server, page by page",
    needs: serverHas("tools"),
    page: "server/tools#listing-tools",
    result: { resultType: "complete", tools: [{ name: "add", inputSchema: schema }], ...cacheable },
  },
  [methods.callTool]: {
    says: "Calls a tool. If the tool fails, it returns a result with isError, which the model can read, and not an error",
    needs: serverHas("tools"),
    page: "server/tools#calling-tools",
    params: { name: "add", arguments: { a: 2, b: 3 } },
    result: { resultType: "complete", content: [{ type: "text", text: "5" }] },
  },
  [methods.listResources]: {
    says: "Lists the resources of a server, page by page",
    needs: serverHas("resources"),
    page: "server/resources#listing-resources",
    result: { resultType: "complete", resources: [{ uri: "file:///a.txt", name: "a.txt" }], ...cacheable },
  },
  [methods.listResourceTemplates]: {
    says: "Lists the resource templates, whose URIs have variables",
    needs: serverHas("resources"),
    page: "server/resources#resource-templates",
    result: {
      resultType: "complete",
      resourceTemplates: [{ uriTemplate: "file:///{path}", name: "files" }],
      ...cacheable,
    },
  },
  [methods.readResource]: {
    says: "Reads a resource: its contents are text or base64",
    needs: serverHas("resources"),
    page: "server/resources#reading-resources",
    params: { uri: "file:///a.txt" },
    result: { resultType: "complete", contents: [{ uri: "file:///a.txt", text: "hello" }], ...cacheable },
  },
  [methods.subscribe]: {
    says: "Subscribes to the updates of a resource",
    needs: serverHas("resources.subscribe"),
    page: "server/resources#subscriptions",
    params: { uri: "file:///a.txt" },
    result: {},
  },
  [methods.unsubscribe]: {
    says: "Ends the subscription to a resource",
    needs: serverHas("resources.subscribe"),
    page: "server/resources#subscriptions",
    params: { uri: "file:///a.txt" },
    result: {},
  },
  [methods.listPrompts]: {
    says: "Lists the prompts of a server, page by page",
    needs: serverHas("prompts"),
    page: "server/prompts#listing-prompts",
    result: { resultType: "complete", prompts: [{ name: "review" }], ...cacheable },
  },
  [methods.getPrompt]: {
    says: "Gets a prompt with its arguments filled in, as messages for a model",
    needs: serverHas("prompts"),
    page: "server/prompts#getting-a-prompt",
    params: { name: "review", arguments: { language: "Python" } },
    result: {
      resultType: "complete",
      messages: [{ role: "user", content: { type: "text", text: "Review this Python code" } }],
    },
  },
  [methods.complete]: {
    says: "Requests suggestions for an argument of a prompt, or a variable of a resource template, while the user types",
    needs: `${serverHas("completions")}, which the first revision does not have`,
    page: "server/utilities/completion",
    params: {
      ref: { type: "ref/prompt", name: "review" },
      argument: { name: "language", value: "py" },
    },
    result: { resultType: "complete", completion: { values: ["python"] } },
  },
  [methods.setLevel]: {
    says: "Sets the lowest level of log messages that the server sends; in the stateless era, each request has the level",
    needs: serverHas("logging"),
    page: "server/utilities/logging",
    params: { level: "warning" },
    result: {},
  },
  [methods.listen]: {
    says: "Subscribes to changes; the subscription lasts until the response, or until the request is cancelled",
    page: "basic/patterns/subscriptions",
    params: { notifications: { toolsListChanged: true } },
    result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
  },
  [methods.createMessage]: {
    says: "Requests a message of the client's model; the user may review it, change it or refuse",
    needs: clientHas("sampling"),
    page: "client/sampling#creating-messages",
    params: {
      messages: [{ role: "user", content: { type: "text", text: "Name a colour" } }],
      maxTokens: 10,
    },
    result: { role: "assistant", content: { type: "text", text: "blue" }, model: "some-model" },
  },
  [methods.listRoots]: {
    says: "Requests the folders in which the server may work",
    needs: clientHas("roots"),
    page: "client/roots",
    result: { roots: [{ uri: "file:///home/me/project" }] },
  },
  [methods.elicit]: {
    says: "Requests input of the user: a form, or a URL to open",
    needs: clientHas("elicitation"),
    page: "client/elicitation",
    params: {
      message: "Who are you?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } } },
    },
    result: { action: "accept", content: { name: "Ada" } },
  },
  [methods.getTask]: {
    says: "Requests the status of a task, which continues after the response to its call",
    needs: "the capability tasks of the side that runs it",
    page: "basic/utilities/tasks",
    params: { taskId: "t-1" },
    result: task,
  },
  [methods.taskResult]: {
    says: "Requests the result of a task, and waits for it",
    needs: "the capability tasks of the side that runs it",
    page: "basic/utilities/tasks",
    params: { taskId: "t-1" },
    result: { content: [{ type: "text", text: "5" }] },
  },
  [methods.listTasks]: {
    says: "Lists the tasks of the requestor, page by page",
    needs: "the capability tasks.list of the side that runs them",
    page: "basic/utilities/tasks",
    result: { tasks: [task] },
  },
  [methods.cancelTask]: {
    says: "Cancels a task",
    needs: "the capability tasks.cancel of the side that runs it",
    page: "basic/utilities/tasks",
    params: { taskId: "t-1" },
    result: { ...task, status: "cancelled" },
  },
};

/** The notifications, one by one. */
const notificationNotes: Readonly<Record<NotificationMethod, MessageNote>> = {
  [notifications.initialized]: {
    says: "Ends the handshake: the client has received the result of initialize, and operations may begin",
    page: "basic/lifecycle#initialization",
  },
  [notifications.cancelled]: {
    says: "Cancels a request; it may cross with the response",
    page: "basic/utilities/cancellation",
    params: { requestId: 1, reason: "took too long" },
  },
  [notifications.progress]: {
    says: "Reports the progress of a request that has a progressToken in _meta; the number must grow",
    page: "basic/utilities/progress",
    params: { progressToken: 1, progress: 1, total: 3 },
  },
  [notifications.message]: {
    says: "Carries a log message of the server, of the level that the client has set or above",
    needs: serverHas("logging"),
    page: "server/utilities/logging",
    params: { level: "info", data: "connected" },
  },
  [notifications.resourceUpdated]: {
    says: "Reports that a resource with a subscription has changed; the client reads it again",
    needs: serverHas("resources.subscribe"),
    page: "server/resources#subscriptions",
    params: { uri: "file:///a.txt" },
  },
  [notifications.resourcesChanged]: {
    says: "Reports that the list of resources has changed; the client lists them again",
    needs: serverHas("resources.listChanged"),
    page: "server/resources#list-changed-notification",
  },
  [notifications.toolsChanged]: {
    says: "Reports that the list of tools has changed; the client lists them again",
    needs: serverHas("tools.listChanged"),
    page: "server/tools#list-changed-notification",
  },
  [notifications.promptsChanged]: {
    says: "Reports that the list of prompts has changed; the client lists them again",
    needs: serverHas("prompts.listChanged"),
    page: "server/prompts#list-changed-notification",
  },
  [notifications.rootsChanged]: {
    says: "Reports that the client's list of roots has changed; the server requests it again",
    needs: clientHas("roots.listChanged"),
    page: "client/roots",
  },
  [notifications.elicitationComplete]: {
    says: "Reports that the user has completed a URL elicitation",
    needs: clientHas("elicitation.url"),
    page: "client/elicitation#completion-notifications-for-url-mode-elicitation",
    params: { elicitationId: "e-1" },
  },
  [notifications.taskStatus]: {
    says: "Reports the status of a task; it is optional, so a requestor must not rely on it",
    needs: "the capability tasks of the side that runs it",
    page: "basic/utilities/tasks#task-status-notification",
    params: { ...task, status: "completed" },
  },
  [notifications.acknowledged]: {
    says: "The first message for subscriptions/listen: the changes that the server will report",
    page: "basic/patterns/subscriptions",
    params: {
      notifications: { toolsListChanged: true },
      _meta: { "io.modelcontextprotocol/subscriptionId": 1 },
    },
  },
};

const notes = { ...requestNotes, ...notificationNotes };
