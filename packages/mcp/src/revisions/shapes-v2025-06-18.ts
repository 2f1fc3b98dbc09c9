// What 2025-06-18 lacks of 2025-11-25, or has otherwise.
// https://modelcontextprotocol.io/specification/2025-06-18/schema

import { amendShapes } from "../protocol/shapes/amend-shapes.js";
import type { MessageShapes } from "../protocol/shapes/message-shapes.js";
import { anyOf, boolean, map, number, object, optional, ref, string } from "../protocol/shapes/shape.js";
import { shapes2025_11_25 } from "./shapes-v2025-11-25.js";

/** The messages of 2025-06-18. */
export const shapes2025_06_18: MessageShapes = amendShapes(shapes2025_11_25, {
  Icons: { lacks: ["icons"] },
  Implementation: { lacks: ["description", "websiteUrl"] },
  InputSchema: { lacks: ["$schema"] },

  // Neither tasks, nor a word on what sampling and elicitation can do.
  Tool: { lacks: ["execution"] },
  CallToolRequestParams: { lacks: ["task"] },
  CallToolOutcome: ref("CallToolResult"),
  CreateMessageOutcome: ref("CreateMessageResult"),
  ElicitOutcome: ref("ElicitResult"),
  ClientCapabilities: {
    lacks: ["tasks"],
    has: { sampling: optional(object({})), elicitation: optional(object({})) },
  },
  ServerCapabilities: { lacks: ["tasks"] },

  // A message holds one block, and a sampled model calls no tools.
  SamplingContent: ref("SamplingMessageContentBlock"),
  SamplingMessageContentBlock: { lacks: ["ToolUseContent", "ToolResultContent"] },
  SamplingMessage: { lacks: ["_meta"] },
  CreateMessageRequestParams: { lacks: ["tools", "toolChoice", "task"] },

  // A person is only asked to fill in a form, with one choice per field and hardly anything filled in beforehand.
  ElicitRequestParams: ref("ElicitRequestFormParams"),
  ElicitRequestFormParams: { lacks: ["mode", "task"] },
  RequestedSchema: { lacks: ["$schema"] },
  PrimitiveSchemaDefinition: { lacks: ["MultiSelectEnumSchema"] },
  StringSchema: { lacks: ["oneOf", "default"] },
  NumberSchema: { lacks: ["default"] },
  ElicitResult: {
    has: { content: optional(map(anyOf("a string, a number or a boolean", [string, number, boolean]))) },
  },
});
