import {
  anyOf,
  array,
  base64,
  extending,
  fraction,
  integer,
  literal,
  object,
  optional,
  ref,
  string,
  type Types,
  tagged,
  uri,
} from "./shape.js";
import { meta } from "./wrapper-types.js";

const annotations = optional(ref("Annotations"));

/** The types of content blocks and annotations. */
export const contentTypes: Types = {
  Role: literal("user", "assistant"),
  Annotations: object({
    audience: optional(array(ref("Role"))),
    priority: optional(fraction),
    lastModified: optional(string),
  }),
  BaseMetadata: object({ name: string, title: optional(string) }),
  Icons: object({ icons: optional(array(ref("Icon"))) }),
  Icon: object({
    src: uri,
    mimeType: optional(string),
    sizes: optional(array(string)),
    theme: optional(literal("light", "dark")),
  }),

  TextContent: object({ type: literal("text"), text: string, annotations, _meta: meta }),
  ImageContent: object({ type: literal("image"), data: base64, mimeType: string, annotations, _meta: meta }),
  AudioContent: object({ type: literal("audio"), data: base64, mimeType: string, annotations, _meta: meta }),
  ResourceLink: extending(["Resource"], { type: literal("resource_link") }),
  EmbeddedResource: object({ type: literal("resource"), resource: ref("Contents"), annotations, _meta: meta }),
  ContentBlock: tagged("type", ["TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource"]),

  Resource: extending(["BaseMetadata", "Icons"], {
    uri,
    description: optional(string),
    mimeType: optional(string),
    size: optional(integer),
    annotations,
    _meta: meta,
  }),
  ResourceContents: object({ uri, mimeType: optional(string), _meta: meta }),
  TextResourceContents: extending(["ResourceContents"], { text: string }),
  BlobResourceContents: extending(["ResourceContents"], { blob: base64 }),
  Contents: anyOf("an object with text or blob", [ref("TextResourceContents"), ref("BlobResourceContents")]),
};
