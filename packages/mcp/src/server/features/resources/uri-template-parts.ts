import { normalUri } from "./uri.js";

/** A piece of a template: text that must be there, or a value to take. */
export type Part =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "value"; readonly name: string; readonly slashes: boolean };

/** A template as it is matched. */
export interface ReadTemplate {
  /** What every URI of it begins with, colon included. */
  readonly scheme: string;
  readonly parts: readonly Part[];
  /** The variables of `{?…}`, if it has that. */
  readonly query: readonly string[] | undefined;
  readonly variables: readonly string[];
}

/** How the values of an expression stand in a URI. https://www.rfc-editor.org/rfc/rfc6570#appendix-A */
interface Operator {
  readonly first: string;
  readonly separator: string;
  /** Whether a value stands behind its name. */
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

/** @throws TypeError for what is no template, or one whose values cannot be told from one another */
export function readTemplate(text: string): ReadTemplate {
  return new Reader(text).read();
}

class Reader {
  readonly #text: string;
  readonly #parts: Part[] = [];
  readonly #variables: string[] = [];
  #query: readonly string[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ReadTemplate {
    const [found] = scheme.exec(this.#text) ?? [];
    if (found === undefined) throw this.#refuse("it must begin with a scheme and a colon");
    if (this.#text.length > maxLength) throw this.#refuse(`it may have at most ${maxLength} characters`);
    if (notInUri.test(this.#text)) throw this.#refuse("it holds a space or a control character");
    for (const match of this.#text.matchAll(piece)) {
      const [written] = match;
      if (this.#query !== undefined) throw this.#refuse("nothing may stand behind {?…}");
      if (match.groups?.expression !== undefined) this.#expression(match.groups.expression);
      else this.#literal(written);
    }
    if (this.#variables.length === 0) throw this.#refuse("it has no variable: it is a resource");
    return { scheme: found, parts: this.#parts, query: this.#query, variables: this.#variables };
  }

  #literal(text: string): void {
    if (text === "{" || text === "}") throw this.#refuse("a brace has no partner");
    if (text !== "") this.#parts.push({ kind: "literal", text: normalUri(text) });
  }

  #expression(inner: string): void {
    const { operator: sign = "", list = "" } = expression.exec(inner)?.groups ?? {};
    const names = list.split(",");
    for (const name of names) this.#name(name);
    if (sign === "?") {
      if (this.#text.split("?").length > 2) throw this.#refuse("it has a second question mark besides that of {?…}");
      this.#query = names;
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
    if (!variable.test(name)) throw this.#refuse(`${JSON.stringify(name)} is no name of a variable`);
    if (this.#variables.includes(name)) throw this.#refuse(`the variable ${name} stands there twice`);
    if (this.#variables.length === maxVariables) throw this.#refuse(`it may have at most ${maxVariables} variables`);
    this.#variables.push(name);
  }

  #value(name: string, isFirst: boolean, { first, separator, named, slashes }: Operator): void {
    this.#literal(`${isFirst ? first : separator}${named ? `${name}=` : ""}`);
    if (this.#parts.at(-1)?.kind === "value") {
      throw this.#refuse(`nothing tells where the value before {${name}} ends: put text between them`);
    }
    this.#parts.push({ kind: "value", name, slashes });
  }

  #refuse(why: string): TypeError {
    return new TypeError(`The URI template ${JSON.stringify(this.#text)} cannot be served: ${why}`);
  }
}
