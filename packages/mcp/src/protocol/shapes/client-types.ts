import { methods } from "../methods.js";
import {
  any,
  anyOf,
  array,
  boolean,
  extending,
  fraction,
  integer,
  literal,
  map,
  number,
  object,
  optional,
  ref,
  string,
  type Types,
  tagged,
  uri,
} from "./shape.js";
import { meta } from "./wrapper-types.js";

const sampling: Types = {
  ToolUseContent: object({ type: literal("tool_use"), id: string, name: string, input: object({}), _meta: meta }),
  ToolResultContent: object({
    type: literal("tool_result"),
    toolUseId: string,
    content: array(ref("ContentBlock")),
    structuredContent: optional(any),
    isError: optional(boolean),
    _meta: meta,
  }),
  SamplingMessageContentBlock: tagged("type", [
    "TextContent",
    "ImageContent",
    "AudioContent",
    "ToolUseContent",
    "ToolResultContent",
  ]),
  SamplingContent: anyOf("a content block or an array of them", [
    ref("SamplingMessageContentBlock"),
    array(ref("SamplingMessageContentBlock")),
  ]),
  SamplingMessage: object({ role: ref("Role"), content: ref("SamplingContent"), _meta: meta }),
  ModelPreferences: object({
    hints: optional(array(object({ name: optional(string) }))),
    costPriority: optional(fraction),
    speedPriority: optional(fraction),
    intelligencePriority: optional(fraction),
  }),
  CreateMessageRequestParams: extending(["InputRequestParams"], {
    messages: array(ref("SamplingMessage")),
    maxTokens: integer,
    modelPreferences: optional(ref("ModelPreferences")),
    systemPrompt: optional(string),
    includeContext: optional(literal("none", "thisServer", "allServers")),
    temperature: optional(number),
    stopSequences: optional(array(string)),
    metadata: optional(object({})),
    tools: optional(array(ref("Tool"))),
    toolChoice: optional(object({ mode: optional(literal("auto", "required", "none")) })),
  }),
  CreateMessageResult: object({
    role: ref("Role"),
    content: ref("SamplingContent"),
    model: string,
    stopReason: optional(string),
    _meta: meta,
  }),
  CreateMessageOutcome: ref("CreateMessageResult"),
};

const label = { title: optional(string), description: optional(string) };
const titled = array(object({ const: string, title: string }));

const elicitation: Types = {
  // A text field or a choice: plain with `enum`, titled with `oneOf`.
  StringSchema: object({
    type: literal("string"),
    ...label,
    minLength: optional(integer),
    maxLength: optional(integer),
    format: optional(literal("date", "date-time", "email", "uri")),
    enum: optional(array(string)),
    enumNames: optional(array(string)),
    oneOf: optional(titled),
    default: optional(string),
  }),
  NumberSchema: object({
    type: literal("number", "integer"),
    ...label,
    minimum: optional(number),
    maximum: optional(number),
    default: optional(number),
  }),
  BooleanSchema: object({ type: literal("boolean"), ...label, default: optional(boolean) }),
  MultiSelectEnumSchema: object({
    type: literal("array"),
    ...label,
    items: anyOf("an object with enum or anyOf", [
      object({ type: literal("string"), enum: array(string) }),
      object({ anyOf: titled }),
    ]),
    minItems: optional(integer),
    maxItems: optional(integer),
    default: optional(array(string)),
  }),
  PrimitiveSchemaDefinition: tagged("type", ["StringSchema", "NumberSchema", "BooleanSchema", "MultiSelectEnumSchema"]),
  RequestedSchema: object({
    type: literal("object"),
    $schema: optional(string),
    properties: map(ref("PrimitiveSchemaDefinition")),
    required: optional(array(string)),
  }),
  ElicitRequestFormParams: extending(["InputRequestParams"], {
    mode: optional(literal("form")),
    message: string,
    requestedSchema: ref("RequestedSchema"),
  }),
  ElicitRequestURLParams: extending(["InputRequestParams"], { mode: literal("url"), message: string, url: uri }),
  ElicitRequestParams: tagged("mode", ["ElicitRequestFormParams", "ElicitRequestURLParams"]),
  ElicitResult: object({
    action: literal("accept", "decline", "cancel"),
    content: optional(
      map(anyOf("a string, a number, a boolean or an array of strings", [string, number, boolean, array(string)])),
    ),
    _meta: meta,
  }),
  ElicitOutcome: ref("ElicitResult"),
};

const roots: Types = {
  Root: object({ uri, name: optional(string), _meta: meta }),
  ListRootsResult: object({ roots: array(ref("Root")), _meta: meta }),
};

const inputRequests = map(ref("InputRequest"));

const input: Types = {
  CreateMessageRequest: object({
    method: literal(methods.createMessage),
    params: ref("CreateMessageRequestParams"),
  }),
  ListRootsRequest: object({ method: literal(methods.listRoots), params: optional(ref("InputRequestParams")) }),
  ElicitRequest: object({ method: literal(methods.elicit), params: ref("ElicitRequestParams") }),
  InputRequest: tagged("method", ["CreateMessageRequest", "ListRootsRequest", "ElicitRequest"]),
  InputResponse: anyOf("the result of elicitation/create, sampling/createMessage or roots/list", [
    ref("CreateMessageResult"),
    ref("ListRootsResult"),
    ref("ElicitResult"),
  ]),
  AskingResult: extending(["Result"], { resultType: literal("input_required") }),
  // At least one of the two must be present: basic/patterns/mrtr
  InputRequiredResult: anyOf("an object with inputRequests, requestState or both", [
    extending(["AskingResult"], { inputRequests, requestState: optional(string) }),
    extending(["AskingResult"], { inputRequests: optional(inputRequests), requestState: string }),
  ]),
};

/** The types of requests to a client and of its results. */
export const clientTypes: Types = { ...sampling, ...elicitation, ...roots, ...input };
