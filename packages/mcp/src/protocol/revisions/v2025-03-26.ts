// Adds Streamable HTTP, authorization, batches, audio, tool annotations and progress messages.
// https://modelcontextprotocol.io/specification/2025-03-26/changelog

import { methods, notifications } from "../methods.js";
import { each, object, within, without } from "./reshape.js";
import { type Edition, revise } from "./revision.js";
import { v2024_11_05 } from "./v2024-11-05.js";

const spec = "https://modelcontextprotocol.io/specification/2025-03-26";

const soundAsText = object((block) => {
  if (block.type !== "audio") return block;
  const { data, mimeType, ...rest } = block;
  const kind = typeof mimeType === "string" ? mimeType : "of an unknown type";
  return { ...rest, type: "text", text: `[audio that this revision of the protocol cannot carry: ${kind}]` };
});

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

  steps: [
    {
      of: "notification",
      method: notifications.progress,
      down: without("message"),
      spec: `${spec}/basic/utilities/progress`,
    },
    {
      of: "result",
      method: methods.listTools,
      down: within("tools", each(without("annotations"))),
      spec: `${spec}/server/tools#tool`,
    },
    {
      of: "result",
      method: methods.callTool,
      down: within("content", each(soundAsText)),
      spec: `${spec}/server/tools#audio-content`,
    },
    {
      of: "params",
      method: methods.createMessage,
      down: within("messages", each(within("content", soundAsText))),
      spec: `${spec}/client/sampling#audio-content`,
    },
    {
      of: "result",
      method: methods.getPrompt,
      down: within("messages", each(within("content", soundAsText))),
      spec: `${spec}/server/prompts#audio-content`,
    },
    {
      of: "result",
      method: methods.initialize,
      down: within("capabilities", without("completions")),
      spec: `${spec}/server/utilities/completion#capabilities`,
    },
  ],
});
