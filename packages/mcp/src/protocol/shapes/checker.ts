import { isObject, pointerToken } from "../../base/json.js";
import type { Literal, NumberShape, StringFormat } from "./shape.js";
import { describeValue, eitherOf, ShapeFaults } from "./shape-fault.js";
import { stringFormats } from "./string-formats.js";

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
export const anyChecker: Checker = scalarChecker("a value", (value) => value !== undefined);

/** A boolean. */
export const booleanChecker: Checker = scalarChecker("a boolean", (value) => typeof value === "boolean");

const plainString = scalarChecker("a string", isString);

/** A string, with an optional format. */
export function stringChecker(format: StringFormat | undefined): Checker {
  if (format === undefined) return plainString;
  const { expected, test } = stringFormats[format];
  return scalarChecker(expected, (value) => isString(value) && test(value));
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** A number within bounds. */
export function numberChecker({ integer, minimum, maximum }: NumberShape): Checker {
  const from = minimum === undefined ? [] : [`≥ ${minimum}`];
  const to = maximum === undefined ? [] : [`≤ ${maximum}`];
  const bounds = [...from, ...to].join(" and ");
  const fits = (value: unknown): boolean => {
    if (typeof value !== "number" || (integer && !Number.isInteger(value))) return false;
    return (minimum === undefined || value >= minimum) && (maximum === undefined || value <= maximum);
  };
  return scalarChecker(`${integer ? "an integer" : "a number"} ${bounds}`.trimEnd(), fits);
}

/** One of several values. */
export function literalChecker(values: readonly Literal[]): Checker {
  return scalarChecker(eitherOf(values.map((value) => JSON.stringify(value))), (value) =>
    values.some((known) => known === value),
  );
}

/** Undefined, or a value that the other checker accepts. */
export function optionalChecker(checker: Checker): Checker {
  return {
    check(value, pointer, faults) {
      if (value !== undefined) checker.check(value, pointer, faults);
    },
    resemblance: (value) => checker.resemblance(value),
  };
}

/** An array whose elements another checker accepts. */
export function arrayChecker(element: Checker, most: number | undefined): Checker {
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
export function mapChecker(member: Checker): Checker {
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
export function objectChecker(members: ReadonlyMap<string, Checker>, required: readonly string[]): Checker {
  return {
    check(value, pointer, faults) {
      if (!isObject(value)) return faults.add(pointer, "an object", describeValue(value));
      for (const [name, member] of members) member.check(own(value, name), `${pointer}/${pointerToken(name)}`, faults);
    },
    resemblance: (value) =>
      isObject(value) ? 1 + required.filter((name) => own(value, name) !== undefined).length : 0,
  };
}

/**
 * One of several objects, distinguished by a literal.
 * @param choices checkers by that literal; the key undefined is the one that may omit it
 */
export function taggedChecker(tag: string, choices: ReadonlyMap<Literal | undefined, Checker>): Checker {
  const expected = eitherOf([...choices.keys()].flatMap((key) => (key === undefined ? [] : JSON.stringify(key))));
  // `value` may be anything; values that are not keys are not found.
  const choiceOf = (value: unknown): Checker | undefined => choices.get(own(value, tag) as Literal | undefined);
  return {
    check(value, pointer, faults) {
      if (!isObject(value)) return faults.add(pointer, "an object", describeValue(value));
      const choice = choiceOf(value);
      if (choice !== undefined) return choice.check(value, pointer, faults);
      faults.add(`${pointer}/${pointerToken(tag)}`, expected, describeValue(own(value, tag)));
    },
    resemblance: (value) => (isObject(value) ? 1 + (choiceOf(value) === undefined ? 0 : 1) : 0),
  };
}

/**
 * Accepts values that any of several checkers accepts. For other values it reports the faults of the most similar
 * choice, if one stands out.
 */
export function anyOfChecker(expected: string, checkers: readonly Checker[]): Checker {
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

/** An own member; inherited members are not part of JSON. */
function own(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
