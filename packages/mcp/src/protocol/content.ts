import type { JsonObject } from "./json.js";

/** Who speaks, or whom something is meant for. */
export type Role = "user" | "assistant";

/** Hints to a client on how to use or show what carries them. */
export interface Annotations {
  /** Whom it is meant for. */
  readonly audience?: readonly Role[];
  /** From 0, entirely optional, to 1, required. */
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

/** An image that stands for something in a user interface. */
export interface Icon {
  /** An `https:` or `data:` URI. It comes from a peer: fetch it without credentials and treat its bytes as hostile. */
  readonly src: string;
  readonly mimeType?: string;
  /** `"48x48"` and the like, or `"any"` for a scalable format. */
  readonly sizes?: readonly string[];
  /** The background that it is drawn for. */
  readonly theme?: "light" | "dark";
}

/** A programmatic name, and one for people. */
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

/** A sound, in base64. */
export interface AudioContent {
  readonly type: "audio";
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/** Something that a server can be asked to read. */
export interface Resource extends BaseMetadata {
  readonly uri: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Bytes, before any encoding. */
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
}

/** Points to a resource, which need not be in `resources/list`. */
export interface ResourceLink extends Resource {
  readonly type: "resource_link";
}

/** What a resource holds, as text. */
export interface TextResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text: string;
  readonly _meta?: JsonObject;
}

/** What a resource holds, in base64. */
export interface BlobResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly blob: string;
  readonly _meta?: JsonObject;
}

/** What a resource holds. */
export type ResourceContents = TextResourceContents | BlobResourceContents;

/** A resource, carried in full. */
export interface EmbeddedResource {
  readonly type: "resource";
  readonly resource: ResourceContents;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/**
 * One piece of what a tool returns or a prompt says.
 * https://modelcontextprotocol.io/specification/latest/schema#contentblock
 */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;
