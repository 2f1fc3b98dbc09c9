import type { BaseMetadata, Icon } from "./content.js";

/**
 * The name and version of a program. Use it for display and logs only: it is not authenticated.
 * https://modelcontextprotocol.io/specification/latest/schema#implementation
 */
export interface Implementation extends BaseMetadata {
  /** The version of the program. */
  readonly version: string;
  /** A description, for people. */
  readonly description?: string;
  /** The website of the program. */
  readonly websiteUrl?: string;
  /** Icons to display. */
  readonly icons?: readonly Icon[];
}
