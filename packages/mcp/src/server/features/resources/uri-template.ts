import type { MembersOf } from "../../../base/check-members.js";
import { normalUri } from "./uri.js";

/** The variables of a template by name, as a handler gets them: those of `{?…}` may be missing. */
export type TemplateVariables<Template extends string> = string extends Template
  ? Readonly<Record<string, string>>
  : { readonly [Name in RequiredName<Expression<Template>>]: string } & {
      readonly [Name in OptionalName<Expression<Template>>]?: string;
    };

/** The name of a variable of a template. */
export type VariableName<Template extends string> = string extends Template
  ? string
  : RequiredName<Expression<Template>> | OptionalName<Expression<Template>>;

type Expression<Template> = Template extends `${string}{${infer Inner}}${infer Rest}`
  ? Inner | Expression<Rest>
  : never;
type Names<List> = List extends `${infer Name},${infer Rest}` ? Name | Names<Rest> : List;
type RequiredName<Inner> = Inner extends `?${string}`
  ? never
  : Inner extends `${"+" | "#" | "." | "/" | ";"}${infer List}`
    ? Names<List>
    : Names<Inner>;
type OptionalName<Inner> = Inner extends `?${infer List}` ? Names<List> : never;

/** Options for the values of a template. */
export interface UriTemplateOptions {
  /**
   * Lets values hold `.` and `..` segments, and escapes that a second decoding would turn into such. Only where no value
   * ever becomes a path. Default: false, such a URI is of no resource.
   */
  readonly traversal?: boolean;
}

/** The members of `UriTemplateOptions`, for the check of definitions. */
export const uriTemplateMembers: MembersOf<UriTemplateOptions> = { traversal: ["boolean"] };

/** A URI template that matches URIs and extracts the values of its variables. */
export type UriTemplate = Readonly<{
  /** In the order of the template. */
  variables: readonly string[];
  /** The decoded values; undefined for a URI that is not of the template. */
  match(uri: string): Readonly<Record<string, string>> | undefined;
}>;

/**
 * A URI template of RFC 6570, to be matched, in time that grows with the length of the URI alone.
 *
 * `{x}`, `{.x}`, `{/x}` and `{;x}` take no slash, be it written or escaped; `{+x}` and `{#x}` do. `{?x,y}` stands at the
 * end, and its variables may come in any order or not at all; every other value has at least one character. Where a URI
 * can be read in several ways, the earlier variable takes as little as it can. No value ever holds a control character.
 *
 * @example
 * uriTemplate("notes:/{author}/{+path}").match("notes:/ada/2026/may"); // { author: "ada", path: "2026/may" }
 *
 * @throws TypeError for a template that cannot be matched
 */
export function uriTemplate(text: string, { traversal = false }: UriTemplateOptions = {}): UriTemplate {
  const { scheme, parts, query, variables } = new ParsedTemplate(text);
  return {
    variables,
    match(uri) {
      if (!uri.startsWith(scheme)) return undefined;
      const end = query === undefined ? -1 : uri.indexOf("?");
      const taken = matchParts(parts, normalUri(end < 0 ? uri : uri.slice(0, end)));
      const asked = end < 0 ? [] : readQuery(uri.slice(end + 1), query ?? []);
      if (taken === undefined || asked === undefined) return undefined;
      return decodeValues([...taken, ...asked], traversal);
    },
  };
}

/** A variable and its value as it is written. */
type Written = readonly [name: string, value: string];

/**
 * Reads a URI as the parts of a template. From the last part to the first it notes where the rest of the parts can begin
 * so that they end with the URI; then it reads forward and never has to go back.
 */
