import { isObject, ownMember, pointerToken } from "../../base/json.js";
import { entered, membersOf, tagsOf, typeOf } from "./named-types.js";
import type { Literal, NumberShape, ObjectShape, Shape, StringFormat, TaggedShape, Types } from "./shape.js";
import { describeValue, eitherOf, ShapeFaults } from "./shape-fault.js";

/**
 * Compiles shapes to checkers, each of them once. A type must not contain itself, so the time and depth of a check depend on the shape
 * alone, never on a peer's value.
 */
export class ShapeCompiler {
  readonly #types: Types;
  readonly #checkers = new WeakMap<Shape, Checker>();
  /** The types that are being compiled, outermost first. */
  #path: readonly string[] = [];

  constructor(types: Types) {
    this.#types = types;
  }

  /** @throws Error if a type is missing, contains itself, or cannot be distinguished from another by its tag */
  compile(shape: Shape): Checker {
    const checker = this.#checkers.get(shape) ?? this.#checker(shape);
    this.#checkers.set(shape, checker);
    return checker;
  }

  #checker(shape: Shape): Checker {
    switch (shape.kind) {
      case "any":
        return anyChecker;
      case "boolean":
        return booleanChecker;
      case "string":
        return stringChecker(shape.format);
      case "number":
        return numberChecker(shape);
      case "literal":
        return literalChecker(shape.values);
      case "array":
        return arrayChecker(this.compile(shape.of), shape.most);
      case "map":
        return mapChecker(this.compile(shape.of));
      case "object":
        return this.#object(shape);
      case "tagged":
        return this.#tagged(shape);
      case "anyOf":
        return anyOfChecker(
          shape.expected,
          shape.shapes.map((choice) => this.compile(choice)),
        );
      case "optional":
        return optionalChecker(this.compile(shape.shape));
      case "ref":
        return this.#named(shape.name);
    }
  }

  #object(shape: ObjectShape): Checker {
    const members = Object.entries(membersOf(this.#types, shape, this.#path));
    return objectChecker(
      new Map(members.map(([name, member]): [string, Checker] => [name, this.compile(member)])),
      members.flatMap(([name, member]) => (member.kind === "optional" ? [] : name)),
    );
  }

  #tagged({ tag, choices }: TaggedShape): Checker {
    const checkers = new Map<Literal | undefined, Checker>();
    for (const name of choices) {
      const checker = this.#named(name);
      for (const value of tagsOf(this.#types, name, tag)) {
        if (checkers.has(value)) throw new Error(`The shape ${name} has the ${tag} ${value} of another choice`);
        checkers.set(value, checker);
      }
    }
    return taggedChecker(tag, checkers);
  }

  #named(name: string): Checker {
    const path = this.#path;
    const shape = typeOf(this.#types, name, path.at(-1));
    this.#path = entered(path, name);
    const checker = this.compile(shape);
    this.#path = path;
    return checker;
  }
}

/** A compiled shape. */
export interface Checker {
  /** Adds the faults of a value to `faults`. `pointer` is the place of the value. */
  check(value: unknown, pointer: string, faults: ShapeFaults): void;
  /** A score of how likely the value was meant to have this shape; 0 for not at all. */
  resemblance(value: unknown): number;
}

function scalarChecker(expected: string, test: (value: unknown) => boolean): Checker {
  return {
    check(value, pointer, faults) {
      if (!test(value)) faults.add(pointer, expected, describeValue(value));
    },
    // A wrong scalar gives no hint which scalar was meant.
    resemblance: () => 0,
  };
}

/** Any value except undefined. */
const anyChecker: Checker = scalarChecker("a value", (value) => value !== undefined);

/** A boolean. */
const booleanChecker: Checker = scalarChecker("a boolean", (value) => typeof value === "boolean");

const plainString = scalarChecker("a string", isString);

