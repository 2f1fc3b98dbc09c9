// Removes the handshake, HTTP sessions and requests from the server: every request declares its own revision and
// capabilities.
// https://modelcontextprotocol.io/specification/2026-07-28/changelog

import { codes } from "../../jsonrpc/errors.js";
import { specCodes } from "../errors.js";
import { metaKeys } from "../meta.js";
import { methods, notifications } from "../methods.js";
import {
  any,
  anyOf,
  array,
  boolean,
  count,
  extending,
  literal,
  map,
  object,
  optional,
  ref,
  string,
  type Types,
  tagged,
} from "../shapes/shape.js";
import { eachMember, having, within, without } from "./conversion.js";
import { type Edition, type RevisedTypes, revise } from "./revision.js";
import { outputAsObject, structureAsObject } from "./structured-content.js";
import { meta, requestId } from "./v2024-11-05.js";
import { v2025_11_25 } from "./v2025-11-25.js";

const tasks = [methods.getTask, methods.taskResult, methods.listTasks, methods.cancelTask];

// In older revisions a property's schema must be an object; these are the equivalents of `true` and `false`.
const schemaObject = (schema: unknown): unknown => (schema === true ? {} : schema === false ? { not: {} } : schema);
const propertiesAsObjects = within("properties", eachMember(schemaObject));

const inputRequests = map(ref("InputRequest"));

/** basic/patterns/mrtr */
const input: RevisedTypes = {
  // Input requests are parts of a result, so their `_meta` does not repeat the caller.
  InputRequestParams: object({ _meta: meta }),
  CreateMessageRequest: object({ method: literal(methods.createMessage), params: ref("CreateMessageRequestParams") }),
  ListRootsRequest: object({ method: literal(methods.listRoots), params: optional(ref("InputRequestParams")) }),
  ElicitRequest: object({ method: literal(methods.elicit), params: ref("ElicitRequestParams") }),
  InputRequest: tagged("method", ["CreateMessageRequest", "ListRootsRequest", "ElicitRequest"]),
  InputResponse: anyOf("the result of elicitation/create, sampling/createMessage or roots/list", [
    ref("CreateMessageResult"),
    ref("ListRootsResult"),
    ref("ElicitResult"),
  ]),
  AskingResult: extending(["Result"], { resultType: literal("input_required") }),
  // At least one of the two must be present.
  InputRequiredResult: anyOf("an object with inputRequests, requestState or both", [
    extending(["AskingResult"], { inputRequests, requestState: optional(string) }),
    extending(["AskingResult"], { inputRequests: optional(inputRequests), requestState: string }),
  ]),
};
const inputResponses = { inputResponses: optional(map(ref("InputResponse"))), requestState: optional(string) };

/** basic/patterns/subscriptions */
const subscriptions: Types = {
  SubscriptionFilter: object({
    toolsListChanged: optional(boolean),
    promptsListChanged: optional(boolean),
    resourcesListChanged: optional(boolean),
    resourceSubscriptions: optional(array(string)),
  }),
  SubscriptionsListenRequestParams: extending(["RequestParams"], { notifications: ref("SubscriptionFilter") }),
  SubscriptionsListenResultMetaObject: extending(["ResultMetaObject"], { [metaKeys.subscriptionId]: requestId }),
  SubscriptionsListenResult: extending(["Result"], { _meta: ref("SubscriptionsListenResultMetaObject") }),
  SubscriptionsAcknowledgedNotificationParams: extending(["NotificationParams"], {
    notifications: ref("SubscriptionFilter"),
  }),
};

/** server/utilities/caching#cacheable-model */
const lifetime = { ttlMs: count, cacheScope: literal("public", "private") };
const cacheable = { has: lifetime };
const settings = optional(map(object({})));

