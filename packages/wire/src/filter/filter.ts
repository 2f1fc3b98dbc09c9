import { escapeControls } from "@parlance/mcp/jsonrpc";
import { type Field, fieldOf, fields, type Quantity } from "./fields.js";
import { compilePattern, type Parsed, type Pattern, parsedBy, Unexpected } from "./pattern.js";

/** How a field is compared. `:` takes globs and ranges, `=` takes a value as it is. */
export type Operator = ":" | "=" | "!=" | ">" | "<" | ">=" | "<=" | "has";

/** A value as it is written: `7` is not `"7"`. */
export interface Written {
  /** The text without quotes. */
  readonly text: string;
  /** Whether it was written in quotes. */
  readonly quoted: boolean;
}

/** A filter as a tree. */
export type Filter =
  /** The filter of an empty text, which every row matches. */
  | { readonly is: "everything" }
  | {
      /** How the parts are combined. */
      readonly is: "and" | "or";
      /** The parts, in order. */
      readonly of: readonly Filter[];
    }
  | {
      readonly is: "not";
      /** The negated filter. */
      readonly of: Filter;
    }
  /** The text occurs somewhere in the row, ignoring case. */
  | {
      readonly is: "text";
      /** The text to find. */
      readonly text: string;
    }
  | {
      readonly is: "pattern";
      /** The regular expression to match. */
      readonly pattern: Pattern;
    }
  /** `field` is a name, `header.name`, or a JSON pointer. */
  | {
      readonly is: "field";
      /** The field to compare. */
      readonly field: string;
      /** The comparison. */
      readonly op: Operator;
      /** The value to compare with. */
      readonly value: Written;
    }
  | {
      readonly is: "field";
      /** The field to match. */
      readonly field: string;
      readonly op: "~";
      /** The regular expression to match. */
      readonly value: Pattern;
    }
  /** The frame with this number, and its request or response. */
  | {
      readonly is: "pair";
      /** The number of the frame. */
      readonly n: number;
    }
  /** All messages of the requests with this id. */
  | {
      readonly is: "call";
      /** The id of the request, as it was written. */
      readonly id: Written;
    }
  /** A named filter, which the parser has resolved. */
  | {
      readonly is: "saved";
      /** The name of the filter. */
      readonly name: string;
      /** The filter. */
      readonly filter: Filter;
    };

/** A filter, or why the text is not one. */
export type ParsedFilter = Parsed<{
  /** The filter. */
  readonly filter: Filter;
}>;

/** The settings of a parser. */
export interface FilterContext {
  /** The text of a named filter. Default: no filter has a name. */
  readonly saved?: (name: string) => string | undefined;
}

/** The maximum length of a filter, in characters: longer than any useful filter, and short enough to parse on every keystroke. */
const longest = 4_096;
const deepest = 64;

/**
 * Parses a filter. Never throws: returns the fault and its place.
 *
 * @example
 * const parsed = parseFilter("method:tools/call lat>200ms");
 * if (!parsed.ok) console.error(parsed.fault.says);
 */
export function parseFilter(text: string, context: FilterContext = {}): ParsedFilter {
  return parseWithin(text, context, 0);
}

function parseWithin(text: string, context: FilterContext, depth: number): ParsedFilter {
  return parsedBy(() => {
    if (text.length > longest) throw new Unexpected(longest, `a filter has at most ${longest} characters`);
    return { filter: new Parser(text, context, depth).all() };
  });
}

