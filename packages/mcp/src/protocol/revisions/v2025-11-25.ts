// Adds experimental tasks, URL elicitation, tool use in sampling, icons, a schema dialect, and polling of event
// streams.
// https://modelcontextprotocol.io/specification/2025-11-25/changelog

import { isObject, type JsonObject } from "../../base/json.js";
import { specCodes } from "../errors.js";
import { methods, notifications } from "../methods.js";
import {
  anyOf,
  array,
  boolean,
  extending,
  integer,
  literal,
  map,
  number,
  object,
  optional,
  ref,
  type Shape,
  string,
  type Types,
  tagged,
  uri,
} from "../shapes/shape.js";
import { having, within } from "./conversion.js";
import { type Edition, type RevisedTypes, revise } from "./revision.js";
import { meta } from "./v2024-11-05.js";
import { v2025_06_18 } from "./v2025-06-18.js";

/** Writes titled choices as `enumNames`, which older revisions use. */
const titlesAsNames = having(["oneOf"], (field) => {
  const { oneOf, ...rest } = field;
  if (!Array.isArray(oneOf)) return field;
  const choices: readonly unknown[] = oneOf;
  const pick = (member: string): unknown[] => choices.map((choice) => (isObject(choice) ? choice[member] : choice));
  return { ...rest, enum: pick("const"), enumNames: pick("title") };
});

/** Splits a message with several blocks into messages of one block each, with the same role. */
const singleBlocks = within("messages", (messages) => {
  if (!Array.isArray(messages)) return messages;
  const isSingle = (message: unknown): boolean => !isObject(message) || !Array.isArray(message.content);
  return messages.every(isSingle) ? messages : messages.flatMap(split);
});

function split(message: unknown): readonly unknown[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message];
  const blocks: readonly unknown[] = message.content;
  return blocks.map((content): JsonObject => ({ ...message, content }));
}

const taskParams = extending(["RequestParams"], { taskId: string });

const taskRequests = {
  [methods.getTask]: { params: ref("GetTaskRequestParams"), result: ref("GetTaskResult") },
  // The result of the request that was run as the task.
  [methods.taskResult]: { params: ref("GetTaskRequestParams"), result: ref("Result") },
  [methods.listTasks]: { params: ref("ListRequestParams"), result: ref("ListTasksResult") },
  [methods.cancelTask]: { params: ref("GetTaskRequestParams"), result: ref("GetTaskResult") },
};
const taskStatus = { [notifications.taskStatus]: ref("TaskStatusNotificationParams") };

/** basic/utilities/tasks */
const tasks: Types = {
  TaskMetadata: object({ ttl: optional(integer) }),
  Task: object({
    taskId: string,
    status: literal("working", "input_required", "completed", "failed", "cancelled"),
    statusMessage: optional(string),
    createdAt: string,
    lastUpdatedAt: string,
    ttl: anyOf("an integer or null", [integer, literal(null)]),
    pollInterval: optional(integer),
  }),
  CreateTaskResult: extending(["Result"], { task: ref("Task") }),
  GetTaskRequestParams: taskParams,
  GetTaskResult: extending(["Result", "Task"]),
  ListTasksResult: extending(["PaginatedResult"], { tasks: array(ref("Task")) }),
  TaskStatusNotificationParams: extending(["NotificationParams", "Task"]),
};
const task = optional(ref("TaskMetadata"));
const setting = optional(object({}));

/** The `tasks` capability. @param requests the requests that can run as tasks */
function taskCapability(requests: Readonly<Record<string, Shape>>): Shape {
  return optional(object({ list: setting, cancel: setting, requests: optional(object(requests)) }));
}

