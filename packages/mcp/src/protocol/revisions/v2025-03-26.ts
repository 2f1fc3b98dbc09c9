// Adds Streamable HTTP, authorization, batches, audio, tool annotations and progress messages.
// https://modelcontextprotocol.io/specification/2025-03-26/changelog

import { base64, boolean, literal, object, optional, ref, string, tagged } from "../shapes/shape.js";
import { having } from "./conversion.js";
import { type Edition, revise } from "./revision.js";
import { v2024_11_05 } from "./v2024-11-05.js";

const audioAsText = having(["type"], (block) => {
  if (block.type !== "audio") return block;
  const { data, mimeType, ...rest } = block;
  const kind = typeof mimeType === "string" ? mimeType : "of an unknown type";
  return { ...rest, type: "text", text: `[audio that this revision of the protocol cannot carry: ${kind}]` };
});

const toolHint = optional(boolean);

/** 2025-03-26 as changes to 2024-11-05. */
export const v2025_03_26: Edition = revise(v2024_11_05, "2025-03-26", {
  facts: {
    batches: true, // basic#batching
    progressMessage: true, // basic/utilities/progress
    audio: true, // server/tools#audio-content
    toolAnnotations: true, // server/tools#tool
    completionsCapability: true, // server/utilities/completion#capabilities
    httpBinding: "session", // basic/transports#streamable-http
    authorization: "own server", // basic/authorization
  },

  types: {
    ServerCapabilities: { has: { completions: optional(object({})) } }, // server/utilities/completion#capabilities
    ProgressNotificationParams: { has: { message: optional(string) } }, // basic/utilities/progress

    // server/tools#tool
    ToolAnnotations: object({
      title: optional(string),
      readOnlyHint: toolHint,
      destructiveHint: toolHint,
      idempotentHint: toolHint,
      openWorldHint: toolHint,
    }),
    Tool: { has: { annotations: optional(ref("ToolAnnotations")) } },

    // server/tools#audio-content, server/prompts#audio-content
    AudioContent: object({
      type: literal("audio"),
      data: base64,
      mimeType: string,
      annotations: optional(ref("Annotations")),
    }),
    ContentBlock: {
      becomes: tagged("type", ["TextContent", "ImageContent", "AudioContent", "EmbeddedResource"]),
      down: audioAsText,
    },
    // client/sampling#audio-content
    SamplingMessageContentBlock: { allows: ["AudioContent"], down: audioAsText },
  },
});
