// The differences of 2025-06-18 from 2025-11-25.
// https://modelcontextprotocol.io/specification/2025-06-18/schema

import { amendShapes } from "../shapes/amend-shapes.js";
import type { MessageShapes } from "../shapes/message-shapes.js";
import { anyOf, boolean, map, number, object, optional, ref, string } from "../shapes/shape.js";
import { shapes2025_11_25 } from "./shapes-v2025-11-25.js";

/** The message shapes of 2025-06-18. */
export const shapes2025_06_18: MessageShapes = amendShapes(shapes2025_11_25, {
  Icons: { lacks: ["icons"] },
  Implementation: { lacks: ["description", "websiteUrl"] },
  InputSchema: { lacks: ["$schema"] },

  // No tasks, and no sub-capabilities of sampling and elicitation.
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

  // Messages have a single block, and sampled models cannot use tools.
  SamplingContent: ref("SamplingMessageContentBlock"),
  SamplingMessageContentBlock: { lacks: ["ToolUseContent", "ToolResultContent"] },
  SamplingMessage: { lacks: ["_meta"] },
  CreateMessageRequestParams: { lacks: ["tools", "toolChoice", "task"] },

  // Form mode only, with single-choice fields, and defaults for booleans only.
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
