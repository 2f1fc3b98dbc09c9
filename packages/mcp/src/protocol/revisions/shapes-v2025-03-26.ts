// The differences of 2025-03-26 from 2025-06-18.
// https://modelcontextprotocol.io/specification/2025-03-26

import { amendShapes } from "../shapes/amend-shapes.js";
import type { MessageShapes } from "../shapes/message-shapes.js";
import { shapes2025_06_18 } from "./shapes-v2025-06-18.js";

/** The message shapes of 2025-03-26. */
export const shapes2025_03_26: MessageShapes = amendShapes(shapes2025_06_18, {
  BaseMetadata: { lacks: ["title"] },
  Annotations: { lacks: ["lastModified"] },
  ClientCapabilities: { lacks: ["elicitation"] },
  ContentBlock: { lacks: ["ResourceLink"] },
  CallToolResult: { lacks: ["structuredContent"] },
  CompleteRequestParams: { lacks: ["context"] },

  // Only params and results have `_meta`.
  Tool: { lacks: ["_meta", "outputSchema"] },
  Prompt: { lacks: ["_meta"] },
  Resource: { lacks: ["_meta"] },
  ResourceTemplate: { lacks: ["_meta"] },
  ResourceContents: { lacks: ["_meta"] },
  TextContent: { lacks: ["_meta"] },
  ImageContent: { lacks: ["_meta"] },
  AudioContent: { lacks: ["_meta"] },
  EmbeddedResource: { lacks: ["_meta"] },
  Root: { lacks: ["_meta"] },
});
