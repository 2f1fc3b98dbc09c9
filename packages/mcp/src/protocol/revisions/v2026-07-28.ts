// Removes the handshake, HTTP sessions and requests from the server: every request declares its own revision and
// capabilities.
// https://modelcontextprotocol.io/specification/2026-07-28/changelog

import { codes } from "../../jsonrpc/errors.js";
import { specCodes } from "../errors.js";
import { methods, notifications } from "../methods.js";
import { chain, each, eachMember, object, within, without } from "./reshape.js";
import { anyMethod, type Edition, revise } from "./revision.js";
import { outputAsObject, structureAsObject } from "./structured-content.js";
import { v2025_11_25 } from "./v2025-11-25.js";

const spec = "https://modelcontextprotocol.io/specification/2026-07-28";

const tasks = [methods.getTask, methods.taskResult, methods.listTasks, methods.cancelTask];

// In older revisions a property's schema must be an object; these are the equivalents of `true` and `false`.
const schemaObject = (schema: unknown): unknown => (schema === true ? {} : schema === false ? { not: {} } : schema);
const propertiesAsObjects = within("properties", eachMember(schemaObject));

const plainSchemas = chain([
  object(outputAsObject),
  within("inputSchema", propertiesAsObjects),
  within("outputSchema", propertiesAsObjects),
]);

/** 2026-07-28 as changes to 2025-11-25. */
export const v2026_07_28: Edition = revise(v2025_11_25, "2026-07-28", {
  era: "stateless", // basic#statelessness

  requests: {
    client: {
      added: [
        methods.discover, // server/discover
        methods.listen, // basic/patterns/subscriptions
      ],
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
      added: [notifications.acknowledged], // basic/patterns/subscriptions
      removed: [notifications.taskStatus, notifications.elicitationComplete],
    },
  },
  inputRequests: { added: [methods.createMessage, methods.listRoots, methods.elicit] }, // basic/patterns/mrtr

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

  dropped: [
    {
      of: "result",
      method: methods.discover,
      down: within("capabilities", without("tasks")),
      spec: `${spec}/changelog`,
    },
    {
      of: "result",
      method: methods.listTools,
      down: within("tools", each(without("execution"))),
      spec: `${spec}/changelog`,
    },
  ],

  steps: [
    {
      of: "result",
      method: anyMethod,
      down: without("resultType"),
      spec: `${spec}/basic#resulttype`,
    },
    {
      of: "result",
      method: anyMethod,
      down: without("ttlMs", "cacheScope"),
      spec: `${spec}/server/utilities/caching#cacheable-model`,
    },
    {
      of: "result",
      method: methods.listTools,
      down: within("tools", each(plainSchemas)),
      spec: `${spec}/server/tools#tool`,
    },
    {
      of: "result",
      method: methods.callTool,
      down: object(structureAsObject),
      spec: `${spec}/server/tools#structured-content`,
    },
  ],
});
