// The differences of 2025-11-25 from 2026-07-28.
// https://modelcontextprotocol.io/specification/2025-11-25/schema

import { metaKeys } from "../meta.js";
import { amendShapes } from "../shapes/amend-shapes.js";
import { type MessageShapes, newestShapes } from "../shapes/message-shapes.js";
import { anyOf, array, boolean, extending, literal, map, object, optional, ref, string } from "../shapes/shape.js";

const setting = optional(object({}));
const task = optional(ref("TaskMetadata"));

/** The message shapes of 2025-11-25. */
export const shapes2025_11_25: MessageShapes = amendShapes(newestShapes, {
  // The `initialize` handshake carries what 2026-07-28 puts into the `_meta` of each request.
  RequestMetaObject: {
    lacks: [metaKeys.protocolVersion, metaKeys.clientCapabilities, metaKeys.clientInfo, metaKeys.logLevel],
  },
  RequestParams: { has: { _meta: optional(ref("RequestMetaObject")) } },
  ResultMetaObject: { lacks: [metaKeys.serverInfo] },
  NotificationMetaObject: { lacks: [metaKeys.subscriptionId] },
  ListRequestParams: optional(ref("PaginatedRequestParams")),
  Result: { lacks: ["resultType"] },
  CacheableResult: { lacks: ["ttlMs", "cacheScope"] },

  // Input requests are requests of the server, not parts of a result.
  InputRequestParams: extending(["RequestParams"]),
  InputResponseRequestParams: { lacks: ["inputResponses", "requestState"] },
  GetPromptOutcome: ref("GetPromptResult"),
  ReadResourceOutcome: ref("ReadResourceResult"),
  // URL mode has an id, which the completion notification refers to.
  ElicitRequestURLParams: { has: { elicitationId: string, task } },

  // Tasks are part of the core protocol.
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

  // `structuredContent` is an object.
  InputSchema: { has: { properties: optional(map(object({}))), required: optional(array(string)) } },
  OutputSchema: extending(["InputSchema"]),
  CallToolResult: { has: { structuredContent: setting } },
  ToolResultContent: { has: { structuredContent: setting } },
});