/** 2026-07-28 as changes to 2025-11-25. */
export const v2026_07_28: Edition = revise(v2025_11_25, "2026-07-28", {
  era: "stateless", // basic#statelessness

  requests: {
    client: {
      added: {
        [methods.discover]: { params: ref("RequestParams"), result: ref("DiscoverResult") }, // server/discover
        [methods.listen]: {
          params: ref("SubscriptionsListenRequestParams"),
          result: ref("SubscriptionsListenResult"),
        },
      },
      removed: [methods.initialize, methods.ping, methods.setLevel, methods.subscribe, methods.unsubscribe, ...tasks],
    },
    server: {
      removed: [methods.ping, methods.createMessage, methods.listRoots, methods.elicit, ...tasks],
    },
  },
  notifications: {
    client: {
      removed: [
        notifications.initialized,
        notifications.progress,
        notifications.rootsChanged,
        notifications.taskStatus,
      ],
    },
    server: {
      added: { [notifications.acknowledged]: ref("SubscriptionsAcknowledgedNotificationParams") },
      removed: [notifications.taskStatus, notifications.elicitationComplete],
    },
  },
  inputRequests: [methods.createMessage, methods.listRoots, methods.elicit], // basic/patterns/mrtr

  facts: {
    structuredContent: "any", // server/tools#structured-content
    toolSchemas: "2020-12 with references", // basic#ref-resolution
    elicitation: "form, url", // client/elicitation
    tasks: "extension", // changelog
    httpBinding: "stateless", // basic/transports/streamable-http
    httpPolling: false, // changelog
    httpVersionHeader: "all", // basic/transports/streamable-http#protocol-version-header
    authorization: "bound issuer", // basic/authorization
  },

  codes: {
    resourceNotFound: codes.invalidParams, // server/resources#error-handling
    userRejected: undefined,
    urlElicitationRequired: undefined, // Reserved forever, and must not be sent: basic#error-codes
    headerMismatch: specCodes.headerMismatch, // schema#headermismatcherror
    missingRequiredClientCapability: specCodes.missingRequiredClientCapability,
    unsupportedProtocolVersion: specCodes.unsupportedProtocolVersion,
  },
  errors: new Map([
    [specCodes.missingRequiredClientCapability, object({ requiredCapabilities: ref("ClientCapabilities") })],
    [specCodes.unsupportedProtocolVersion, object({ supported: array(string), requested: string })],
  ]),

  types: {
    // The `_meta` of each request carries what the `initialize` handshake did: basic#meta. Older revisions allow any key.
    RequestMetaObject: object({
      [metaKeys.protocolVersion]: string,
      [metaKeys.clientCapabilities]: ref("ClientCapabilities"),
      [metaKeys.clientInfo]: optional(ref("Implementation")),
      [metaKeys.logLevel]: optional(ref("LoggingLevel")),
      [metaKeys.progressToken]: optional(requestId),
    }),
    ResultMetaObject: object({ [metaKeys.serverInfo]: optional(ref("Implementation")) }),
    NotificationMetaObject: object({ [metaKeys.subscriptionId]: optional(requestId) }),
    RequestParams: { has: { _meta: ref("RequestMetaObject") } },
    ListRequestParams: ref("PaginatedRequestParams"),
    // A client treats an unknown `resultType` as an invalid result: basic#resulttype. Handlers may give any result a
    // lifetime, not only those that the specification lists.
    Result: { has: { resultType: literal("complete") }, down: without("ttlMs", "cacheScope") },

    // Capabilities of extensions stay in older revisions, which allow any.
    ClientCapabilities: {
      lacks: ["tasks"],
      has: { roots: optional(object({})), extensions: settings },
      stays: true,
    },
    ServerCapabilities: { lacks: ["tasks"], has: { extensions: settings }, stays: true },
    CacheableResult: extending(["Result"], lifetime),
    // server/discover
    DiscoverResult: extending(["CacheableResult"], {
      supportedVersions: array(string),
      capabilities: ref("ServerCapabilities"),
      instructions: optional(string),
    }),
    ListToolsResult: cacheable,
    ListResourcesResult: cacheable,
    ListResourceTemplatesResult: cacheable,
    ListPromptsResult: cacheable,
    ReadResourceResult: cacheable,

    ...input,
    CallToolRequestParams: { lacks: ["task"], has: inputResponses },
    CallToolOutcome: tagged("resultType", ["CallToolResult", "InputRequiredResult"]),
    ReadResourceRequestParams: { has: inputResponses },
    ReadResourceOutcome: tagged("resultType", ["ReadResourceResult", "InputRequiredResult"]),
    GetPromptRequestParams: { has: inputResponses },
    GetPromptOutcome: tagged("resultType", ["GetPromptResult", "InputRequiredResult"]),
    ...subscriptions,

    // Tasks are an extension: changelog
    Tool: { lacks: ["execution"], down: having(["outputSchema"], outputAsObject) }, // server/tools#tool
    CreateMessageRequestParams: { lacks: ["task"] },
    CreateMessageOutcome: ref("CreateMessageResult"),
    ElicitRequestFormParams: { lacks: ["task"] },
    ElicitRequestURLParams: { lacks: ["elicitationId", "task"] }, // client/elicitation
    ElicitOutcome: ref("ElicitResult"),

    // server/tools#structured-content
    InputSchema: {
      becomes: object({ type: literal("object"), $schema: optional(string) }),
      down: propertiesAsObjects,
    },
    OutputSchema: { becomes: object({ $schema: optional(string) }), down: propertiesAsObjects },
    CallToolResult: {
      has: { structuredContent: optional(any) },
      down: having(["structuredContent"], structureAsObject),
    },
    ToolResultContent: { has: { structuredContent: optional(any) } },
  },
});
