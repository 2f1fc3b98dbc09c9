import type { RpcNotification } from "@parlance/mcp/jsonrpc";
import { type NotificationMethod, notifications } from "@parlance/mcp/protocol";
import type { MessageNote } from "./request-notes.js";

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
    example: (messages) =>
      messages.notification(notifications.taskStatus, {
        taskId: "t-1",
        status: "completed",
        createdAt: new Date(0).toISOString(),
        lastUpdatedAt: new Date(0).toISOString(),
        ttl: 60_000,
      }),
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
