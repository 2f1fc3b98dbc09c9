import { isObject, type JsonObject } from "../../base/json.js";

/** The author or the audience of a message. */
export type Role = "user" | "assistant";

/** Hints for the client on how to use or display an object. */
export interface Annotations {
  /** The intended audience. */
  readonly audience?: readonly Role[];
  /** The importance, from 0 (entirely optional) to 1 (required). */
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

/** An icon for user interfaces. */
export interface Icon {
  /** An `https:` or `data:` URI. It comes from a peer: fetch it without credentials and treat its bytes as hostile. */
  readonly src: string;
  /** The MIME type, if that of the source is missing or too general. */
  readonly mimeType?: string;
  /** Such as `"48x48"`, or `"any"` for a scalable format. */
  readonly sizes?: readonly string[];
  /** The background that the icon is designed for. */
  readonly theme?: "light" | "dark";
}

/** A programmatic name and a display name. */
export interface BaseMetadata {
  /** The name by which programs refer to it. */
  readonly name: string;
  /** The name to display. Default: `name`. */
  readonly title?: string;
}

/** Text. */
export interface TextContent {
  readonly type: "text";
  /** The text. */
  readonly text: string;
  /** Hints for clients: audience, priority and time of change. */
  readonly annotations?: Annotations;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** An image, in base64. */
export interface ImageContent {
  readonly type: "image";
  /** The image in base64. */
  readonly data: string;
  /** The MIME type, such as `image/png`. */
  readonly mimeType: string;
  /** Hints for clients: audience, priority and time of change. */
  readonly annotations?: Annotations;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** Audio, in base64. */
export interface AudioContent {
  readonly type: "audio";
  /** The audio in base64. */
  readonly data: string;
  /** The MIME type, such as `audio/wav`. */
  readonly mimeType: string;
  /** Hints for clients: audience, priority and time of change. */
  readonly annotations?: Annotations;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** A resource that a server offers for reading. */
export interface Resource extends BaseMetadata {
  /** The URI to read it by. */
  readonly uri: string;
  /** A description, for the model. */
  readonly description?: string;
  /** The MIME type, if known. */
  readonly mimeType?: string;
  /** The size in bytes, before encoding. */
  readonly size?: number;
  /** Hints for clients: audience, priority and time of change. */
  readonly annotations?: Annotations;
  /** Icons to display. */
  readonly icons?: readonly Icon[];
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** A link to a resource, which need not appear in `resources/list`. */
export interface ResourceLink extends Resource {
  readonly type: "resource_link";
}

/** Members of all contents of a resource. */
interface AnyResourceContents {
  /** The URI of the contents. */
  readonly uri: string;
  /** The MIME type, if known. */
  readonly mimeType?: string;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** The text contents of a resource. */
export interface TextResourceContents extends AnyResourceContents {
  /** The text. */
  readonly text: string;
}

/** The binary contents of a resource, in base64. */
export interface BlobResourceContents extends AnyResourceContents {
  /** The bytes in base64. */
  readonly blob: string;
}

/** The contents of a resource. */
export type ResourceContents = TextResourceContents | BlobResourceContents;

/** A resource with its contents. */
export interface EmbeddedResource {
  readonly type: "resource";
  /** The contents of the resource. */
  readonly resource: ResourceContents;
  /** Hints for clients: audience, priority and time of change. */
  readonly annotations?: Annotations;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/**
 * One block of a tool result or a prompt message.
 * https://modelcontextprotocol.io/specification/latest/schema#contentblock
 */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** A block of any type. */
interface AnyContent {
  /** Such as `"text"` or `"tool_use"`. */
  readonly type: string;
}

/** The values that `textOf` takes: the content of a result or a message, or the contents of a read resource. */
type WithText =
  | {
      /** One block, or all blocks. */
      readonly content: AnyContent | readonly AnyContent[];
    }
  | {
      /** The contents of a resource. */
      readonly contents: readonly ResourceContents[];
    };

/**
 * The text of a tool result, of a prompt message, of a sampling message or of a read resource: its text blocks, joined by line
 * feeds. The empty string without any. Other blocks, among them embedded resources, are left out.
 *
 * @example
 * const result = await client.tools.call("greet", { name: "Ada" });
 * console.log(textOf(result)); // Hello, Ada.
 */
export function textOf(source: WithText): string {
  const isRead = "contents" in source;
  const parts: unknown = isRead ? source.contents : source.content;
  // A peer may send anything as a block: the client checks only that the content of a result is an array.
  return (Array.isArray(parts) ? parts : [parts])
    .flatMap((part) => (isObject(part) && (isRead || part.type === "text") ? [part.text] : []))
    .filter((text) => typeof text === "string")
    .join("\n");
}