function matchParts(parts: readonly Part[], uri: string): readonly Written[] | undefined {
  const [first] = parts;
  if (first?.kind === "literal" && !uri.startsWith(first.text)) return undefined;
  const escapes = escapesIn(uri);
  let rest = new Uint8Array(uri.length + 1);
  rest[uri.length] = 1;
  const fits = [rest];
  for (const part of parts.toReversed()) {
    rest = part.kind === "literal" ? literalFits(part.text, uri, rest) : valueFits(part.slashes, uri, rest);
    for (const at of escapes) rest.fill(0, at + 1, at + 3); // No part begins inside of an escape.
    fits.unshift(rest);
  }
  return rest[0] === 1 ? readForward(parts, uri, fits) : undefined;
}

function escapesIn(uri: string): readonly number[] {
  const escapes: number[] = [];
  for (let at = uri.indexOf("%"); at >= 0; at = uri.indexOf("%", at + 1)) escapes.push(at);
  return escapes;
}

function literalFits(literal: string, uri: string, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const fits = new Uint8Array(uri.length + 1);
  for (let at = uri.length - literal.length; at >= 0; at -= 1) {
    if (rest[at + literal.length] === 1 && uri.startsWith(literal, at)) fits[at] = 1;
  }
  return fits;
}

function valueFits(slashes: boolean, uri: string, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const fits = new Uint8Array(uri.length + 1);
  for (let at = uri.length - 1; at >= 0; at -= 1) {
    const isTaken = slashes || !endsSegment(uri, at);
    if (isTaken && (rest[at + 1] === 1 || fits[at + 1] === 1)) fits[at] = 1;
  }
  return fits;
}

/** True for what no value of one segment holds: separators of paths, and of the parts of a URI. */
function endsSegment(uri: string, at: number): boolean {
  const character = uri[at] ?? "";
  return character === "%" ? uri.startsWith("2F", at + 1) || uri.startsWith("5C", at + 1) : "/\\?#".includes(character);
}

function readForward(parts: readonly Part[], uri: string, fits: readonly Uint8Array[]): readonly Written[] {
  const values: Written[] = [];
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const rest = fits[index + 1];
    let end = at + (part.kind === "literal" ? part.text.length : 1);
    while (rest?.[end] === 0) end += 1; // A literal ends where the rest begins: what is noted says so.
    if (part.kind === "value") values.push([part.name, uri.slice(at, end)]);
    at = end;
  }
  return values;
}

/** The pairs of a query; undefined if one of them is not of the template, or comes twice. */
function readQuery(text: string, names: readonly string[]): readonly Written[] | undefined {
  if (text === "") return [];
  const pairs: Written[] = [];
  for (const pair of text.split("&", names.length + 1)) {
    const equals = pair.indexOf("=");
    const name = pair.slice(0, Math.max(equals, 0));
    if (!names.includes(name) || pairs.some(([other]) => other === name) || pair.includes("#")) return undefined;
    pairs.push([name, pair.slice(equals + 1)]);
  }
  return pairs;
}

const control = /\p{Cc}/u;
const dotSegment = /(?:^|[\\/])\.{1,2}(?:[\\/]|$)/;
const escapedTwice = /%(?:2e|2f|5c|00)/i;

function decodeValues(written: readonly Written[], traversal: boolean): Readonly<Record<string, string>> | undefined {
  const values: Written[] = [];
  for (const [name, text] of written) {
    const value = decode(text);
    if (value === undefined || control.test(value)) return undefined;
    if (!traversal && (dotSegment.test(value) || escapedTwice.test(value))) return undefined;
    values.push([name, value]);
  }
  return Object.fromEntries(values);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // A malformed escape, or bytes that are not UTF-8: the URI has no meaning.
  }
}

/** A piece of a template: text that must be there, or a value to take. */
type Part =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "value"; readonly name: string; readonly slashes: boolean };

/** How the values of an expression stand in a URI. https://www.rfc-editor.org/rfc/rfc6570#appendix-A */
interface Operator {
  readonly first: string;
  readonly separator: string;
  /** Whether a value follows its name. */
  readonly named: boolean;
  /** Whether a value may hold slashes. */
  readonly slashes: boolean;
}

