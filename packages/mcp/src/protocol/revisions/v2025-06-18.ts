// Removes batches; adds elicitation, structured tool output, resource links, titles, and `_meta` on all listed items.
// https://modelcontextprotocol.io/specification/2025-06-18/changelog

import type { JsonObject } from "../../base/json.js";
import { methods } from "../methods.js";
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
  string,
  tagged,
} from "../shapes/shape.js";
import { having } from "./conversion.js";
import { type Edition, revise } from "./revision.js";
import { structureAsText } from "./structured-content.js";
import { meta } from "./v2024-11-05.js";
import { v2025_03_26 } from "./v2025-03-26.js";

const linkAsText = having(["type"], (block) => {
  if (block.type !== "resource_link") return block;
  const { annotations } = block;
  return { type: "text", text: describeLink(block), ...(annotations === undefined ? {} : { annotations }) };
});

function describeLink({ title, name, uri, mimeType, description }: JsonObject): string {
  const lines = [title ?? name, uri, mimeType, description].filter((line) => typeof line === "string");
  return `Resource link: ${lines.join("\n")}`;
}

const label = { title: optional(string), description: optional(string) };
const withMeta = { has: { _meta: meta } };

/** 2025-06-18 as changes to 2025-03-26. */
export const v2025_06_18: Edition = revise(v2025_03_26, "2025-06-18", {
  requests: {
    // client/elicitation
    server: { added: { [methods.elicit]: { params: ref("ElicitRequestParams"), result: ref("ElicitOutcome") } } },
  },

  facts: {
    batches: false, // changelog
    negotiation: "must", // basic/lifecycle#operation
    titles: true, // schema#tool
    itemMeta: true, // basic#meta
    metaKeys: "prefix", // basic#meta
    resourceLinks: true, // server/tools#resource-links
    structuredContent: "object", // server/tools#structured-content
    completionContext: true, // server/utilities/completion
    elicitation: "form", // client/elicitation
    httpVersionHeader: "after initialize", // basic/transports#protocol-version-header
    authorization: "resource server", // basic/authorization#authorization-server-discovery
  },

  types: {
    BaseMetadata: { has: { title: optional(string) } }, // schema#basemetadata
    Annotations: { has: { lastModified: optional(string) } }, // schema#annotations
    // server/utilities/completion
    CompleteRequestParams: { has: { context: optional(object({ arguments: optional(map(string)) })) } },

    // server/tools#structured-content
    OutputSchema: extending(["InputSchema"]),
    Tool: { has: { outputSchema: optional(ref("OutputSchema")), _meta: meta } },
    CallToolResult: {
      has: { structuredContent: optional(object({})) },
      down: having(["structuredContent"], structureAsText),
    },

    // server/tools#resource-links
    ResourceLink: extending(["Resource"], { type: literal("resource_link") }),
    ContentBlock: {
      becomes: tagged("type", ["TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource"]),
      down: linkAsText,
    },

    // basic#meta
    Prompt: withMeta,
    Resource: withMeta,
    ResourceTemplate: withMeta,
    ResourceContents: withMeta,
    TextContent: withMeta,
    ImageContent: withMeta,
    AudioContent: withMeta,
    EmbeddedResource: withMeta,
    Root: withMeta,

    // client/elicitation
    ClientCapabilities: { has: { elicitation: optional(object({})) } },
    // A text field or a choice, whose titles are in `enumNames`.
    StringSchema: object({
      type: literal("string"),
      ...label,
      minLength: optional(integer),
      maxLength: optional(integer),
      format: optional(literal("date", "date-time", "email", "uri")),
      enum: optional(array(string)),
      enumNames: optional(array(string)),
    }),
    NumberSchema: object({
      type: literal("number", "integer"),
      ...label,
      minimum: optional(number),
      maximum: optional(number),
    }),
    BooleanSchema: object({ type: literal("boolean"), ...label, default: optional(boolean) }),
    PrimitiveSchemaDefinition: tagged("type", ["StringSchema", "NumberSchema", "BooleanSchema"]),
    RequestedSchema: object({
      type: literal("object"),
      properties: map(ref("PrimitiveSchemaDefinition")),
      required: optional(array(string)),
    }),
    ElicitRequestFormParams: extending(["InputRequestParams"], {
      message: string,
      requestedSchema: ref("RequestedSchema"),
    }),
    ElicitRequestParams: ref("ElicitRequestFormParams"),
    ElicitResult: object({
      action: literal("accept", "decline", "cancel"),
      content: optional(map(anyOf("a string, a number or a boolean", [string, number, boolean]))),
      _meta: meta,
    }),
    ElicitOutcome: ref("ElicitResult"),
  },
});
