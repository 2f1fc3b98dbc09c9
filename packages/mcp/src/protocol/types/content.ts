import type { JsonObject } from "../json.js";

/** The author or the audience of a message. */
export type Role = "user" | "assistant";

/** Hints for the client on how to use or display an object. */
export interface Annotations {
  /** The intended audience. */
  readonly audience?: readonly Role[];
  /** From 0, entirely optional, to 1, required. */
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

/** An icon for user interfaces. */
export interface Icon {
  /** An `https:` or `data:` URI. It comes from a peer: fetch it without credentials and treat its bytes as hostile. */
  readonly src: string;
  readonly mimeType?: string;
  /** Such as `"48x48"`, or `"any"` for a scalable format. */
  readonly sizes?: readonly string[];
  /** The background that the icon is designed for. */
  readonly theme?: "light" | "dark";
}

/** A programmatic name and a display name. */
export interface BaseMetadata {
  readonly name: string;
  readonly title?: string;
}

/** Text. */
export interface TextContent {
  readonly type: "text";
  readonly text: string;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/** An image, in base64. */
export interface ImageContent {
  readonly type: "image";
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/** Audio, in base64. */
export interface AudioContent {
  readonly type: "audio";
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/** A resource that a server offers for reading. */
export interface Resource extends BaseMetadata {
  readonly uri: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** The size in bytes, before encoding. */
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
}

/** A link to a resource, which need not appear in `resources/list`. */
export interface ResourceLink extends Resource {
  readonly type: "resource_link";
}

/** The text contents of a resource. */
export interface TextResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text: string;
  readonly _meta?: JsonObject;
}

/** The binary contents of a resource, in base64. */
export interface BlobResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly blob: string;
  readonly _meta?: JsonObject;
}

/** The contents of a resource. */
export type ResourceContents = TextResourceContents | BlobResourceContents;

/** A resource with its contents. */
export interface EmbeddedResource {
  readonly type: "resource";
  readonly resource: ResourceContents;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/**
 * One block of a tool result or a prompt message.
 * https://modelcontextprotocol.io/specification/latest/schema#contentblock
 */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;
