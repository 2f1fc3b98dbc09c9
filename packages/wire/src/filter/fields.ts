import { isObject, methods } from "@parlance/mcp/protocol";
import type { WireMessage } from "../conversation/message.js";
import { latencyOf, pairOf, type Row, type RowKind, rowKinds, sizeOf } from "../conversation/row.js";
import { literalOf } from "../json/json-node.js";
import { bytesOf, directionOf, type Frame } from "../recording/frame.js";
import { levels, type Verdict } from "../rules/rule.js";

/** The unit of a numeric field. */
export type Quantity = "plain" | "seconds" | "milliseconds" | "bytes";

/** The subject of a filter: a message of a row, or a row without messages. */
export interface Subject {
  readonly row: Row;
  readonly message: WireMessage | undefined;
}

/** A field of texts. */
export interface TextField {
  readonly kind: "text";
  /** All possible values, if they are known. */
  readonly values?: readonly string[];
  readonly read: (subject: Subject) => string | readonly string[] | undefined;
}

/** A field of numbers. */
export interface NumberField {
  readonly kind: "number";
  readonly quantity: Quantity;
  readonly read: (subject: Subject) => number | undefined;
}

/** A field of ids, which keep their type: `7` is not `"7"`. */
export interface IdField {
  readonly kind: "id";
  readonly read: (subject: Subject) => WireMessage | undefined;
}

/** A field that a filter can test. */
export type Field = TextField | NumberField | IdField;

/** Every field except headers and JSON pointers, by name. `docs/reference/filters.md` describes each. */
export const fields: ReadonlyMap<string, Field> = new Map(
  Object.entries<Field>({
    n: { kind: "number", quantity: "plain", read: ({ row }) => row.n },
    t: { kind: "number", quantity: "seconds", read: ({ row }) => row.at },
    dir: { kind: "text", values: ["c2s", "s2c"], read: ({ row: { from } }) => from && directionOf(from) },
    kind: { kind: "text", values: [...rowKinds, "inject"], read: kindsOf },
    method: { kind: "text", read: methodOf },
    tool: { kind: "text", read: named(methods.callTool) },
    uri: { kind: "text", read: uriOf },
    prompt: { kind: "text", read: named(methods.getPrompt) },
    id: { kind: "id", read: ({ message }) => message },
    pair: { kind: "number", quantity: "plain", read: ({ message }) => message && pairOf(message) },
    lat: { kind: "number", quantity: "milliseconds", read: ({ message }) => message && latencyOf(message) },
    size: { kind: "number", quantity: "bytes", read: ({ row }) => sizeOf(row) },
    verdict: { kind: "text", values: ["ok", ...levels, "unjudged"], read: verdictWords },
    rule: { kind: "text", read: (subject) => verdictsOf(subject).map(({ rule }) => rule.id) },
    who: {
      kind: "text",
      values: ["client", "server", "host", "injected"],
      read: (subject) => verdictsOf(subject).flatMap(({ level, party }) => (level === "must" ? [party] : [])),
    },
    session: { kind: "text", read: ({ row }) => row.session?.name },
    code: { kind: "number", quantity: "plain", read: codeOf },
    status: { kind: "number", quantity: "plain", read: ({ row }) => row.exchange?.response?.status },
    stderr: { kind: "text", read: textOfKind("stderr") },
    note: { kind: "text", read: textOfKind("note") },
  }),
);

/** The field with a name; a JSON pointer is a field too. */
export function fieldOf(name: string): Field | "pointer" | undefined {
  if (name.startsWith("/")) return "pointer";
  return name.startsWith("header.") ? headerField(name.slice("header.".length)) : fields.get(name);
}

/** The values of an HTTP header. */
function headerField(name: string): TextField {
  const wanted = name.toLowerCase();
  return {
    kind: "text",
    read: ({ row }) => headersOf(row).flatMap(([each, value]) => (each.toLowerCase() === wanted ? [value] : [])),
  };
}

function headersOf({ entry, exchange, from }: Row): readonly (readonly [string, string])[] {
  if (entry.k === "h") return entry.headers ?? [];
  return (from === "client" ? exchange?.request : exchange?.response)?.headers ?? [];
}

function kindsOf({ row, message }: Subject): string | readonly string[] {
  const isMade = row.entry.k === "f" && row.entry.by !== undefined;
  if (row.kind !== "batch" && !isMade) return row.kind;
  const own = message === undefined || message.kind === "none" ? [] : [message.kind];
  return [row.kind, ...own, ...(isMade ? ["inject"] : [])];
}

/** The method of a message, of the request that it answers, or of an HTTP request. */
function methodOf({ row, message }: Subject): string | undefined {
  if (message !== undefined) return message.method ?? message.concerns?.request.method;
  return row.entry.k === "h" ? row.exchange?.request.method : undefined;
}

function named(method: string): TextField["read"] {
  return ({ message }) => {
    const request = message?.concerns?.request ?? message;
    return request?.method === method ? request.names : undefined;
  };
}

function textOfKind(kind: RowKind): TextField["read"] {
  return ({ row }) => (row.kind === kind ? textOf(row) : undefined);
}

function uriOf({ message }: Subject): string | undefined {
  const about = message?.names === undefined ? message?.concerns?.request : message;
  return about?.method?.includes("resources/") === true ? about.names : undefined;
}

/** The verdicts on a message; in a batch, only those on this one. */
function verdictsOf({ row, message }: Subject): readonly Verdict[] {
  const { verdicts } = row;
  if (verdicts.length === 0 || message === undefined || message.pointer === "") return verdicts;
  return verdicts.filter(({ pointer }) => pointer === undefined || message.holds(pointer));
}

function verdictWords(subject: Subject): string | readonly string[] | undefined {
  const { row } = subject;
  if (row.frame === undefined && row.exchange === undefined) return undefined;
  const verdicts = verdictsOf(subject);
  if (verdicts.length === 0) return row.unjudged === undefined ? "ok" : "unjudged";
  const words = verdicts.map(({ level }): string => level);
  if (words.includes("must")) return words;
  return [row.unjudged === undefined ? "ok" : "unjudged", ...words];
}

function codeOf({ row, message }: Subject): number | undefined {
  if (row.entry.k === "l") return row.entry.code ?? undefined;
  if (message?.kind !== "err") return undefined;
  const error = message.member("error");
  return isObject(error) && typeof error.code === "number" ? error.code : undefined;
}

/** The texts of a row that are searched for a word, as they were sent. */
export function textOf({ entry, frame }: Row): string {
  switch (entry.k) {
    case "f":
      return entry.raw ?? looseText(frame);
    case "e":
      return entry.raw ?? literalOf({ start: 0, end: Number.POSITIVE_INFINITY }, bytesOf(entry));
    case "h":
      return [entry.method, entry.url, entry.status, entry.why, ...(entry.headers ?? []).flat()].join(" ");
    case "l":
      return [entry.ev, entry.why, entry.sig, entry.code].join(" ");
    case "a":
      return entry.text;
    case "gap":
      return entry.why;
    case "r":
      return [entry.break, entry.fault, entry.redact].join(" ");
    default:
      return "";
  }
}

function looseText(frame: Frame | undefined): string {
  return frame === undefined ? "" : literalOf({ start: 0, end: frame.bytes.length }, frame.bytes);
}
