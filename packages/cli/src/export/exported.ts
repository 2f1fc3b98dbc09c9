import {
  type Exchange,
  type HeaderEntry,
  literalOf,
  type Operation,
  type Row,
  type WireMessage,
} from "@parlance/mcp/wire";
import type { RecordedConversation } from "../recorded-conversation.js";

/** What goes into an export: a recording, and the rows of it that were chosen. */
export interface Exported extends RecordedConversation {
  readonly header: HeaderEntry | undefined;
  readonly rows: readonly Row[];
}

/** The requests among the chosen rows, with what became of them. */
export function chosenOperations({ rows, conversation }: Exported): readonly Operation[] {
  const chosen = new Set<WireMessage>(rows.flatMap(({ messages }) => messages));
  return conversation.sessions.flatMap(({ operations }) => operations.filter(({ request }) => chosen.has(request)));
}

/** The text of a message as it crossed; what is not UTF-8 in it reads U+FFFD. */
export function textOf({ frame, node }: WireMessage): string {
  return literalOf(node, frame.bytes);
}

/** The moment of a time of the recording. */
export function momentOf(header: HeaderEntry | undefined, at: number): Date {
  return new Date(Date.parse(header?.t0 ?? "") + at);
}

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** How the recorded server is started; undefined for one that was reached by a URL. */
export function commandOf(header: HeaderEntry | undefined): readonly string[] | undefined {
  const { cmd, args = [] } = header?.server ?? {};
  return cmd === undefined ? undefined : [cmd, ...args];
}

/** The whole address of an exchange: a proxy has recorded the path alone. */
export function urlOf({ request }: Exchange, header: HeaderEntry | undefined): string {
  const { url = "" } = request;
  const base = header?.server?.url ?? "http://server/";
  return URL.canParse(url, base) ? new URL(url, base).href : url;
}
