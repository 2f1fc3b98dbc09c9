// What 2025-11-25 lacks of 2026-07-28, or has otherwise.
// https://modelcontextprotocol.io/specification/2025-11-25/schema

import { metaKeys } from "../protocol/meta.js";
import { amendShapes } from "../protocol/shapes/amend-shapes.js";
import { type MessageShapes, newestShapes } from "../protocol/shapes/message-shapes.js";
import {
  anyOf,
  array,
  boolean,
  extending,
  literal,
  map,
  object,
  optional,
  ref,
  string,
} from "../protocol/shapes/shape.js";

const setting = optional(object({}));
const task = optional(ref("TaskMetadata"));

/** The messages of 2025-11-25. */
export const shapes2025_11_25: MessageShapes = amendShapes(newestShapes, {
  // The handshake says once what every request says for itself in 2026-07-28.
  RequestMetaObject: {
    lacks: [metaKeys.protocolVersion, metaKeys.clientCapabilities, metaKeys.clientInfo, metaKeys.logLevel],
  },
  RequestParams: { has: { _meta: optional(ref("RequestMetaObject")) } },
  ResultMetaObject: { lacks: [metaKeys.serverInfo] },
  NotificationMetaObject: { lacks: [metaKeys.subscriptionId] },
  ListRequestParams: optional(ref("PaginatedRequestParams")),
  Result: { lacks: ["resultType"] },
  CacheableResult: { lacks: ["ttlMs", "cacheScope"] },

  // The server asks by requests of its own, not by results.
  InputRequestParams: extending(["RequestParams"]),
  InputResponseRequestParams: { lacks: ["inputResponses", "requestState"] },
  GetPromptOutcome: ref("GetPromptResult"),
  ReadResourceOutcome: ref("ReadResourceResult"),
  // A page to visit has an id, under which the server tells that it is done.
  ElicitRequestURLParams: { has: { elicitationId: string, task } },

  // Tasks belong to the core protocol.
  CallToolRequestParams: { has: { task } },
  CallToolOutcome: anyOf("the result of a tool, or a task", [ref("CallToolResult"), ref("CreateTaskResult")]),
  CreateMessageRequestParams: { has: { task } },
  CreateMessageOutcome: anyOf("a message, or a task", [ref("CreateMessageResult"), ref("CreateTaskResult")]),
  ElicitRequestFormParams: { has: { task } },
  ElicitOutcome: anyOf("an answer, or a task", [ref("ElicitResult"), ref("CreateTaskResult")]),
  Tool: {
    has: { execution: optional(object({ taskSupport: optional(literal("forbidden", "optional", "required")) })) },
  },
  ClientCapabilities: {
    lacks: ["extensions"],
    has: {
      roots: optional(object({ listChanged: optional(boolean) })),
      tasks: optional(
        object({
          list: setting,
          cancel: setting,
          requests: optional(
            object({
              sampling: optional(object({ createMessage: setting })),
              elicitation: optional(object({ create: setting })),
            }),
          ),
        }),
      ),
    },
  },
  ServerCapabilities: {
    lacks: ["extensions"],
    has: {
      tasks: optional(
        object({
          list: setting,
          cancel: setting,
          requests: optional(object({ tools: optional(object({ call: setting })) })),
        }),
      ),
    },
  },

  // What a tool returns is an object.
  InputSchema: { has: { properties: optional(map(object({}))), required: optional(array(string)) } },
  OutputSchema: extending(["InputSchema"]),
  CallToolResult: { has: { structuredContent: setting } },
  ToolResultContent: { has: { structuredContent: setting } },
});
