// Adds experimental tasks, URL elicitation, tool use in sampling, icons, a schema dialect, and polling of event
// streams.
// https://modelcontextprotocol.io/specification/2025-11-25/changelog

import { specCodes } from "../errors.js";
import { methods, notifications } from "../methods.js";
import { plainForm, withoutTools } from "./input-request-steps.js";
import { chain, each, within, without } from "./reshape.js";
import { type Edition, revise } from "./revision.js";
import { v2025_06_18 } from "./v2025-06-18.js";

const spec = "https://modelcontextprotocol.io/specification/2025-11-25";

const tasks = [methods.getTask, methods.taskResult, methods.listTasks, methods.cancelTask];
const plainImplementation = without("icons", "description", "websiteUrl");

/** 2025-11-25 as changes to 2025-06-18. */
export const v2025_11_25: Edition = revise(v2025_06_18, "2025-11-25", {
  requests: {
    client: { added: tasks }, // basic/utilities/tasks
    server: { added: tasks },
  },
  notifications: {
    client: { added: [notifications.taskStatus] }, // basic/utilities/tasks#task-status-notification
    server: {
      added: [
        notifications.taskStatus,
        notifications.elicitationComplete, // client/elicitation#completion-notifications-for-url-mode-elicitation
      ],
    },
  },

  facts: {
    errorId: "optional", // basic#error-responses
    icons: true, // basic#icons
    metaKeys: "second-label", // basic#meta
    toolSchemas: "2020-12", // basic#json-schema-usage
    toolArgumentErrors: "result", // server/tools#error-handling
    elicitation: "form, url with id", // client/elicitation#url-mode-elicitation-requests
    samplingTools: true, // client/sampling
    tasks: "core", // basic/utilities/tasks
    httpPolling: true, // basic/transports#sending-messages-to-the-server
    httpOriginRefusal: 403, // basic/transports#security-warning
    authorization: "client metadata", // basic/authorization
  },

  codes: {
    urlElicitationRequired: specCodes.urlElicitationRequired, // client/elicitation#url-elicitation-required-error
  },

  steps: [
    {
      of: "params",
      method: methods.initialize,
      down: within("clientInfo", plainImplementation),
      spec: `${spec}/schema#implementation`,
    },
    {
      of: "result",
      method: methods.initialize,
      down: chain([within("serverInfo", plainImplementation), within("capabilities", without("tasks"))]),
      spec: `${spec}/schema#initializeresult`,
    },
    {
      of: "result",
      method: methods.listTools,
      down: within("tools", each(without("icons", "execution"))),
      spec: `${spec}/server/tools#tool`,
    },
    {
      of: "result",
      method: methods.callTool,
      down: within("content", each(without("icons"))),
      spec: `${spec}/server/tools#resource-links`,
    },
    {
      of: "result",
      method: methods.listResources,
      down: within("resources", each(without("icons"))),
      spec: `${spec}/server/resources#resource`,
    },
    {
      of: "result",
      method: methods.listResourceTemplates,
      down: within("resourceTemplates", each(without("icons"))),
      spec: `${spec}/schema#resourcetemplate`,
    },
    {
      of: "result",
      method: methods.listPrompts,
      down: within("prompts", each(without("icons"))),
      spec: `${spec}/server/prompts#prompt`,
    },
    {
      of: "result",
      method: methods.getPrompt,
      down: within("messages", each(within("content", without("icons")))),
      spec: `${spec}/server/prompts#promptmessage`,
    },
    {
      of: "params",
      method: methods.elicit,
      down: plainForm,
      spec: `${spec}/client/elicitation#requested-schema`,
    },
    {
      of: "params",
      method: methods.createMessage,
      down: withoutTools,
      spec: `${spec}/client/sampling#tool-use-in-sampling`,
    },
  ],
});
