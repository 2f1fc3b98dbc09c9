import { isObject, pointerToken } from "../../base/json.js";
import type { Literal, NumberShape, StringFormat } from "./shape.js";
import { describeValue, eitherOf, ShapeFaults } from "./shape-fault.js";
import { stringFormats } from "./string-formats.js";

/** A shape that can be asked. */
export interface Checker {
  /** Adds every fault of the value that stands at `pointer`. */
  check(value: unknown, pointer: string, faults: ShapeFaults): void;
  /** How much the value looks as if it was meant to have this shape; 0 for not at all. */
  resemblance(value: unknown): number;
}

function scalarChecker(expected: string, test: (value: unknown) => boolean): Checker {
  return {
    check(value, pointer, faults) {
      if (!test(value)) faults.add(pointer, expected, describeValue(value));
    },
    // A scalar that is not the right one could be meant for any other.
    resemblance: () => 0,
  };
}

/** Anything, as long as it is there. */
export const anyChecker: Checker = scalarChecker("a value", (value) => value !== undefined);

/** A boolean. */
export const booleanChecker: Checker = scalarChecker("a boolean", (value) => typeof value === "boolean");

const plainString = scalarChecker("a string", isString);

/** A string, of a format or of any. */
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

/** Nothing, or what the other checker takes. */
export function optionalChecker(checker: Checker): Checker {
  return {
    check(value, pointer, faults) {
      if (value !== undefined) checker.check(value, pointer, faults);
    },
    resemblance: (value) => checker.resemblance(value),
  };
}

/** An array of things that the other checker takes. */
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

/** An object all of whose members the other checker takes. */
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
 * @param required the names of those that must be there, by which it is recognised
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
 * One of several objects, told apart by a literal.
 * @param choices by that literal; by undefined the one that may leave it out
 */
export function taggedChecker(tag: string, choices: ReadonlyMap<Literal | undefined, Checker>): Checker {
  const expected = eitherOf([...choices.keys()].flatMap((key) => (key === undefined ? [] : JSON.stringify(key))));
  // What is looked up may be anything: what is no key is not found.
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

/** What any of several checkers takes. What none takes is judged by the one that it resembles most, if that is one. */
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

/** The faults of a value, for a checker that is asked by itself. */
export function faultsOf(checker: Checker, value: unknown, pointer = ""): ShapeFaults {
  const faults = new ShapeFaults();
  checker.check(value, pointer, faults);
  return faults;
}

/** A member that JSON would have; none is inherited. */
function own(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
