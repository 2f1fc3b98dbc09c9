import type { Revision } from "../../revisions/revision.js";

/** The page that a rule follows, by revision: pages were moved, and renamed. */
export type PageOf = (revision: Revision) => string;

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
export function onMessages(section: "requests" | "responses" | "notifications"): PageOf {
  return ({ facts }) => `${facts.httpBinding === "http+sse" ? "basic/messages" : "basic"}#${section}`;
}

/** What is said of all messages. */
export const onAllMessages: PageOf = ({ facts }) => (facts.httpBinding === "http+sse" ? "basic" : "basic#messages");

/** A declaration of the schema, which is a page since there are pages for it; before, a section leads to its source. */
export function inSchema(declaration?: string): PageOf {
  const page = declaration === undefined ? "schema" : `schema#${declaration}`;
  return ({ facts }) => (facts.titles ? page : "basic#schema");
}

/** What stdio demands. */
export const onStdio: PageOf = byEra("basic/transports#stdio", "basic/transports/stdio");

/** What JSON-RPC itself says. */
export function ofJsonRpc(anchor: string): string {
  return `https://www.jsonrpc.org/specification#${anchor}`;
}

/** What JSON itself says. */
export function ofJson(section: string): string {
  return `https://www.rfc-editor.org/rfc/rfc8259#${section}`;
}
