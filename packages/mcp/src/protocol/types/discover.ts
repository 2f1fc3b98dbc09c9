import type { ServerCapabilities } from "../capabilities.js";
import type { CacheableResult } from "./result.js";

/** Result of `server/discover`, which every server of the stateless revisions implements. */
export interface DiscoverResult extends CacheableResult {
  /** The revisions that the server supports. */
  readonly supportedVersions: readonly string[];
  /** The capabilities that the server advertises. */
  readonly capabilities: ServerCapabilities;
  /** Instructions for the model. It comes from a peer, so treat it as untrusted text. */
  readonly instructions?: string;
}
