import type { Frame, Part, Party } from "../frames.js";
import { cut, left, right, widthOf } from "./columns.js";
import { bytesText, count, durationText, timeText } from "./quantities.js";
import type { Paint, Style } from "./style.js";

/** How rows look: in which colours, and how wide. */
export interface Look {
  readonly style: Style;
  readonly width: number;
}

const columns = { n: 3, time: 9, from: 8, kind: 5, id: 7, latency: 7, size: 7 } as const;
/** Columns in front of the method, and behind it, with the spaces between them. */
const before = columns.n + columns.time + columns.from + columns.kind + columns.id + 5;
const behind = columns.latency + columns.size + 2;

/** The names of the columns. */
export function headingRow({ style, width }: Look): string {
  const cells = [
    right("n", columns.n),
    right("ms", columns.time),
    left("from", columns.from),
    left("kind", columns.kind),
    left("id ↔", columns.id),
    left("method, or what it answers", width - before - behind),
    right("latency", columns.latency),
    right("size", columns.size),
  ];
  return style.dim(cells.join(" "));
}

/** A frame: one row, or for a batch one and one more for each of its messages; below it, the rules that it breaks. */
export function frameRows(frame: Frame, look: Look): readonly string[] {
  const { n, at, from, bytes, batch, parts } = frame;
  const start = `${right(String(n), columns.n)} ${right(timeText(at), columns.time)}`;
  const size = bytesText(bytes);
  const [only] = parts;
  if (!batch && only !== undefined) return messageRows(only, { start, from, size }, look);
  const batchRow = row(
    {
      start,
      from,
      kind: "batch",
      id: "",
      what: left(`${count(parts.length, "message")} in one frame`, whatWidth(look)),
      latency: "",
      size,
    },
    look,
  );
  return [batchRow, ...parts.flatMap((part) => messageRows(part, { start: "", from, size: "" }, look))];
}

/** A line of the server's stderr, or what became of it: a text that takes all columns behind the kind. */
export function remarkRow(at: number, kind: string, text: string, { style, width }: Look): string {
  const room = columns.kind + 1 + columns.id;
  const start = `${left("", columns.n)} ${right(timeText(at), columns.time)} ${left("server", columns.from)} ${left(kind, room)}`;
  return style.dim(`${start} ${cut(text, width - before)}`);
}

/** Where a message stands in its frame. */
interface Place {
  readonly start: string;
  readonly from: Party;
  readonly size: string;
}

function messageRows(part: Part, place: Place, look: Look): readonly string[] {
  const { style, width } = look;
  const first = row(
    {
      ...place,
      kind: kindPaint(part, style)(left(part.kind, columns.kind)),
      id: idText(part),
      what: whatCell(part, whatWidth(look), style),
      latency: part.latency === undefined ? "" : durationText(part.latency),
    },
    look,
  );
  if (part.violation === undefined) return [first];
  return [first, `${" ".repeat(before)}${style.red(cut(`✖ ${part.violation}`, width - before))}`];
}

/** The cells of a row; `kind` and `what` have their width already. */
interface Cells extends Place {
  readonly kind: string;
  readonly id: string;
  readonly what: string;
  readonly latency: string;
}

function row({ start, from, kind, id, what, latency, size }: Cells, { style }: Look): string {
  const head = `${style.dim(left(start, columns.n + 1 + columns.time))} ${sender(from, style)} ${kind} ${left(id, columns.id)}`;
  return `${head} ${what} ${right(latency, columns.latency)} ${style.dim(right(size, columns.size))}`.trimEnd();
}

function whatWidth({ width }: Look): number {
  return width - before - behind;
}

/** Said by word, arrow and colour, so that no one of them is needed. */
function sender(from: Party, style: Style): string {
  return from === "client" ? style.cyan(left("client →", columns.from)) : style.magenta(left("server ←", columns.from));
}

function kindPaint({ kind, violation, isError }: Part, style: Style): Paint {
  if (violation !== undefined || kind === "err" || isError === true) return style.red;
  return kind === "ntf" ? style.dim : style.bold;
}

function idText({ id, pair }: Part): string {
  const own = id === undefined ? "" : typeof id === "string" ? JSON.stringify(id) : String(id);
  return pair === undefined ? own : `${own} ↔${pair}`;
}

/** The method, and what the message says as far as there is room. */
function whatCell({ method = "", detail, kind, isError }: Part, width: number, style: Style): string {
  const isMessage = kind !== "noise" && kind !== "frag";
  const isAnswer = kind === "res" || kind === "err";
  const name = cut(isAnswer && method !== "" ? `${method}:` : method, width);
  const said = isMessage || detail === "" ? detail : `"${detail}"`;
  const gap = name === "" || said === "" ? "" : " ";
  const rest = left(gap + said, width - widthOf(name));
  return name + (kind === "err" || isError === true ? style.red(rest) : style.dim(rest));
}
