import { keyOf } from "./requirements.js";
import { reasonOf } from "./verdict.js";

/** @import { Baseline, Outcome, Verdict } from "./verdict.js" */

/**
 * The outcome of a run, in lines for people.
 *
 * @param {readonly Outcome[]} outcomes
 * @param {Baseline} baseline
 * @param {Verdict} verdict
 */
export function report(outcomes, baseline, verdict) {
  const required = outcomes.filter(({ scenario }) => scenario.unscored === undefined);
  const sets = [...new Set(required.map(({ scenario: { revision, role } }) => `${revision} ${role}`))];
  return [
    "Required",
    ...sets.map((set) => `  ${set}  ${tally(outcomes, set)}`),
    "Not scored",
    ...outcomes.filter(({ scenario }) => scenario.unscored !== undefined).map((outcome) => unscored(outcome, baseline)),
    ...outcomes.flatMap(({ scenario, passed, warnings }) =>
      passed ? warnings.map((each) => `Warning: ${keyOf(scenario)}: ${each}`) : [],
    ),
    ...verdict.unexpected.flatMap(({ scenario, faults, warnings }) => [
      `Failed: ${keyOf(scenario)}`,
      ...[...faults, ...warnings].map((fault) => `  ${fault}`),
    ]),
    ...verdict.healed.map((key) => `Passes, so remove it from baseline.json: ${key}`),
    ...verdict.unknown.map((key) => `Is in no set, so remove it from baseline.json: ${key}`),
  ];
}

/**
 * @param {readonly Outcome[]} outcomes
 * @param {string} set
 */
function tally(outcomes, set) {
  const required = outcomes.filter(
    ({ scenario }) => scenario.unscored === undefined && keyOf(scenario).startsWith(`${set} `),
  );
  return `${required.filter(({ passed }) => passed).length} of ${required.length} passed`;
}

/**
 * @param {Outcome} outcome
 * @param {Baseline} baseline
 */
function unscored({ scenario, passed }, baseline) {
  const waitsFor = reasonOf(baseline, scenario);
  const result = passed ? "passed" : waitsFor === undefined ? "failed" : `failed as expected: ${waitsFor}`;
  return `  ${keyOf(scenario)} (${scenario.unscored})  ${result}`;
}
