import {
  Conversation,
  type Entry,
  type HeaderEntry,
  literalOf,
  pairOf,
  type RecordedOperation,
  type Row,
  type WireMessage,
} from "@parlance/wire";
import { escapeHidden } from "../../shared/output/json-lines.js";
import type { JudgedEntries, RecordedConversation } from "../../shared/recordings/load-recording.js";

type HttpExchange = NonNullable<Row["exchange"]>;

/** A recording and its selected rows. */
export interface Exported extends RecordedConversation {
  readonly rows: readonly Row[];
}

/** Rows that are read once, while they are written, and the facts about all of them that a page shows first. */
export interface ShownRows {
  readonly title: string;
  readonly header: HeaderEntry | undefined;
  /** The version of each session. */
  readonly versions: readonly (string | undefined)[];
  readonly count: number;
  readonly violations: number;
  readonly lists: AsyncIterable<Iterable<Row>> | Iterable<Iterable<Row>>;
  /** The number of the frame with the request or the response of a message. */
  readonly pairOf: (message: WireMessage) => number | undefined;
}

/** The selected rows of a conversation that is in memory. */
export function selectedRows({ title, header, conversation, rows }: Exported): ShownRows {
  const versions = conversation.sessions.map(({ revision }) => revision?.version);
  const violations = rows.flatMap(({ verdicts }) => verdicts).filter(({ level }) => level === "must").length;
  return { title, header, versions, count: rows.length, violations, lists: [rows], pairOf };
}

/** All rows of a recording, read a second time: only one list of them is in memory at a time. */
export function readRows(title: string, { survey, lists }: JudgedEntries): ShownRows {
  const { header, versions, rows: count, violations, answers } = survey;
  const read = async function* (): AsyncGenerator<Iterable<Row>> {
    const conversation = new Conversation({ keepRows: false });
    for await (const entries of lists()) yield rowsOf(entries, conversation);
  };
  // A request is read before its answer.
  const pair = (message: WireMessage): number | undefined =>
    message.kind === "req" ? answers.get(message.frame.n) : pairOf(message);
  return { title, header, versions, count, violations, lists: read(), pairOf: pair };
}

/** Each row is written before the next is read, while its parsed JSON is still cached. */
function* rowsOf(entries: readonly Entry[], conversation: Conversation): Generator<Row> {
  for (const entry of entries) {
    const row = conversation.push(entry);
    if (row !== undefined) yield row;
  }
}

/** The operations of the selected rows. */
export function chosenOperations({ rows, conversation }: Exported): readonly RecordedOperation[] {
  const chosen = new Set<WireMessage>(rows.flatMap(({ messages }) => messages));
  return conversation.sessions.flatMap(({ operations }) => operations.filter(({ request }) => chosen.has(request)));
}

/** The text of a message; invalid UTF-8 becomes U+FFFD. */
export function textOf({ frame, node }: WireMessage): string {
  return literalOf(node, frame.bytes);
}

/** The date of a time in the recording. */
export function momentOf(header: HeaderEntry | undefined, at: number): Date {
  return new Date(Date.parse(header?.t0 ?? "") + at);
}

/** A JSON text over many lines, piece by piece: a frame whose last member is an empty list, and what is in the list. */
export function* jsonWithList(frame: object, list: () => Iterable<object>): Generator<string> {
  const whole = JSON.stringify(frame, undefined, 2);
  const [before, after] = [whole.slice(0, whole.lastIndexOf("[]") + 1), whole.slice(whole.lastIndexOf("[]") + 1)];
  const indent = " ".repeat(before.slice(before.lastIndexOf("\n") + 1).search(/\S/));
  yield escapeHidden(before);
  let isEmpty = true;
  for (const item of list()) {
    const text = JSON.stringify(item, undefined, 2).replaceAll("\n", `\n${indent}  `);
    yield `${isEmpty ? "" : ","}\n${indent}  ${escapeHidden(text)}`;
    isEmpty = false;
  }
  yield `${isEmpty ? "" : `\n${indent}`}${escapeHidden(after)}\n`;
}

/** The command of the recorded server; undefined for a URL. */
export function commandOf(header: HeaderEntry | undefined): readonly string[] | undefined {
  const { cmd, args = [] } = header?.server ?? {};
  return cmd === undefined ? undefined : [cmd, ...args];
}

/** The absolute URL of an exchange: a proxy records only the path. */
export function urlOf({ request }: HttpExchange, header: HeaderEntry | undefined): string {
  const { url = "" } = request;
  const base = header?.server?.url ?? "http://server/";
  return URL.canParse(url, base) ? new URL(url, base).href : url;
}
