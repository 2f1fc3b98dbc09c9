import { isObject } from "@parlance/mcp/protocol";
import { keyOfId, type RecordedOperation, type WireMessage } from "../conversation/message.js";
import { pairOf, type Row } from "../conversation/row.js";
import { jsonValue, literalOf, namesIn, nodeAt, valueAt } from "../json/json-node.js";
import { type Field, fieldOf, type Quantity, type Subject, textOf } from "./fields.js";
import { type Filter, type Operator, parseQuantity, parseRange, type Written } from "./filter.js";
import { compilePattern, type Pattern } from "./pattern.js";

/** Whether a row matches a filter. A row of many messages matches if one of them does. */
export type RowTest = (row: Row) => boolean;

type Test = (subject: Subject) => boolean;

/**
 * Compiles a parsed filter to a function.
 *
 * @example
 * const parsed = parseFilter("kind:err");
 * if (parsed.ok) console.log(conversation.rows.filter(compileFilter(parsed.filter)));
 */
export function compileFilter(filter: Filter): RowTest {
  const count = countOf(filter);
  return (row) => count(row) > 0;
}

/** Compiles a filter to a function that counts the matching messages of a row; a row without messages counts as one. */
export function countOf(filter: Filter): (row: Row) => number {
  const test = testOf(filter);
  return (row) => {
    const { messages } = row;
    if (messages.length <= 1) return test({ row, message: messages[0] }) ? 1 : 0;
    return messages.reduce((count, message) => count + (test({ row, message }) ? 1 : 0), 0);
  };
}

function testOf(filter: Filter): Test {
  switch (filter.is) {
    case "everything":
      return () => true;
    case "and": {
      const tests = filter.of.map(testOf);
      return (subject) => tests.every((test) => test(subject));
    }
    case "or": {
      const tests = filter.of.map(testOf);
      return (subject) => tests.some((test) => test(subject));
    }
    case "not": {
      const test = testOf(filter.of);
      return (subject) => !test(subject);
    }
    case "text":
      return textTest(filter.text);
    case "pattern": {
      const test = patternTest(filter.pattern);
      return ({ row }) => test(textOf(row));
    }
    case "field":
      return fieldTest(filter);
    case "pair":
      return ({ row, message }) => row.n === filter.n || (message !== undefined && pairOf(message) === filter.n);
    case "call":
      return callTest(filter.id);
    case "saved":
      return testOf(filter.filter);
  }
}

function textTest(text: string): Test {
  const anyCase = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
  return ({ row }) => anyCase.test(textOf(row));
}

function patternTest(pattern: Pattern): (text: string) => boolean {
  const compiled = compilePattern(pattern);
  return compiled.ok ? compiled.test : () => false;
}

function fieldTest(filter: Extract<Filter, { readonly is: "field" }>): Test {
  const field = fieldOf(filter.field);
  if (field === undefined) return () => false;
  if (field === "pointer") return pointerTest(filter);
  if (filter.op === "~") return field.kind === "text" ? some(field.read, patternTest(filter.value)) : () => false;
  const { op, value } = filter;
  if (field.kind === "number") return numberTest(field, op, value);
  if (op === "!=") {
    // A row without the field does not match `!=`; `-field:value` matches it.
    const equal = fieldTest({ ...filter, op: "=" });
    const present = fieldTest({ ...filter, op: ":", value: { text: "*", quoted: false } });
    return (subject) => present(subject) && !equal(subject);
  }
  if (field.kind === "id") return idTest(field.read, op, value);
  return some(field.read, wordTest(op, value));
}

function some(
  read: (subject: Subject) => string | readonly string[] | undefined,
  test: (text: string) => boolean,
): Test {
  return (subject) => {
    const text = read(subject);
    return text !== undefined && (typeof text === "string" ? test(text) : text.some(test));
  };
}

/** How a text is compared: by substring, glob or equality. */
function wordTest(op: Operator, { text: wanted, quoted }: Written): (text: string) => boolean {
  if (op === "has") {
    const sought = wanted.toLowerCase();
    return (text) => text.toLowerCase().includes(sought);
  }
  if (op === "=" || quoted || !/[*?]/.test(wanted)) return (text) => text === wanted;
  return globTest(wanted);
}

/** Compiles a glob: `*` matches any text, `?` one character. */
function globTest(glob: string): (text: string) => boolean {
  const escaped = glob
    .replace(/[\\^$.+()[\]{}|]/g, "\\$&")
    .replaceAll("*", "[^]*")
    .replaceAll("?", "[^]");
  return patternTest({ source: `^${escaped}$`, ignoreCase: false });
}

function numberTest(
  { read, quantity }: Extract<Field, { readonly kind: "number" }>,
  op: Operator,
  { text }: Written,
): Test {
  const holds = numberComparison(op, text, quantity);
  return (subject) => {
    const value = read(subject);
    return value !== undefined && holds(value);
  };
}

/** How an operator compares numbers. */
export const comparisons: Readonly<Record<Exclude<Operator, "has">, (value: number, wanted: number) => boolean>> = {
  ":": (value, wanted) => value === wanted,
  "=": (value, wanted) => value === wanted,
  "!=": (value, wanted) => value !== wanted,
  ">": (value, wanted) => value > wanted,
  "<": (value, wanted) => value < wanted,
  ">=": (value, wanted) => value >= wanted,
  "<=": (value, wanted) => value <= wanted,
};