const space = /\s*/y;
const or = /(?:or(?![^\s()])|\|\|)/iy;
const and = /(?:and(?![^\s()])|&&)/iy;
const not = /(?:not(?![^\s()])|[!-])/iy;
const open = /\(/y;
const close = /\)/y;
const group = /(pair|call)\(/y;
const comma = /"(?:[^"\\]|\\["\\])*"/y;
const regex = /\/((?:[^/\\]|\\.)+)\/(i?)(?=[\s)]|$)/y;
const fieldName =
  /(header\.[\w#$%&'*+.^`|-]+|[a-zA-Z]+|\/(?:[^\s=!<>~:()"]|~[01])*)(?=\s*(?:[:=<>~]|!=)|\s+has(?=[\s"]))/y;
const operator = /\s*(!=|>=|<=|[:=<>~]|has(?=[\s"]))\s*/y;
const bare = /[^\s()"]+/y;
const savedName = /@([\w-]+)/y;

class Parser {
  readonly #text: string;
  readonly #context: FilterContext;
  #at = 0;
  #depth: number;

  constructor(text: string, context: FilterContext, depth: number) {
    this.#text = text;
    this.#context = context;
    this.#depth = depth;
  }

  all(): Filter {
    this.#take(space);
    if (this.#isAtEnd) return { is: "everything" };
    const filter = this.#or();
    if (!this.#isAtEnd) throw new Unexpected(this.#at, 'there is a ")" that nothing opens');
    return filter;
  }

  #or(): Filter {
    const of = [this.#and()];
    while (this.#take(or)) of.push(this.#and());
    return joined("or", of);
  }

  #and(): Filter {
    const of = [this.#not()];
    while (!this.#isAtEnd && !this.#sees(or) && !this.#sees(close)) {
      this.#take(and);
      of.push(this.#not());
    }
    return joined("and", of);
  }

  #not(): Filter {
    this.#take(space);
    this.#depth += 1;
    if (this.#depth > deepest) throw new Unexpected(this.#at, `it has more than ${deepest} levels`);
    const filter: Filter = this.#take(not) ? { is: "not", of: this.#not() } : this.#atom();
    this.#depth -= 1;
    this.#take(space);
    return filter;
  }

  #atom(): Filter {
    const at = this.#at;
    if (this.#take(open)) {
      const inner = this.#or();
      if (!this.#take(close)) throw new Unexpected(this.#at, `the "(" at ${at + 1} is not closed`);
      return inner;
    }
    const about = this.#take(group)?.[1];
    if (about !== undefined) return this.#group(about);
    const name = this.#sees(regex) && !isCondition(this.#text.slice(at)) ? undefined : this.#take(fieldName)?.[1];
    if (name !== undefined) return this.#condition(name, at);
    const [, source, flag] = this.#take(regex) ?? [];
    if (source !== undefined) return { is: "pattern", pattern: pattern(source, flag === "i", at + 1) };
    const saved = this.#take(savedName)?.[1];
    if (saved !== undefined) return this.#saved(saved, at);
    if (this.#sees(or) || this.#sees(and)) throw new Unexpected(at, "there is nothing in front of it to join");
    return { is: "text", text: this.#written("a word, a field or a group").text };
  }

  #group(about: string): Filter {
    this.#take(space);
    const at = this.#at;
    const id = this.#written(about === "pair" ? "the number of a frame" : "the id of a request");
    this.#take(space);
    if (!this.#take(close)) throw new Unexpected(this.#at, `${about}(…) holds one value, and ends with ")"`);
    if (about === "call") return { is: "call", id };
    const n = Number(id.text);
    if (!/^\d{1,15}$/.test(id.text))
      throw new Unexpected(at, `the number of a frame was expected, got ${shown(id.text)}`);
    return { is: "pair", n };
  }

  #saved(name: string, at: number): Filter {
    const text = this.#context.saved?.(name);
    if (text === undefined) throw new Unexpected(at, `there is no saved filter ${name}`);
    const parsed = parseWithin(text, this.#context, this.#depth);
    if (!parsed.ok) throw new Unexpected(at, `the saved filter ${name} cannot be read: ${parsed.fault.says}`);
    return { is: "saved", name, filter: parsed.filter };
  }

  #condition(name: string, at: number): Filter {
    const field = fieldOf(name);
    if (field === undefined)
      throw new Unexpected(
        at,
        `there is no field ${shown(name)}; there are ${[...fields.keys()].join(" ")} and header.<name>, and JSON pointers such as /result/isError=true; put quotes around it to look for the text`,
      );
    const opAt = this.#at;
    const op = this.#take(operator)?.[1] as Operator | "~"; // The pattern has no others.
    const valueAt = this.#at;
    if (op === "~") return { is: "field", field: name, op, value: this.#pattern(field, opAt) };
    const value = this.#written(`a value for ${name}`);
    const fault = faultOf(field, op, value);
    if (fault !== undefined) throw new Unexpected(fault.ofOperator ? opAt : valueAt, `${name}: ${fault.says}`);
    return { is: "field", field: name, op, value };
  }

  #pattern(field: Field | "pointer", opAt: number): Pattern {
    if (field !== "pointer" && field.kind !== "text")
      throw new Unexpected(opAt, "~ tests texts, and this is not a text");
    const at = this.#at;
    const [, source, flag] = this.#take(regex) ?? [];
    if (source !== undefined) return pattern(source, flag === "i", at + 1);
    const { text } = this.#written("a regular expression");
    return pattern(
      text.replace(/\\.|\//g, (part) => (part === "/" ? "\\/" : part)),
      false,
      at,
    );
  }

  #written(what: string): Written {
    const at = this.#at;
    const quoted = this.#take(comma)?.[0];
    if (quoted !== undefined) return { text: quoted.slice(1, -1).replace(/\\(["\\])/g, "$1"), quoted: true };
    if (this.#text[at] === '"') throw new Unexpected(at, "the quote is not closed");
    const text = this.#take(bare)?.[0];
    if (text !== undefined) return { text, quoted: false };
    const found = this.#isAtEnd ? "the filter ends" : `found ${shown(this.#text.slice(at, at + 1))}`;
    throw new Unexpected(at, `${what} was expected, but ${found}`);
  }

  get #isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  #sees(what: RegExp): boolean {
    what.lastIndex = this.#at;
    return what.test(this.#text);
  }

  #take(what: RegExp): RegExpExecArray | undefined {
    what.lastIndex = this.#at;
    const found = what.exec(this.#text) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

/**
 * Whether a text that begins with `/` is a condition on a JSON pointer rather than a regular expression: its part before the
 * first space is a condition and not a whole expression (`/a:b c/`), or the word `has` follows it.
 */
function isCondition(text: string): boolean {
  const [word = ""] = /^[^\s()]+/.exec(text) ?? [];
  const isPointer = /^\/(?:[^=!<>~:"]|~[01])*(?:[:=<>~]|!=)./.test(word);
  return (isPointer && !/^\/(?:[^/\\]|\\.)+\/i?$/.test(word)) || /^\S+\s+has\s+\S/.test(text);
}

function joined(is: "and" | "or", of: readonly Filter[]): Filter {
  const [first] = of;
  return of.length === 1 && first !== undefined ? first : { is, of };
}

function pattern(source: string, ignoreCase: boolean, at: number): Pattern {
  const compiled = compilePattern({ source, ignoreCase });
  if (!compiled.ok) throw new Unexpected(at + compiled.fault.at, compiled.fault.says);
  return { source, ignoreCase };
}

const orders: readonly Operator[] = [">", "<", ">=", "<="];

interface ConditionFault {
  readonly says: string;
  readonly ofOperator?: true;
}

function faultOf(field: Field | "pointer", op: Operator, { text, quoted }: Written): ConditionFault | undefined {
  if (field === "pointer") return pointerFault(op, text);
  if (field.kind === "number") {
    if (op === "has") return { says: "it is a number, which contains nothing: use : = != > < >= <=", ofOperator: true };
    const isRange = op === ":" && parseRange(text, field.quantity) !== undefined;
    if (isRange || parseQuantity(text, field.quantity) !== undefined) return undefined;
    return {
      says: `${quantityExamples[field.quantity]} was expected${op === ":" ? ", or a range" : ""}, got ${shown(text)}`,
    };
  }
  if (orders.includes(op)) return { says: "it has no order: use : = != ~ has", ofOperator: true };
  const { values } = field.kind === "text" ? field : {};
  if (values === undefined || quoted || op === "has" || text.includes("*") || text.includes("?")) return undefined;
  return values.includes(text) ? undefined : { says: `it is one of ${values.join(" ")}, and never ${shown(text)}` };
}

function pointerFault(op: Operator, text: string): ConditionFault | undefined {
  if (!orders.includes(op) || parseQuantity(text, "plain") !== undefined) return undefined;
  return { says: `a number was expected, got ${shown(text)}` };
}

function shown(text: string): string {
  return escapeControls(JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text));
}

const milliseconds = { us: 0.001, ms: 1, s: 1_000, m: 60_000 } as const;
const bytes = { B: 1, k: 1_000, kB: 1_000, M: 1_000_000, MB: 1_000_000 } as const;

/** The units of each quantity, and the default unit. Fields of both kinds of time hold milliseconds. */
const units: Readonly<Record<Quantity, { readonly by: Readonly<Record<string, number>>; readonly usual: number }>> = {
  plain: { by: {}, usual: 1 },
  seconds: { by: milliseconds, usual: 1_000 },
  milliseconds: { by: milliseconds, usual: 1 },
  bytes: { by: bytes, usual: 1 },
};

/** Examples of values of each quantity, for error messages. */
const quantityExamples: Readonly<Record<Quantity, string>> = {
  plain: "a number",
  seconds: "a time as 1.2 (seconds), 1200ms or 2m",
  milliseconds: "a duration as 500ms, 1.5s or 2m",
  bytes: "a size as 900, 1k or 2.5M",
};

/** The number in a text; undefined if the text is not a number of this quantity. */
export function parseQuantity(text: string, quantity: Quantity): number | undefined {
  const [, digits, unit = ""] = /^(-?\d+(?:\.\d+)?)([a-zA-Z]*)$/.exec(text) ?? [];
  const { by, usual } = units[quantity];
  const factor = unit === "" ? usual : Object.hasOwn(by, unit) ? by[unit] : undefined;
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}

/** From and to, both inclusive; a missing end is open. */
type Range = readonly [from: number, to: number];

/** Parses a range: `1.2..1.9`, `40..`, `..50`, or `*` for all numbers. */
export function parseRange(text: string, quantity: Quantity): Range | undefined {
  if (text === "*") return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const [, first = "", second = ""] = /^(.*?)\.\.(.*)$/.exec(text) ?? [];
  if (first === "" && second === "") return undefined;
  const from = first === "" ? Number.NEGATIVE_INFINITY : parseQuantity(first, quantity);
  const to = second === "" ? Number.POSITIVE_INFINITY : parseQuantity(second, quantity);
  return from === undefined || to === undefined ? undefined : [from, to];
}