const operators: ReadonlyMap<string, Operator> = new Map([
  ["", { first: "", separator: ",", named: false, slashes: false }],
  ["+", { first: "", separator: ",", named: false, slashes: true }],
  ["#", { first: "#", separator: ",", named: false, slashes: true }],
  [".", { first: ".", separator: ".", named: false, slashes: false }],
  ["/", { first: "/", separator: "/", named: false, slashes: false }],
  [";", { first: ";", separator: ";", named: true, slashes: false }],
]);

/** Every part costs a look at every character of a URI, and each is kept while the server runs. */
const maxLength = 2_048;
const maxVariables = 16;

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const notInUri = /[\s\p{Cc}\p{Cs}]/u;
const piece = /\{(?<expression>[^{}]*)\}|[^{}]+|[{}]/g;
const expression = /^(?<operator>[+#./;?&=,!@|]?)(?<list>.*)$/s;
const variable = /^\w+(?:\.\w+)*$/;

/** A template as it is matched. */
class ParsedTemplate {
  /** The literal start of every URI of the template, colon included. */
  readonly scheme: string;
  readonly parts: Part[] = [];
  readonly variables: string[] = [];
  /** The variables of `{?…}`, if it has that. */
  query: readonly string[] | undefined;
  readonly #text: string;

  /** @throws TypeError for what is no template, or one whose values cannot be told from one another */
  constructor(text: string) {
    this.#text = text;
    const [found] = scheme.exec(text) ?? [];
    if (found === undefined) throw this.#refuse("it must begin with a scheme and a colon");
    if (text.length > maxLength) throw this.#refuse(`it may have at most ${maxLength} characters`);
    if (notInUri.test(text)) throw this.#refuse("it contains a space or a control character");
    this.scheme = found;
    for (const match of text.matchAll(piece)) {
      const [written] = match;
      if (this.query !== undefined) throw this.#refuse("nothing may follow {?…}");
      if (match.groups?.expression !== undefined) this.#expression(match.groups.expression);
      else this.#literal(written);
    }
    if (this.variables.length === 0) throw this.#refuse("it has no variable: it is a resource");
  }

  #literal(text: string): void {
    if (text === "{" || text === "}") throw this.#refuse("a brace is unmatched");
    if (text !== "") this.parts.push({ kind: "literal", text: normalUri(text) });
  }

  #expression(inner: string): void {
    const { operator: sign = "", list = "" } = expression.exec(inner)?.groups ?? {};
    const names = list.split(",");
    for (const name of names) this.#name(name);
    if (sign === "?") {
      if (this.#text.split("?").length > 2) throw this.#refuse("it has a second question mark besides that of {?…}");
      this.query = names;
      return;
    }
    const operator = operators.get(sign);
    if (operator === undefined)
      throw this.#refuse(`{${sign}…} cannot be matched; variables of a query go into one {?…}`);
    for (const [index, name] of names.entries()) this.#value(name, index === 0, operator);
  }

  #name(name: string): void {
    if (name.includes("*") || name.includes(":")) {
      throw this.#refuse(`{${name}} cannot be matched: leave out what follows the name`);
    }
    if (!variable.test(name)) throw this.#refuse(`${JSON.stringify(name)} is not the name of a variable`);
    if (this.variables.includes(name)) throw this.#refuse(`the variable ${name} stands there twice`);
    if (this.variables.length === maxVariables) throw this.#refuse(`it may have at most ${maxVariables} variables`);
    this.variables.push(name);
  }

  #value(name: string, isFirst: boolean, { first, separator, named, slashes }: Operator): void {
    this.#literal(`${isFirst ? first : separator}${named ? `${name}=` : ""}`);
    if (this.parts.at(-1)?.kind === "value") {
      throw this.#refuse(`it is ambiguous where the value before {${name}} ends: put text between them`);
    }
    this.parts.push({ kind: "value", name, slashes });
  }

  #refuse(why: string): TypeError {
    return new TypeError(`The URI template ${JSON.stringify(this.#text)} cannot be served: ${why}`);
  }
}