function numberComparison(op: Operator, text: string, quantity: Quantity): (value: number) => boolean {
  const range = op === ":" ? parseRange(text, quantity) : undefined;
  if (range !== undefined) return (value) => value >= range[0] && value <= range[1];
  const wanted = parseQuantity(text, quantity) ?? Number.NaN;
  return (value) => op !== "has" && comparisons[op](value, wanted);
}

/** The key of an id. An unquoted value is a number or null if it can be read as one. */
function idKey({ text, quoted }: Written): string {
  const isLiteral = !quoted && /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|null|true|false)$/.test(text);
  return isLiteral ? keyOfId(text) : `string ${text}`;
}

function idTest(read: (subject: Subject) => WireMessage | undefined, op: Operator, value: Written): Test {
  const isPart = op === "has" || (op === ":" && !value.quoted && /[*?]/.test(value.text));
  const wanted = idKey(value);
  const test = isPart ? wordTest(op, value) : (text: string): boolean => text === wanted;
  return (subject) => {
    const key = read(subject)?.idKey;
    return key !== undefined && test(isPart ? key.slice(key.indexOf(" ") + 1) : key);
  };
}

/** The requests with an id, with all rounds, notifications and the exchanges that carried them. */
function callTest(id: Written): Test {
  const wanted = idKey(id);
  const isOf = (operation: RecordedOperation): boolean => {
    for (let round: RecordedOperation | undefined = operation; round !== undefined; round = round.previous)
      if (round.request.idKey === wanted) return true;
    for (let round: RecordedOperation | undefined = operation; round !== undefined; round = round.next)
      if (round.request.idKey === wanted) return true;
    return false;
  };
  return ({ row, message }) => {
    const about = message?.concerns;
    if (about !== undefined) return isOf(about);
    const asked = row.exchange?.messages[0]?.operation;
    return asked !== undefined && isOf(asked);
  };
}

function pointerTest({ field: pointer, ...filter }: Extract<Filter, { readonly is: "field" }>): Test {
  const test = filter.op === "~" ? patternOfValue(filter.value) : valueTest(filter.op, filter.value);
  const sought = soughtName(pointer);
  return ({ row, message }) => {
    if (message === undefined) return false;
    // A frame whose text lacks the name cannot have the member, unless the name is escaped.
    const { raw } = row.entry as { readonly raw?: string };
    if (raw !== undefined && sought !== undefined && !raw.includes(sought) && !raw.includes("\\")) return false;
    const found = foundAt(message, pointer, raw);
    return found !== undefined && test(found);
  };
}

/** The value at a pointer. `JSON.parse` is faster than the scan, but loses how a number is written. */
function foundAt(message: WireMessage, pointer: string, raw: string | undefined): Found | undefined {
  if (raw?.startsWith("{") === true) {
    const value = valueAt(JSON.parse(raw), pointer); // Valid JSON: the frame holds a message.
    if (typeof value === "string" || typeof value === "boolean") return { literal: String(value), value };
    if (value === undefined) return undefined;
  }
  const node = nodeAt(message.node, pointer);
  const { bytes } = message.frame;
  return node && { literal: literalOf(node, bytes), value: jsonValue(node, bytes) };
}

/** The name that a message must contain to have the value at a pointer. */
function soughtName(pointer: string): string | undefined {
  const name = namesIn(pointer).findLast((each) => !/^\d+$/.test(each));
  return name === undefined ? undefined : JSON.stringify(name).replaceAll("\\", "").slice(1, -1);
}

interface Found {
  readonly literal: string;
  readonly value: unknown;
}

function patternOfValue(pattern: Pattern): (found: Found) => boolean {
  const test = patternTest(pattern);
  return (found) => test(shownOf(found));
}

function shownOf({ literal, value }: Found): string {
  return typeof value === "string" ? value : literal;
}

/**
 * Compares the value at a pointer. A number compares as a number, or by its literal if a double cannot hold it; a quoted value is
 * a string.
 */
function valueTest(op: Operator, wanted: Written): (found: Found) => boolean {
  const { text, quoted } = wanted;
  if (op === "!=") {
    const equal = valueTest("=", wanted);
    return (found) => !equal(found);
  }
  if (op === ">" || op === "<" || op === ">=" || op === "<=") {
    const compare = numberComparison(op, text, "plain");
    return ({ value }) => typeof value === "number" && compare(value);
  }
  if (op === "has") return hasTest(wanted);
  const word = wordTest(op, wanted);
  return (found) => {
    const { literal, value } = found;
    if (typeof value === "number") return !quoted && (word(literal) || sameNumber(literal, text));
    return quoted ? typeof value === "string" && word(value) : word(shownOf(found));
  };
}

function sameNumber(literal: string, text: string): boolean {
  const isNumber = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
  return isNumber && keyOfId(literal) === keyOfId(text);
}

/** Whether a string contains a text, an array an element, an object a member. */
function hasTest(wanted: Written): (found: Found) => boolean {
  const { text } = wanted;
  const part = wordTest("has", wanted);
  return (found) => {
    const { value } = found;
    if (Array.isArray(value)) return value.some((element) => element === text || JSON.stringify(element) === text);
    return isObject(value) ? Object.hasOwn(value, text) : part(shownOf(found));
  };
}
