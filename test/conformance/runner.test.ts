import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { report } from "../../conformance/runner/report.js";
import { keyOf, parseRequirements } from "../../conformance/runner/requirements.js";
import { judge } from "../../conformance/runner/verdict.js";

const listed = `Required for 2026-07-28 (3 scenarios, frozen; run at the 2026-07-28 wire):

Server scenarios (test against a server):
  - tools-list
  - caching

Client scenarios (test against a client):
  - auth/metadata-default

Run and reported, but never scored:
  extension (2):
    - auth/dpop [client]
    - tasks-lifecycle [server]
  pending (1):
    - json-schema-2020-12 [server]
`;
const scenarios = parseRequirements("2026-07-28", listed);
const outcomes = (failed: readonly string[]) =>
  scenarios.map((scenario) => {
    const passed = !failed.includes(scenario.name);
    return { scenario, passed, faults: passed ? [] : ["because"], warnings: [] };
  });
const verdictOf = (failed: readonly string[], baseline: Readonly<Record<string, readonly string[]>>) =>
  judge(outcomes(failed), baseline, scenarios);
const held = { unexpected: [], healed: [], unknown: [] };

describe("the runner of the conformance suite", () => {
  test("reads who is looked at, and why a scenario is not scored", () => {
    expect(scenarios).toEqual([
      { revision: "2026-07-28", role: "server", name: "tools-list" },
      { revision: "2026-07-28", role: "server", name: "caching" },
      { revision: "2026-07-28", role: "client", name: "auth/metadata-default" },
      { revision: "2026-07-28", role: "client", name: "auth/dpop", unscored: "extension" },
      { revision: "2026-07-28", role: "server", name: "tasks-lifecycle", unscored: "extension" },
      { revision: "2026-07-28", role: "server", name: "json-schema-2020-12", unscored: "pending" },
    ]);
  });

  test.each(["", "No requirement set for 2026-07-28.", listed.replace("Client scenarios", "Scenarios of clients")])(
    "does not take for a set what names no scenario of a role: %j",
    (text) => {
      expect(() => parseRequirements("2026-07-28", text)).toThrow("no required scenario");
    },
  );

  test("holds if what fails is what the baseline has", () => {
    expect(verdictOf([], {})).toEqual(held);
    expect(verdictOf(["auth/dpop"], { authorization: ["2026-07-28 client auth/dpop"] })).toEqual(held);
  });

  test("does not hold if something else fails, be it scored or not", () => {
    const { unexpected, ...rest } = verdictOf(["caching", "auth/dpop"], {});
    expect(unexpected.map(({ scenario }) => keyOf(scenario))).toEqual([
      "2026-07-28 server caching",
      "2026-07-28 client auth/dpop",
    ]);
    expect(rest).toEqual({ healed: [], unknown: [] });
    expect(verdictOf(["caching"], { other: ["2025-11-25 server caching"] }).unexpected).toHaveLength(1);
  });

  test("does not hold if the baseline has what passes, or what is in no set", () => {
    const baseline = { "not built": ["2026-07-28 server caching", "2026-07-28 server gone"] };
    expect(verdictOf([], baseline)).toEqual({
      unexpected: [],
      healed: ["2026-07-28 server caching"],
      unknown: ["2026-07-28 server gone"],
    });
  });

  test("leaves alone what of the baseline was not run", () => {
    const baseline = { "not built": ["2026-07-28 client auth/dpop"] };
    expect(judge([], baseline, scenarios)).toEqual(held);
  });

  test("counts what is required, and names the rest", () => {
    const baseline = { "not built": ["2026-07-28 client auth/dpop"] };
    const run = outcomes(["caching", "auth/dpop"]);
    expect(report(run, baseline, judge(run, baseline, scenarios))).toEqual([
      "Required",
      "  2026-07-28 server  1 of 2 passed",
      "  2026-07-28 client  1 of 1 passed",
      "Not scored",
      "  2026-07-28 client auth/dpop (extension)  failed as expected: not built",
      "  2026-07-28 server tasks-lifecycle (extension)  passed",
      "  2026-07-28 server json-schema-2020-12 (pending)  passed",
      "Failed: 2026-07-28 server caching",
      "  because",
    ]);
  });

  test("knows of no failure but those of what is not built: authorization of clients, and the tasks extension", () => {
    const file = join(import.meta.dirname, "../../conformance/baseline.json");
    const baseline = JSON.parse(readFileSync(file, "utf8")) as Record<string, string[]>;
    for (const key of Object.values(baseline).flat()) expect(key).toMatch(/^\S+ (client auth\/|server tasks-)/);
  });
});