/** A string, with an optional format. */
function stringChecker(format: StringFormat | undefined): Checker {
  if (format === undefined) return plainString;
  const { expected, test } = stringFormats[format];
  return scalarChecker(expected, (value) => isString(value) && test(value));
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** A number within bounds. */
function numberChecker({ integer, minimum, maximum }: NumberShape): Checker {
  const from = minimum === undefined ? [] : [`≥ ${minimum}`];
  const to = maximum === undefined ? [] : [`≤ ${maximum}`];
  const bounds = [...from, ...to].join(" and ");
  const fits = (value: unknown): boolean => {
    if (typeof value !== "number" || (integer && !Number.isInteger(value))) return false;
    return (minimum === undefined || value >= minimum) && (maximum === undefined || value <= maximum);
  };
  return scalarChecker(`${integer ? "an integer" : "a number"} ${bounds}`.trimEnd(), fits);
}

/** Accepts one of several values. */
function literalChecker(values: readonly Literal[]): Checker {
  return scalarChecker(eitherOf(values.map((value) => JSON.stringify(value))), (value) =>
    values.some((known) => known === value),
  );
}

/** Undefined, or a value that the other checker accepts. */
function optionalChecker(checker: Checker): Checker {
  return {
    check(value, pointer, faults) {
      if (value !== undefined) checker.check(value, pointer, faults);
    },
    resemblance: (value) => checker.resemblance(value),
  };
}

/** An array whose elements another checker accepts. */
function arrayChecker(element: Checker, most: number | undefined): Checker {
  return {
    check(value, pointer, faults) {
      if (!Array.isArray(value)) return faults.add(pointer, "an array", describeValue(value));
      if (most !== undefined && value.length > most) {
        faults.add(pointer, `at most ${most} elements`, `${value.length} elements`);
      }
      for (let index = 0; index < value.length && !faults.full; index++) {
        element.check(value[index], `${pointer}/${index}`, faults);
      }
    },
    resemblance: (value) => (Array.isArray(value) ? 1 : 0),
  };
}

/** An object whose members another checker accepts. */
function mapChecker(member: Checker): Checker {
  return {
    check(value, pointer, faults) {
      if (!isObject(value)) return faults.add(pointer, "an object", describeValue(value));
      for (const name of Object.keys(value)) {
        if (faults.full) return;
        member.check(value[name], `${pointer}/${pointerToken(name)}`, faults);
      }
    },
    resemblance: (value) => (isObject(value) ? 1 : 0),
  };
}

/**
 * An object with members.
 * @param required the names of required members, which also serve to recognise the object
 */
function objectChecker(members: ReadonlyMap<string, Checker>, required: readonly string[]): Checker {
  return {
    check(value, pointer, faults) {
      if (!isObject(value)) return faults.add(pointer, "an object", describeValue(value));
      for (const [name, member] of members)
        member.check(ownMember(value, name), `${pointer}/${pointerToken(name)}`, faults);
    },
    resemblance: (value) =>
      isObject(value) ? 1 + required.filter((name) => ownMember(value, name) !== undefined).length : 0,
  };
}

/**
 * One of several objects, distinguished by a literal.
 * @param choices checkers by that literal; the key undefined is the one that may omit it
 */
function taggedChecker(tag: string, choices: ReadonlyMap<unknown, Checker>): Checker {
  const expected = eitherOf([...choices.keys()].flatMap((key) => (key === undefined ? [] : JSON.stringify(key))));
  const choiceOf = (value: unknown): Checker | undefined => choices.get(ownMember(value, tag));
  return {
    check(value, pointer, faults) {
      if (!isObject(value)) return faults.add(pointer, "an object", describeValue(value));
      const choice = choiceOf(value);
      if (choice !== undefined) return choice.check(value, pointer, faults);
      faults.add(`${pointer}/${pointerToken(tag)}`, expected, describeValue(ownMember(value, tag)));
    },
    resemblance: (value) => (isObject(value) ? 1 + (choiceOf(value) === undefined ? 0 : 1) : 0),
  };
}

/**
 * Accepts values that any of several checkers accepts. For other values it reports the faults of the most similar
 * choice, if one stands out.
 */
function anyOfChecker(expected: string, checkers: readonly Checker[]): Checker {
  return {
    check(value, pointer, faults) {
      const attempts: { readonly tried: ShapeFaults; readonly mark: number }[] = [];
      for (const checker of checkers) {
        const tried = faultsOf(checker, value, pointer);
        if (tried.none) return;
        attempts.push({ tried, mark: checker.resemblance(value) });
      }
      const best = Math.max(...attempts.map(({ mark }) => mark));
      const [nearest, another] = attempts.filter(({ mark }) => mark === best);
      if (best > 0 && nearest !== undefined && another === undefined) faults.addAll(nearest.tried);
      else faults.add(pointer, expected, describeValue(value));
    },
    resemblance: (value) => Math.max(...checkers.map((checker) => checker.resemblance(value))),
  };
}

/** Runs a checker on a value. */
export function faultsOf(checker: Checker, value: unknown, pointer = ""): ShapeFaults {
  const faults = new ShapeFaults();
  checker.check(value, pointer, faults);
  return faults;
}

// All expressions run in linear time without recursion, however long the string: only single character classes are
// repeated, and `%` is checked separately.

/** A string format: its name in words, and its test. */
export interface FormatRule {
  readonly expected: string;
  readonly test: (text: string) => boolean;
}

/** All string formats. */
export const stringFormats: Readonly<Record<StringFormat, FormatRule>> = {
  uri: { expected: "a URI", test: isUri },
  "uri-template": { expected: "a URI template", test: isUriTemplate },
  base64: { expected: "base64", test: isBase64 },
};

const scheme = /^[a-z][a-z\d+.-]*:/i;
const notInUris = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]|%(?![\da-f]{2})/i;
const authority = /^\/\/[^/?#]*/;
const host = /^(?:[^@[\]]*@)?(?:\[(?:[\da-f:.]+|v[\da-f]+\.[^@[\]]+)\]|[^@[\]:]*)(?::\d*)?$/i;
const notAfterAuthority = /[[\]]|#[^#]*#/;

/** The syntax of RFC 3986 §3. An IP literal in brackets is not parsed further. */
function isUri(text: string): boolean {
  const start = scheme.exec(text)?.[0];
  if (start === undefined || notInUris.test(text)) return false;
  const hierarchy = text.slice(start.length);
  const [peer = ""] = authority.exec(hierarchy) ?? [];
  return (peer === "" || host.test(peer.slice(2))) && !notAfterAuthority.test(hierarchy.slice(peer.length));
}

const expression = /\{([^{}]*)\}/g;
const notInLiterals = /[\p{Cc} "<>\\^`{|}]|%(?![\da-f]{2})/iu;
const operator = /^[+#./;?&=,!@|]/;
const modifier = /(?::[1-9]\d{0,3}|\*)$/;
const notInNames = /[^\w.%]|%(?![\da-f]{2})|^\.|\.\.|\.$|^$/i;

/** The syntax of RFC 6570 §2. */
function isUriTemplate(text: string): boolean {
  // Replace each expression with a dash, so that `%` before an expression is not joined with the text after it.
  if (notInLiterals.test(text.replaceAll(expression, "-"))) return false;
  for (const [, inner = ""] of text.matchAll(expression)) {
    if (!inner.replace(operator, "").split(",").every(isVariable)) return false;
  }
  return true;
}

function isVariable(specification: string): boolean {
  return !notInNames.test(specification.replace(modifier, ""));
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[a-z\d+/]*={0,2}$/i.test(text);
}
