import type { Revision } from "@parlance/mcp/protocol";
import { type Level, levelOfFinding, type Requirement } from "@parlance/wire";
import type { Finding } from "./finding.js";
import type { Subject } from "./subject.js";

/** One question that a server is asked, how its answer is judged, and by which sentence. */
export interface Probe extends Requirement {
  /** Which revisions, and over which carriers. Default: all. */
  readonly applies?: (revision: Revision, carrier: Subject["carrier"]) => boolean;
  /** It ends the conversation, so that what follows needs a new one. */
  readonly endsConversation?: true;
  /** Asks. Rejects only for a fault of our own. */
  readonly ask: (subject: Subject) => Promise<Finding>;
}

/** How much a failed probe weighs: as much as its sentence, unless what was seen does not break that. */
export function levelOfProbe(probe: Probe, finding: Finding, revision: Revision): Level {
  return finding.is === "failed" && finding.doubt !== undefined ? "may" : levelOfFinding(probe, revision);
}

type InRevision<Value extends string> = Value | ((revision: Revision) => Value);

/** What holds in the handshake era, and what in the stateless one. */
export function byEra<Value extends string>(
  handshake: InRevision<Value>,
  stateless: InRevision<Value>,
): (revision: Revision) => Value {
  return (revision) => {
    const value = revision.era === "handshake" ? handshake : stateless;
    return typeof value === "function" ? value(revision) : value;
  };
}

/** A section on messages: the first revision has a page for them, later ones a chapter. */
export function onMessages(section: "requests" | "responses" | "notifications"): (revision: Revision) => string {
  return ({ facts }) => `${facts.httpBinding === "http+sse" ? "basic/messages" : "basic"}#${section}`;
}

/** A declaration of the schema, which is a page since there are pages for it; before, a section leads to its source. */
export function inSchema(declaration: string): (revision: Revision) => string {
  return ({ facts }) => (facts.titles ? `schema#${declaration}` : "basic#schema");
}
