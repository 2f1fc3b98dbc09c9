import { keyOf } from "./requirements.js";

/** @import { Scenario } from "./requirements.js" */

/**
 * The outcome of a scenario.
 *
 * @typedef {object} Outcome
 * @property {Scenario} scenario
 * @property {boolean} passed
 * @property {readonly string[]} faults
 * @property {readonly string[]} warnings
 */

/**
 * Scenarios that are known to fail, under what they wait for.
 *
 * @typedef {Readonly<Record<string, readonly string[]>>} Baseline
 */

/**
 * The differences of a run from the baseline, which holds if all of them are empty.
 *
 * @typedef {object} Verdict
 * @property {readonly Outcome[]} unexpected failures that the baseline does not have
 * @property {readonly string[]} healed entries of scenarios that pass
 * @property {readonly string[]} unknown entries of scenarios that no set has
 */

/**
 * @param {readonly Outcome[]} outcomes
 * @param {Baseline} baseline
 * @param {readonly Scenario[]} all those that were not run, too
 * @returns {Verdict}
 */
export function judge(outcomes, baseline, all) {
  const expected = Object.values(baseline).flat();
  const passed = new Set(outcomes.filter((outcome) => outcome.passed).map(({ scenario }) => keyOf(scenario)));
  const keys = new Set(all.map(keyOf));
  return {
    unexpected: outcomes.filter((outcome) => !outcome.passed && !expected.includes(keyOf(outcome.scenario))),
    healed: expected.filter((key) => passed.has(key)),
    unknown: expected.filter((key) => !keys.has(key)),
  };
}

/**
 * The reason for which a scenario is known to fail; undefined if it is not.
 *
 * @param {Baseline} baseline
 * @param {Scenario} scenario
 */
export function reasonOf(baseline, scenario) {
  const key = keyOf(scenario);
  return Object.keys(baseline).find((heading) => baseline[heading]?.includes(key));
}
