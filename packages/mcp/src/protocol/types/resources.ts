import type { JsonObject } from "../../base/json.js";
import type { Annotations, BaseMetadata, Icon, Resource, ResourceContents } from "./content.js";
import type { InputResponseParams, RequestParams } from "./params.js";
import type { CacheableResult, PaginatedResult } from "./result.js";

/** A resource template. */
export interface ResourceTemplate extends BaseMetadata {
  /** A URI template (RFC 6570). */
  readonly uriTemplate: string;
  /** A description, for the model. */
  readonly description?: string;
  /** The MIME type, if all matching resources have the same. */
  readonly mimeType?: string;
  /** Hints for clients: audience, priority and time of change. */
  readonly annotations?: Annotations;
  /** Icons to display. */
  readonly icons?: readonly Icon[];
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** Result of `resources/list`. */
export interface ListResourcesResult extends PaginatedResult {
  /** The resources of this page. */
  readonly resources: readonly Resource[];
}

/** Result of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends PaginatedResult {
  /** The templates of this page. */
  readonly resourceTemplates: readonly ResourceTemplate[];
}

/** Params of `resources/read`. */
export interface ReadResourceParams extends InputResponseParams {
  /** The URI of the resource. */
  readonly uri: string;
}

/** Result of `resources/read`. Never empty for a missing resource: that is an error. */
export interface ReadResourceResult extends CacheableResult {
  /** The contents: one, or several for a resource such as a folder. */
  readonly contents: readonly ResourceContents[];
}

/** Params of `resources/subscribe`, `resources/unsubscribe` and `notifications/resources/updated`. */
export interface ResourceParams extends RequestParams {
  /** The URI of the resource. */
  readonly uri: string;
}
