import type { Revision } from "../../revisions/revision.js";

/** The page that a rule follows, by revision: pages were moved, and renamed. */
export type PageOf = (revision: Revision) => string;

/** The page of the handshake era, and that of the stateless one. */
export function pageByEra(handshake: string, stateless: string): PageOf {
  return ({ era }) => (era === "handshake" ? handshake : stateless);
}

/** A section on messages: the first revision has a page for them, later ones a chapter. */
export function onMessages(section: "requests" | "responses" | "notifications"): PageOf {
  return ({ facts }) => `${facts.httpBinding === "http+sse" ? "basic/messages" : "basic"}#${section}`;
}

/** What stdio demands. */
export const onStdio: PageOf = pageByEra("basic/transports#stdio", "basic/transports/stdio");

/** What JSON-RPC itself says. */
export function ofJsonRpc(anchor: string): string {
  return `https://www.jsonrpc.org/specification#${anchor}`;
}

/** What JSON itself says. */
export function ofJson(section: string): string {
  return `https://www.rfc-editor.org/rfc/rfc8259#${section}`;
}
