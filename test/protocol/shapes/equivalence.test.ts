import { checkShape, revisions } from "@parlance/mcp/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasSchemas } from "../revisions/published.js";
import { fitting, mutate, mutations } from "./generator.js";
import { isObject } from "./mutation.js";
import { type Expectation, expectationOf, partsOf, problemsIn } from "./oracle.js";
import { definitionsOf } from "./schemas.js";
import { specimens, variations } from "./specimens.js";

// Our verdict on a value is that of the published schema. Where it is not meant to be, `corrections.ts` says so.

describe.skipIf(!hasSchemas).each(revisions)("$version, as its published schema has it", (revision) => {
  const { version } = revision;
  const parts = hasSchemas ? partsOf(revision) : [];

  test.each(parts)(
    "$of of $method from the $sender: every member, choice and word, and a mistake at each place",
    (part) => {
      const expectation = expectationOf(version, part);
      const sound = specimens(version, expectation.node);
      expect(sound.flatMap((value) => problemsIn(version, expectation, value))).toEqual([]);
      for (const value of variations(sound)) compare(version, expectation, value, checkShape(revision, part, value));
    },
  );

  test.each(parts)("$of of $method from the $sender: several mistakes", (part) => {
    const expectation = expectationOf(version, part);
    const mistakes = fc.array(mutations(version), { maxLength: 3 });
    fc.assert(
      fc.property(fitting(version, expectation.node), mistakes, (sound, all) => {
        const value = all.reduce(mutate, sound);
        compare(version, expectation, value, checkShape(revision, part, value));
      }),
      { numRuns: 30 },
    );
  });

  const errors = hasSchemas ? errorsOf(version) : [];

  test.runIf(errors.length > 0).each(errors)("the error $code, and a mistake at each place", ({ code, node }) => {
    const expectation = { node, optional: false };
    for (const value of variations(specimens(version, node))) {
      // With another code it is another error.
      if (isObject(value) && value.code !== code) continue;
      compare(version, expectation, value, checkShape(revision, { of: "error" }, value));
    }
  });
});

function compare(version: string, expectation: Expectation, value: unknown, faults: readonly unknown[]): void {
  const problems = problemsIn(version, expectation, value);
  if ((faults.length === 0) !== (problems.length === 0)) expect({ value, faults }).toEqual({ value, faults: problems });
}

/** The errors that a schema describes, each with its code. */
function errorsOf(version: string): readonly { readonly code: unknown; readonly node: Expectation["node"] }[] {
  return Object.values(definitionsOf(version)).flatMap(({ properties: { error: node } = {} }) => {
    const code = node?.allOf?.at(-1)?.properties?.code?.const;
    return node === undefined || code === undefined ? [] : [{ code, node }];
  });
}
