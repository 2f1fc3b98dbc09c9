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

/** What a request is for, who may send it in which revisions, and how it looks. */
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
      inside: inside.length === 0 ? undefined : `${spanText(inside)}: asked in a result of type input_required instead`,
      needs,
      "at fault": "the sender, where it is not allowed: the answer is −32601",
    }),
    wire: [request, answer],
    spec: [specPage(version, page)],
  };
}

/** The same of a notification. */
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
      "at fault": "whoever gives it an id or answers it; where it is not known, it is ignored",
    }),
    wire: [{ from, raw: JSON.stringify(example(messagesOf(version))) }],
    spec: [specPage(version, page)],
  };
}

interface Senders {
  readonly byClient: readonly string[];
  readonly byServer: readonly string[];
  /** The newest that has it. */
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

/** What is said of a message, besides what the revisions know of it. */
interface MessageNote<Message extends RpcRequest | RpcNotification> {
  /** One sentence. */
  readonly says: string;
  /** The capability that one side must have declared. */
  readonly needs?: string;
  /** The page of the specification, below its version. */
  readonly page: string;
  /** One that somebody might send. */
  readonly example: (messages: Messages) => Message;
}

/** What is said of a request. */
interface RequestNote extends MessageNote<RpcRequest> {
  /** A result that might answer the example. */
  readonly result: JsonObject;
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
    says: "Opens a conversation of the handshake era: the client names a revision, the server answers with it or its own",
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
    says: "Asks for a sign of life; either side may, at any time, and is answered with an empty result",
    page: "basic/utilities/ping",
    example: (messages) => messages.request(1, methods.ping),
    result: {},
  },
  [methods.discover]: {
    says: "Asks a server of the stateless era which revisions it speaks and what it can do; nothing has to come before",
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
    says: "Asks for the tools of a server, page by page",
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
    says: "Calls a tool. What the tool itself fails at is a result with isError, which the model can read, and no error",
    needs: serverHas("tools"),
    page: "server/tools#calling-tools",
    example: (messages) => messages.request(1, methods.callTool, { name: "add", arguments: { a: 2, b: 3 } }),
    result: { resultType: "complete", content: [{ type: "text", text: "5" }] },
  },
  [methods.listResources]: {
    says: "Asks for the resources of a server, page by page",
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
    says: "Asks for the families of resources whose URIs have variables",
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
    says: "Reads a resource: its contents come as text or in base64",
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
    says: "Asks to be told whenever a resource changes",
    needs: serverHas("resources.subscribe"),
    page: "server/resources#subscriptions",
    example: (messages) => messages.request(1, methods.subscribe, { uri: "file:///a.txt" }),
    result: {},
  },
  [methods.unsubscribe]: {
    says: "Asks not to be told of a resource any more",
    needs: serverHas("resources.subscribe"),
    page: "server/resources#subscriptions",
    example: (messages) => messages.request(1, methods.unsubscribe, { uri: "file:///a.txt" }),
    result: {},
  },
  [methods.listPrompts]: {
    says: "Asks for the prompts of a server, page by page",
    needs: serverHas("prompts"),
    page: "server/prompts#listing-prompts",
    example: (messages) => messages.request(1, methods.listPrompts),
    result: { resultType: "complete", prompts: [{ name: "review" }], ttlMs: 0, cacheScope: "public" },
  },
  [methods.getPrompt]: {
    says: "Fills in a prompt: arguments go in, messages for a model come out",
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
    says: "Asks what an argument of a prompt, or a variable of a resource template, may be, while a person types",
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
    says: "Says how severe a log message must be for the server to send it; later the level goes with every request",
    needs: serverHas("logging"),
    page: "server/utilities/logging",
    example: (messages) => messages.request(1, methods.setLevel, { level: "warning" }),
    result: {},
  },
  [methods.listen]: {
    says: "Asks to hear of changes for as long as its answer stays open; cancelling it ends that",
    page: "basic/patterns/subscriptions",
    example: (messages) => messages.request(1, methods.listen, { notifications: { toolsListChanged: true } }),
    result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
  },
  [methods.createMessage]: {
    says: "Asks the client to let its model write; a person may look at it, change it or refuse",
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
    says: "Asks the client in which folders it wants the server to work",
    needs: clientHas("roots"),
    page: "client/roots",
    example: (messages) => messages.request(1, methods.listRoots),
    result: { roots: [{ uri: "file:///home/me/project" }] },
  },
  [methods.elicit]: {
    says: "Asks the person something: to fill in a form, or to visit a page",
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
    says: "Asks how a task stands that goes on after its call was answered",
    needs: "the capability tasks of the side that runs it",
    page: "basic/utilities/tasks",
    example: (messages) => messages.request(1, methods.getTask, { taskId: "t-1" }),
    result: task,
  },
  [methods.taskResult]: {
    says: "Asks for the result of a task, and waits for it",
    needs: "the capability tasks of the side that runs it",
    page: "basic/utilities/tasks",
    example: (messages) => messages.request(1, methods.taskResult, { taskId: "t-1" }),
    result: { content: [{ type: "text", text: "5" }] },
  },
  [methods.listTasks]: {
    says: "Asks for the tasks that one has started, page by page",
    needs: "the capability tasks.list of the side that runs them",
    page: "basic/utilities/tasks",
    example: (messages) => messages.request(1, methods.listTasks),
    result: { tasks: [task] },
  },
  [methods.cancelTask]: {
    says: "Ends a task before it is done",
    needs: "the capability tasks.cancel of the side that runs it",
    page: "basic/utilities/tasks",
    example: (messages) => messages.request(1, methods.cancelTask, { taskId: "t-1" }),
    result: { ...task, status: "cancelled" },
  },
};

