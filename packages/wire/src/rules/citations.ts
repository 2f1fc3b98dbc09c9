import type { Revision } from "@parlance/mcp/protocol";
import { type Level, valueIn } from "./rule.js";

/** The page of a rule by revision: pages were moved and renamed. */
export type PageOf = (revision: Revision) => string;

/** Whether a revision begins with a handshake. */
export function isHandshake({ era }: Revision): boolean {
  return era === "handshake";
}

/** Whether every request of a revision stands alone. */
export function isStateless({ era }: Revision): boolean {
  return era === "stateless";
}

type InRevision<Value extends string> = Value | ((revision: Revision) => Value);

/**
 * Chooses between the sentences of the handshake era and the stateless era.
 *
 * @example
 * const level = byEra("should", "must"); // level(revision) is "should" up to 2025-11-25
 */
export function byEra<Value extends string>(
  handshake: InRevision<Value>,
  stateless: InRevision<Value>,
): (revision: Revision) => Value {
  return (revision) => valueIn(isHandshake(revision) ? handshake : stateless, revision);
}

/**
 * A section on messages: the first revision has a page for them, later ones a chapter.
 *
 * @example
 * const page = onMessages("requests");
 */
export function onMessages(section: "requests" | "responses" | "notifications"): PageOf {
  return ({ facts }) => `${facts.httpBinding === "http+sse" ? "basic/messages" : "basic"}#${section}`;
}

/** Sentences on all messages. */
export const onAllMessages: PageOf = ({ facts }) => (facts.httpBinding === "http+sse" ? "basic" : "basic#messages");

/**
 * A declaration of the schema. Early revisions have no page for it; there, a section links to its source.
 *
 * @example
 * const page = inSchema("CallToolResult");
 */
export function inSchema(declaration?: string): PageOf {
  const page = declaration === undefined ? "schema" : `schema#${declaration}`;
  return ({ facts }) => (facts.titles ? page : "basic#schema");
}

/** Sentences on stdio. */
export const onStdio: PageOf = byEra("basic/transports#stdio", "basic/transports/stdio");

/** The page on authorization. */
export const authorization = "basic/authorization";

/** A section on the security of authorization: the stateless era has a page for them. */
export function onSecurity(section: string): PageOf {
  return byEra(`${authorization}#${section}`, `${authorization}/security-considerations#${section}`);
}

/** Sentences of JSON-RPC itself. */
export function ofJsonRpc(anchor: string): string {
  return `https://www.jsonrpc.org/specification#${anchor}`;
}

/** Sentences of JSON itself. */
export function ofJson(section: string): string {
  return `https://www.rfc-editor.org/rfc/rfc8259#${section}`;
}

type SentenceOf = (revision: Revision) => string;

/** The use of negotiated capabilities in an operation: recommended in early revisions, required in later ones. */
export const negotiated = {
  level: ({ facts }: Revision): Level => facts.negotiation,
  sentence:
    (rest: string): SentenceOf =>
    ({ facts }) =>
      `Both parties ${facts.negotiation.toUpperCase()}: ${rest}`,
  page: "basic/lifecycle#operation",
} as const;

/** The sentence on capabilities in the stateless era: its "must" is in lower case, which has no force in BCP 14. */
export const respected = "Both parties must respect declared capabilities throughout the interaction";

/** The kinds of messages in revisions without batches. */
export const oneMessage: SentenceOf = ({ facts }) =>
  facts.errorId === "required"
    ? "JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError;"
    : "JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse;";

/** Why a declaration of the schema counts as a MUST. */
export const ofSchema =
  "The full specification of the protocol is defined as a TypeScript schema. This is the source of truth for all protocol messages and structures.";
