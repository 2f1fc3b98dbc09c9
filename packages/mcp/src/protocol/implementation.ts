import type { BaseMetadata, Icon } from "./content.js";

/**
 * Which program a peer is. For people and logs only: never decide anything by it, it is not proven.
 * https://modelcontextprotocol.io/specification/latest/schema#implementation
 */
export interface Implementation extends BaseMetadata {
  readonly version: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}
