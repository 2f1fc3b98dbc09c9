import type { Revision } from "@parlance/mcp";
import type { Finding } from "./finding.js";
import type { Subject } from "./subject.js";

/** What the specification says with its words: MUST is an obligation, SHOULD a recommendation. */
export type Weight = "must" | "should";

/** One question that a server is asked, and how its answer is judged. */
export interface Probe {
  /** Short and lasting: `X-3`. */
  readonly id: string;
  readonly weight: Weight;
  /** What a server has to do, in one sentence. */
  readonly demands: string;
  /** The page of the specification below its version; or a whole address. */
  readonly page: string;
  /** Which revisions, and over which carriers. Default: all. */
  readonly applies?: (revision: Revision, carrier: Subject["carrier"]) => boolean;
  /** Asks. Rejects only for a fault of our own. */
  readonly ask: (subject: Subject) => Promise<Finding>;
}

/** Where the specification says what a probe asks for. */
export function specOfProbe({ page }: Probe, { version }: Revision): string {
  return page.startsWith("https:") ? page : `https://modelcontextprotocol.io/specification/${version}/${page}`;
}
