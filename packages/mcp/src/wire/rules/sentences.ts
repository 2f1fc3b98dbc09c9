import type { Revision } from "../../revisions/revision.js";
import type { Level } from "../rule.js";

type SentenceOf = (revision: Revision) => string;

/** What an operation may use, where a handshake negotiates it: a recommendation first, an obligation later. */
export const negotiated = {
  level: ({ facts }: Revision): Level => facts.negotiation,
  sentence:
    (rest: string): SentenceOf =>
    ({ facts }) =>
      `Both parties ${facts.negotiation.toUpperCase()}: ${rest}`,
  page: "basic/lifecycle#operation",
} as const;

/** What the stateless era says of capabilities: in small letters, which have no weight in BCP 14. */
export const respected = "Both parties must respect declared capabilities throughout the interaction";

/** What a message can be, where there are no batches. */
export const oneMessage: SentenceOf = ({ facts }) =>
  facts.errorId === "required"
    ? "JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError;"
    : "JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse;";

/** Why the schema demands as much as a MUST. */
export const ofSchema =
  "The full specification of the protocol is defined as a TypeScript schema. This is the source of truth for all protocol messages and structures.";
