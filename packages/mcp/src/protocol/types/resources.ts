import type { JsonObject } from "../json.js";
import type { Annotations, BaseMetadata, Icon, Resource, ResourceContents } from "./content.js";
import type { InputResponseParams, RequestParams } from "./params.js";
import type { CacheableResult, PaginatedResult } from "./result.js";

/** A resource template. */
export interface ResourceTemplate extends BaseMetadata {
  /** A URI template (RFC 6570). */
  readonly uriTemplate: string;
  readonly description?: string;
  /** The MIME type, if all matching resources have the same. */
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
}

/** Result of `resources/list`. */
export interface ListResourcesResult extends PaginatedResult {
  readonly resources: readonly Resource[];
}

/** Result of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends PaginatedResult {
  readonly resourceTemplates: readonly ResourceTemplate[];
}

/** Params of `resources/read`. */
export interface ReadResourceParams extends InputResponseParams {
  readonly uri: string;
}

/** Result of `resources/read`. Never empty for a missing resource: that is an error. */
export interface ReadResourceResult extends CacheableResult {
  readonly contents: readonly ResourceContents[];
}

/** Params of `resources/subscribe`, `resources/unsubscribe` and `notifications/resources/updated`. */
export interface ResourceParams extends RequestParams {
  readonly uri: string;
}
