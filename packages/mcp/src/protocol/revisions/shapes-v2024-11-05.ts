// The differences of 2024-11-05 from 2025-03-26.
// https://modelcontextprotocol.io/specification/2024-11-05

import { amendShapes } from "../shapes/amend-shapes.js";
import type { MessageShapes } from "../shapes/message-shapes.js";
import { shapes2025_03_26 } from "./shapes-v2025-03-26.js";

/** The message shapes of 2024-11-05. */
export const shapes2024_11_05: MessageShapes = amendShapes(shapes2025_03_26, {
  Tool: { lacks: ["annotations"] },
  ServerCapabilities: { lacks: ["completions"] },
  ProgressNotificationParams: { lacks: ["message"] },
  ContentBlock: { lacks: ["AudioContent"] },
  SamplingMessageContentBlock: { lacks: ["AudioContent"] },
});
