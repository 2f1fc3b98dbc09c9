// The first revision: handshake, tools, resources, prompts, sampling and roots, over stdio and HTTP+SSE.
// https://modelcontextprotocol.io/specification/2024-11-05

import { codes } from "../../jsonrpc/errors.js";
import { specCodes } from "../errors.js";
import { methods, notifications } from "../methods.js";
import type { Edition } from "./revision.js";

const { parseError, invalidRequest, methodNotFound, invalidParams, internalError } = codes;

/** The complete definition of 2024-11-05. */
export const v2024_11_05: Edition = {
  version: "2024-11-05",
  era: "handshake",

  requests: {
    client: new Set([
      methods.initialize,
      methods.ping,
      methods.listTools,
      methods.callTool,
      methods.listResources,
      methods.listResourceTemplates,
      methods.readResource,
      methods.subscribe,
      methods.unsubscribe,
      methods.listPrompts,
      methods.getPrompt,
      methods.complete,
      methods.setLevel,
    ]),
    server: new Set([methods.ping, methods.createMessage, methods.listRoots]),
  },

  notifications: {
    client: new Set([
      notifications.initialized,
      notifications.cancelled,
      notifications.progress,
      notifications.rootsChanged,
    ]),
    server: new Set([
      notifications.cancelled,
      notifications.progress,
      notifications.message,
      notifications.resourceUpdated,
      notifications.resourcesChanged,
      notifications.toolsChanged,
      notifications.promptsChanged,
    ]),
  },

  inputRequests: new Set(),

  facts: {
    // JSON-RPC has batches, but the schema of this revision has no arrays, and 2025-03-26, which adds them, warns that
    // earlier peers may not support them. A batch gets an error, so its sender can repeat the messages singly.
    batches: false,
    errorId: "required",

    negotiation: "should",

    progressMessage: false,
    titles: false,
    icons: false,
    itemMeta: false,
    metaKeys: "free",

    audio: false,
    resourceLinks: false,
    toolAnnotations: false,
    structuredContent: "none",
    toolSchemas: "unnamed",
    toolArgumentErrors: "any",

    completionsCapability: false,
    completionContext: false,
    elicitation: "none",
    samplingTools: false,
    tasks: "none",

    httpBinding: "http+sse",
    httpPolling: false,
    httpVersionHeader: "none",
    httpOriginRefusal: undefined,
    authorization: "none",
  },

  codes: {
    parseError,
    invalidRequest,
    methodNotFound,
    invalidParams,
    internalError,
    // https://modelcontextprotocol.io/specification/2024-11-05/server/resources#error-handling
    resourceNotFound: specCodes.resourceNotFound,
    // https://modelcontextprotocol.io/specification/2024-11-05/client/sampling#error-handling
    userRejected: specCodes.userRejected,
    urlElicitationRequired: undefined,
    headerMismatch: undefined,
    missingRequiredClientCapability: undefined,
    unsupportedProtocolVersion: undefined,
  },

  steps: [],
  dropped: [],
};