/** The notifications, one by one. Nobody answers them. */
export const notificationNotes: Readonly<Record<NotificationMethod, MessageNote<RpcNotification>>> = {
  [notifications.initialized]: {
    says: "Ends the handshake: the client has read the answer to initialize, and operations may begin",
    page: "basic/lifecycle#initialization",
    example: (messages) => messages.notification(notifications.initialized),
  },
  [notifications.cancelled]: {
    says: "Says that nobody waits for the answer to a request any more; it may cross with that answer",
    page: "basic/utilities/cancellation",
    example: (messages) => messages.notification(notifications.cancelled, { requestId: 1, reason: "took too long" }),
  },
  [notifications.progress]: {
    says: "Says how far a request has come, to whoever gave it a progressToken in _meta; the number must grow",
    page: "basic/utilities/progress",
    example: (messages) => messages.notification(notifications.progress, { progressToken: 1, progress: 1, total: 3 }),
  },
  [notifications.message]: {
    says: "Carries a log message of the server, no less severe than the client wants them",
    needs: "the capability logging of the server",
    page: "server/utilities/logging",
    example: (messages) => messages.notification(notifications.message, { level: "info", data: "connected" }),
  },
  [notifications.resourceUpdated]: {
    says: "Says that a resource which the client follows has changed; it has to read it again by itself",
    needs: "the capability resources.subscribe of the server",
    page: "server/resources#subscriptions",
    example: (messages) => messages.notification(notifications.resourceUpdated, { uri: "file:///a.txt" }),
  },
  [notifications.resourcesChanged]: {
    says: "Says that there are other resources than before; the client has to list them again by itself",
    needs: "the capability resources.listChanged of the server",
    page: "server/resources#list-changed-notification",
    example: (messages) => messages.notification(notifications.resourcesChanged),
  },
  [notifications.toolsChanged]: {
    says: "Says that there are other tools than before; the client has to list them again by itself",
    needs: "the capability tools.listChanged of the server",
    page: "server/tools#list-changed-notification",
    example: (messages) => messages.notification(notifications.toolsChanged),
  },
  [notifications.promptsChanged]: {
    says: "Says that there are other prompts than before; the client has to list them again by itself",
    needs: "the capability prompts.listChanged of the server",
    page: "server/prompts#list-changed-notification",
    example: (messages) => messages.notification(notifications.promptsChanged),
  },
  [notifications.rootsChanged]: {
    says: "Says that the folders of the client are others than before; the server has to ask for them again",
    needs: "the capability roots.listChanged of the client",
    page: "client/roots",
    example: (messages) => messages.notification(notifications.rootsChanged),
  },
  [notifications.elicitationComplete]: {
    says: "Says that a person has done what there was to do on the page that they were sent to",
    needs: "the capability elicitation.url of the client",
    page: "client/elicitation#completion-notifications-for-url-mode-elicitation",
    example: (messages) => messages.notification(notifications.elicitationComplete, { elicitationId: "e-1" }),
  },
  [notifications.taskStatus]: {
    says: "Says how a task stands; whoever waits for it must not rely on hearing this",
    needs: "the capability tasks of the side that runs it",
    page: "basic/utilities/tasks#task-status-notification",
    example: (messages) => messages.notification(notifications.taskStatus, { ...task, status: "completed" }),
  },
  [notifications.acknowledged]: {
    says: "The first thing that comes for subscriptions/listen: which of the changes the server will tell of",
    page: "basic/patterns/subscriptions",
    example: (messages) =>
      messages.notification(notifications.acknowledged, {
        notifications: { toolsListChanged: true },
        _meta: { "io.modelcontextprotocol/subscriptionId": 1 },
      }),
  },
};
