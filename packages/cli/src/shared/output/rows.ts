import type { Id } from "@parlance/mcp/jsonrpc";
import type { FrameEntry, Level, Row, Sender } from "@parlance/wire";
import { cut, cutMiddle, left, right, widthOf, wrapWords } from "./columns.js";
import { bytesText, count, durationText, secondsText, timeText } from "./quantities.js";
import { type Paint, type Style, signs, styleOf } from "./style.js";

/** The colours and the width of rows. */
export interface Look {
  readonly style: Style;
  readonly width: number;
  /** The unit of times. Default: milliseconds. */
  readonly clock?: "ms" | "s";
}

/** A verdict of a rule on a message. */
export interface Mark {
  readonly level: Level;
  readonly text: string;
}

/**
 * One message of a frame, or a frame that is not a message: `noise`, `frag` for a piece of a message, `event` for an event without data, `oauth` for a
 * body of a sign-in.
 */
export interface Part {
  readonly kind: "req" | "res" | "err" | "ntf" | "noise" | "frag" | "event" | "oauth";
  readonly id?: Id;
  /** For a response: the number of the frame with its request. */
  readonly pair?: number;
  /** The method; for a response, that of its request; for a body of a sign-in, the step. */
  readonly method?: string;
  /** Its content, in a few words of the sender. */
  readonly detail: string;
  /** Milliseconds since its request. */
  readonly latency?: number;
  /** Whether it is a result with `isError`. */
  readonly isError?: true;
  readonly marks: readonly Mark[];
}

/** A frame, for its rows. Its time is in milliseconds since the conversation began. */
interface ShownFrame extends Pick<Row, "at" | "kind"> {
  readonly entry: FrameEntry;
  readonly from: Sender;
}

const columns = { n: 3, time: 9, from: 8, kind: 5, latency: 7, size: 7 } as const;

/** The minimum width, in columns, of rows with a time, a size, and the name of the sender. */
const roomy = 76;

function isNarrow({ width }: Look): boolean {
  return width < roomy;
}

function fromWidth(look: Look): number {
  return isNarrow(look) ? 1 : columns.from;
}

function idWidth({ width }: Look): number {
  return width < 120 ? 7 : 12;
}

/** The maximum number of columns of an id; a long one takes room from the method. */
function mostOfId({ width }: Look): number {
  return Math.max(12, Math.floor(width / 6));
}

/** The number of columns before the method. */
function before(start: string, look: Look, id = idWidth(look)): number {
  return start.length + 1 + fromWidth(look) + 1 + columns.kind + 1 + id + 1;
}

/** The names of the columns. */
export function headingRow(look: Look): string {
  const cells: Cells = {
    start: startOf("n", look.clock ?? "ms", look),
    from: left(isNarrow(look) ? "" : "from", fromWidth(look)),
    kind: left("kind", columns.kind),
    id: "id ↔",
    what: (width) => left("method, or what it answers", width),
    latency: "latency",
    size: "size",
  };
  return look.style.dim(row(cells, { ...look, style: styleOf(false) }));
}

/** The rows of a frame: one, or for a batch one more per message; below each, its verdicts. */
export function frameRows(frame: ShownFrame, parts: readonly Part[], look: Look): readonly string[] {
  const { entry, at, kind } = frame;
  const from = sender(frame.from, look);
  const place = { start: startOf(String(entry.n), timeOf(at, look), look), from, size: bytesText(entry.len) };
  const [only] = parts;
  if (kind !== "batch" && only !== undefined) return messageRows(only, place, look);
  const what = (width: number): string => left(`${count(parts.length, "message")} in one frame`, width);
  const first = row({ ...place, kind: left("batch", columns.kind), id: "", what, latency: "" }, look);
  const below = { start: startOf("", "", look), from, size: "" };
  return [first, ...parts.flatMap((part) => messageRows(part, below, look))];
}

/** A row that is not a frame: a line of stderr, an HTTP head, or an event such as the exit of the server. */
export interface Remark {
  readonly n?: number | undefined;
  readonly at: number;
  readonly who?: string;
  readonly kind: string;
  readonly text: string;
  readonly marks?: readonly Mark[];
}

const narrowSenders: ReadonlyMap<string, string> = new Map([
  ["client", "→"],
  ["server", "←"],
]);

/** The rows of a remark. Its text takes all columns after the kind, and keeps its line breaks. */
export function remarkRows({ n, at, who = "server", kind, text, marks = [] }: Remark, look: Look): readonly string[] {
  const start = startOf(String(n ?? ""), timeOf(at, look), look);
  const room = columns.kind + 1 + idWidth(look);
  const indent = before(start, look);
  const [first = "", ...more] = text.split(/\r?\n/).map((line) => cut(line, look.width - indent));
  const from = isNarrow(look) ? (narrowSenders.get(who) ?? " ") : left(who, columns.from);
  return [
    look.style.dim(`${start} ${from} ${left(kind, room)} ${first}`),
    ...more.map((line) => look.style.dim(`${" ".repeat(indent)}${line}`.trimEnd())),
    ...markRows(marks, start.length + 1, look),
  ];
}

/** The maximum number of lines of a verdict; a longer one is cut in the middle. */
const mostOfMark = 3;

