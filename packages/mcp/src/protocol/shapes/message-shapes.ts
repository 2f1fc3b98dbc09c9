import { specCodes } from "../errors.js";
import { type Method, methods, type NotificationMethod, notifications } from "../methods.js";
import { clientTypes } from "./client-types.js";
import { contentTypes } from "./content-types.js";
import { conversationTypes } from "./conversation-types.js";
import { peerTypes } from "./peer-types.js";
import { serverTypes } from "./server-types.js";
import { array, object, optional, ref, type Shape, string, type Types } from "./shape.js";
import { wrapperTypes } from "./wrapper-types.js";

/** The shapes of a request's params and result. */
export interface RequestShape {
  readonly params: Shape;
  readonly result: Shape;
}

/** The shapes of every message, and of the types that they refer to. */
export interface MessageShapes {
  readonly types: Types;
  readonly requests: Readonly<Record<Method, RequestShape>>;
  /** The shapes of notification params. */
  readonly notifications: Readonly<Record<NotificationMethod, Shape>>;
  /** The shapes of error `data`, by code. */
  readonly errors: ReadonlyMap<number, Shape>;
}

const requests: MessageShapes["requests"] = {
  [methods.initialize]: { params: ref("InitializeRequestParams"), result: ref("InitializeResult") },
  [methods.ping]: { params: optional(ref("RequestParams")), result: ref("Result") },
  [methods.discover]: { params: ref("RequestParams"), result: ref("DiscoverResult") },
  [methods.listTools]: { params: ref("ListRequestParams"), result: ref("ListToolsResult") },
  [methods.callTool]: { params: ref("CallToolRequestParams"), result: ref("CallToolOutcome") },
  [methods.listResources]: { params: ref("ListRequestParams"), result: ref("ListResourcesResult") },
  [methods.listResourceTemplates]: {
    params: ref("ListRequestParams"),
    result: ref("ListResourceTemplatesResult"),
  },
  [methods.readResource]: { params: ref("ReadResourceRequestParams"), result: ref("ReadResourceOutcome") },
  [methods.subscribe]: { params: ref("SubscribeRequestParams"), result: ref("Result") },
  [methods.unsubscribe]: { params: ref("SubscribeRequestParams"), result: ref("Result") },
  [methods.listPrompts]: { params: ref("ListRequestParams"), result: ref("ListPromptsResult") },
  [methods.getPrompt]: { params: ref("GetPromptRequestParams"), result: ref("GetPromptOutcome") },
  [methods.complete]: { params: ref("CompleteRequestParams"), result: ref("CompleteResult") },
  [methods.setLevel]: { params: ref("SetLevelRequestParams"), result: ref("Result") },
  [methods.listen]: { params: ref("SubscriptionsListenRequestParams"), result: ref("SubscriptionsListenResult") },
  [methods.createMessage]: { params: ref("CreateMessageRequestParams"), result: ref("CreateMessageOutcome") },
  [methods.listRoots]: { params: optional(ref("InputRequestParams")), result: ref("ListRootsResult") },
  [methods.elicit]: { params: ref("ElicitRequestParams"), result: ref("ElicitOutcome") },
  [methods.getTask]: { params: ref("GetTaskRequestParams"), result: ref("GetTaskResult") },
  // The result of the request that was run as the task.
  [methods.taskResult]: { params: ref("GetTaskRequestParams"), result: ref("Result") },
  [methods.listTasks]: { params: ref("ListRequestParams"), result: ref("ListTasksResult") },
  [methods.cancelTask]: { params: ref("GetTaskRequestParams"), result: ref("GetTaskResult") },
};

const plain = optional(ref("NotificationParams"));

/**
 * The shape of every message in the newest revision that has it. Types are named as in the newest schema; types without
 * a name there have our own.
 * https://modelcontextprotocol.io/specification/latest/schema
 */
export const newestShapes: MessageShapes = {
  types: { ...wrapperTypes, ...peerTypes, ...contentTypes, ...serverTypes, ...clientTypes, ...conversationTypes },
  requests,
  notifications: {
    [notifications.initialized]: plain,
    [notifications.cancelled]: ref("CancelledNotificationParams"),
    [notifications.progress]: ref("ProgressNotificationParams"),
    [notifications.message]: ref("LoggingMessageNotificationParams"),
    [notifications.resourceUpdated]: ref("ResourceUpdatedNotificationParams"),
    [notifications.resourcesChanged]: plain,
    [notifications.toolsChanged]: plain,
    [notifications.promptsChanged]: plain,
    [notifications.rootsChanged]: plain,
    [notifications.elicitationComplete]: ref("ElicitationCompleteNotificationParams"),
    [notifications.taskStatus]: ref("TaskStatusNotificationParams"),
    [notifications.acknowledged]: ref("SubscriptionsAcknowledgedNotificationParams"),
  },
  errors: new Map([
    [specCodes.missingRequiredClientCapability, object({ requiredCapabilities: ref("ClientCapabilities") })],
    [specCodes.unsupportedProtocolVersion, object({ supported: array(string), requested: string })],
    [specCodes.urlElicitationRequired, object({ elicitations: array(ref("ElicitRequestURLParams")) })],
  ]),
};