/** client/elicitation */
const elicitation: RevisedTypes = {
  ElicitRequestURLParams: extending(["InputRequestParams"], {
    mode: literal("url"),
    message: string,
    url: uri,
    // The completion notification refers to it.
    elicitationId: string,
    task,
  }),
  ElicitRequestFormParams: { has: { mode: optional(literal("form")), task } },
  ElicitRequestParams: tagged("mode", ["ElicitRequestFormParams", "ElicitRequestURLParams"]),
  ElicitationCompleteNotificationParams: extending(["NotificationParams"], { elicitationId: string }),
  RequestedSchema: { has: { $schema: optional(string) } },
  StringSchema: {
    has: { oneOf: optional(array(object({ const: string, title: string }))), default: optional(string) },
    down: titlesAsNames,
  },
  NumberSchema: { has: { default: optional(number) } },
  // Fields with several choices have no equivalent in older revisions; servers refuse such forms there.
  MultiSelectEnumSchema: object({
    type: literal("array"),
    title: optional(string),
    description: optional(string),
    items: anyOf("an object with enum or anyOf", [
      object({ type: literal("string"), enum: array(string) }),
      object({ anyOf: array(object({ const: string, title: string })) }),
    ]),
    minItems: optional(integer),
    maxItems: optional(integer),
    default: optional(array(string)),
  }),
  PrimitiveSchemaDefinition: { allows: ["MultiSelectEnumSchema"] },
  ElicitResult: {
    has: {
      content: optional(
        map(anyOf("a string, a number, a boolean or an array of strings", [string, number, boolean, array(string)])),
      ),
    },
  },
  ElicitOutcome: anyOf("an object with action, or with task", [ref("ElicitResult"), ref("CreateTaskResult")]),
};

/** client/sampling#tool-use-in-sampling */
const sampling: RevisedTypes = {
  ToolUseContent: object({ type: literal("tool_use"), id: string, name: string, input: object({}), _meta: meta }),
  ToolResultContent: object({
    type: literal("tool_result"),
    toolUseId: string,
    content: array(ref("ContentBlock")),
    structuredContent: setting,
    isError: optional(boolean),
    _meta: meta,
  }),
  SamplingMessageContentBlock: { allows: ["ToolUseContent", "ToolResultContent"] },
  SamplingContent: anyOf("a content block or an array of them", [
    ref("SamplingMessageContentBlock"),
    array(ref("SamplingMessageContentBlock")),
  ]),
  SamplingMessage: { has: { _meta: meta } },
  CreateMessageRequestParams: {
    has: {
      tools: optional(array(ref("Tool"))),
      toolChoice: optional(object({ mode: optional(literal("auto", "required", "none")) })),
      task,
    },
    down: singleBlocks,
  },
  CreateMessageOutcome: anyOf("an object with role, content and model, or with task", [
    ref("CreateMessageResult"),
    ref("CreateTaskResult"),
  ]),
};

const icons = { icons: optional(array(ref("Icon"))) };

/** 2025-11-25 as changes to 2025-06-18. */
export const v2025_11_25: Edition = revise(v2025_06_18, "2025-11-25", {
  requests: {
    client: { added: taskRequests }, // basic/utilities/tasks
    server: { added: taskRequests },
  },
  notifications: {
    client: { added: taskStatus }, // basic/utilities/tasks#task-status-notification
    server: {
      added: {
        ...taskStatus,
        // client/elicitation#completion-notifications-for-url-mode-elicitation
        [notifications.elicitationComplete]: ref("ElicitationCompleteNotificationParams"),
      },
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
  errors: new Map([[specCodes.urlElicitationRequired, object({ elicitations: array(ref("ElicitRequestURLParams")) })]]),

  types: {
    // basic#icons
    Icon: object({
      src: uri,
      mimeType: optional(string),
      sizes: optional(array(string)),
      theme: optional(literal("light", "dark")),
    }),
    Implementation: { has: { ...icons, description: optional(string), websiteUrl: optional(uri) } },
    Prompt: { has: icons },
    Resource: { has: icons },
    ResourceTemplate: { has: icons },
    Tool: {
      has: {
        ...icons,
        execution: optional(object({ taskSupport: optional(literal("forbidden", "optional", "required")) })),
      },
    },
    // basic#json-schema-usage. Older revisions allow any keyword of JSON Schema, so it stays there.
    InputSchema: { has: { $schema: optional(string) }, stays: true },

    ClientCapabilities: {
      has: {
        sampling: optional(object({ context: setting, tools: setting })),
        elicitation: optional(object({ form: setting, url: setting })),
        tasks: taskCapability({
          sampling: optional(object({ createMessage: setting })),
          elicitation: optional(object({ create: setting })),
        }),
      },
    },
    ServerCapabilities: { has: { tasks: taskCapability({ tools: optional(object({ call: setting })) }) } },

    ...tasks,
    CallToolRequestParams: { has: { task } },
    CallToolOutcome: anyOf("an object with content, or with task", [ref("CallToolResult"), ref("CreateTaskResult")]),
    ...elicitation,
    ...sampling,
  },
});