/** The verdicts below a message. A long one is wrapped and not cut, because its end matters most. */
function markRows(marks: readonly Mark[], indent: number, { style, width }: Look): readonly string[] {
  const hanging = 2; // The sign and a space.
  const room = width - indent - hanging;
  return marks.flatMap(({ level, text }) => {
    const paint = level === "must" ? style.red : style.yellow;
    const lines = wrapWords(cutMiddle(text, room * mostOfMark - room / 2), room);
    return lines.map((line, index) => {
      const start = index === 0 ? `${signs[level]} ` : " ".repeat(hanging);
      return `${" ".repeat(indent)}${paint(`${start}${cutMiddle(line, room)}`)}`;
    });
  });
}

/** The number and the time, never cut: long ones take room from the method. */
function startOf(n: string, time: string, look: Look): string {
  return n.padStart(columns.n) + (isNarrow(look) ? "" : ` ${time.padStart(columns.time)}`);
}

function timeOf(at: number, { clock }: Look): string {
  return clock === "s" ? secondsText(at) : timeText(at);
}

/** The cells of a message that come from its frame. `from` is padded already. */
interface Place {
  readonly start: string;
  readonly from: string;
  readonly size: string;
}

function messageRows(part: Part, place: Place, look: Look): readonly string[] {
  const { style } = look;
  const kind = kindPaint(part, style)(left(part.kind, columns.kind));
  const what = (room: number): string => whatCell(part, room, style);
  const latency = part.latency === undefined ? "" : durationText(part.latency);
  const first = row({ ...place, kind, id: idText(part, mostOfId(look)), what, latency }, look);
  // Verdicts begin below the sender, because they are long.
  return [first, ...markRows(part.marks, place.start.length + 1, look)];
}

/** The cells of a row. `kind` is padded already; `what` is a function of its width. */
interface Cells extends Place {
  readonly kind: string;
  readonly id: string;
  readonly what: (width: number) => string;
  readonly latency: string;
}

function row({ start, from, kind, id, what, latency, size }: Cells, look: Look): string {
  const { style, width } = look;
  const idRoom = Math.max(idWidth(look), widthOf(id));
  const head = `${style.dim(start)} ${from} ${kind} ${left(id, idRoom)}`;
  const room = width - before(start, look, idRoom) - 1 - columns.latency;
  const end = right(latency, columns.latency);
  if (isNarrow(look)) return `${head} ${what(room)} ${end}`.trimEnd();
  return `${head} ${what(room - 1 - columns.size)} ${end} ${style.dim(right(size, columns.size))}`.trimEnd();
}

/** The sender by word, arrow and colour; on a narrow line by arrow and colour. */
function sender(from: Sender, look: Look): string {
  const { style } = look;
  const words = isNarrow(look) ? { client: "→", server: "←" } : { client: "client →", server: "server ←" };
  const paint = from === "client" ? style.cyan : style.magenta;
  return paint(left(words[from], fromWidth(look)));
}

function kindPaint(part: Part, style: Style): Paint {
  const { kind, isError, marks } = part;
  if (marks.some(({ level }) => level === "must") || kind === "err" || isError === true) return style.red;
  return kind === "ntf" ? style.dim : style.bold;
}

/** The id with its type, and its pair. If both do not fit, the id is cut. */
function idText({ id, pair }: Part, width: number): string {
  const own = id === undefined ? "" : typeof id === "string" ? JSON.stringify(id) : String(id);
  if (pair === undefined) return cut(own, width);
  const link = ` ↔${pair}`;
  return `${cut(own, width - link.length)}${link}`;
}

/** The method of a message, with a colon if it is a response, and its digest. */
export function partWords({ method = "", detail, kind }: Part): { readonly name: string; readonly said: string } {
  const isMessage = kind !== "noise" && kind !== "frag";
  const isAnswer = kind === "res" || kind === "err";
  return {
    name: isAnswer && method !== "" ? `${method}:` : method,
    said: isMessage || detail === "" ? detail : `"${detail}"`,
  };
}

/** The method and the digest of a message, cut to the width. */
function whatCell(part: Part, width: number, style: Style): string {
  const { kind, isError } = part;
  const { said, ...words } = partWords(part);
  const name = cut(words.name, width);
  const gap = name === "" || said === "" ? "" : " ";
  const rest = left(gap + said, width - widthOf(name));
  return name + (kind === "err" || isError === true ? style.red(rest) : style.dim(rest));
}

/** One part of a summary line. */
export interface Piece {
  readonly text: string;
  readonly paint?: Paint;
}

const separator = " · ";

/** A mark and pieces in one line, or more if they do not fit. */
export function pieceLines(mark: string, pieces: readonly Piece[], { style, width }: Look): readonly string[] {
  const indent = "  "; // As wide as the mark and its space.
  const lines: string[] = [];
  let room = 0;
  for (const { text, paint = (plain: string) => plain } of pieces) {
    const taken = separator.length + widthOf(text);
    const line = lines.at(-1);
    if (line === undefined || taken > room) {
      lines.push(paint(text));
      room = width - indent.length - widthOf(text);
    } else {
      lines[lines.length - 1] = line + style.dim(separator) + paint(text);
      room -= taken;
    }
  }
  return lines.map((line, index) => (index === 0 ? `${mark} ` : indent) + line);
}
