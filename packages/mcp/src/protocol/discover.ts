import type { ServerCapabilities } from "./capabilities.js";
import type { CacheableResult } from "./result.js";

/** Result of `server/discover`, which every server of the stateless era answers. */
export interface DiscoverResult extends CacheableResult {
  readonly supportedVersions: readonly string[];
  readonly capabilities: ServerCapabilities;
  /** A hint for the model, from a peer that is not to be trusted with more. */
  readonly instructions?: string;
}
