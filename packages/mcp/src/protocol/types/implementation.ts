import type { BaseMetadata, Icon } from "./content.js";

/**
 * The name and version of a program. Use it for display and logs only: it is not authenticated.
 * https://modelcontextprotocol.io/specification/latest/schema#implementation
 */
export interface Implementation extends BaseMetadata {
  readonly version: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}
