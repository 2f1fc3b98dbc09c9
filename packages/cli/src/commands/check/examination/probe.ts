import type { Revision } from "@parlance/mcp/protocol";
import { type Level, levelOfFinding, type Requirement } from "@parlance/wire";
import type { Finding } from "./finding.js";
import type { Subject } from "./subject.js";

/** One question that a server is asked, how its answer is judged, and by which sentence. */
export interface Probe extends Requirement {
  /** The revisions and transports that it applies to. Default: all. */
  readonly applies?: (revision: Revision, transport: Subject["transport"]) => boolean;
  /** It ends the conversation, so that what follows needs a new one. */
  readonly endsConversation?: true;
  /** Asks. Rejects only for a fault of our own. */
  readonly ask: (subject: Subject) => Promise<Finding>;
}

/** How much a failed probe weighs: as much as its sentence, unless what was seen does not break that. */
export function levelOfProbe(probe: Probe, finding: Finding, revision: Revision): Level {
  return finding.is === "failed" && finding.doubt !== undefined ? "may" : levelOfFinding(probe, revision);
}
