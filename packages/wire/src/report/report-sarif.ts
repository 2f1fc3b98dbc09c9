import type { Verdict } from "../rules/rule.js";
import type { CheckReport, Concern } from "./report.js";
import { recordingFindings, wording } from "./report-words.js";

/** A log of SARIF 2.1.0, which code hosts and editors read; findings are placed at lines of the recording. */
export interface SarifLog {
  /** The address of the schema of SARIF. */
  readonly $schema: string;
  readonly version: "2.1.0";
  /** One run, with its rules and results. */
  readonly runs: readonly object[];
}

/** The tool that made the report. */
export interface SarifTool {
  /** The name of the tool. */
  readonly name: string;
  /** The version of the tool. */
  readonly version: string;
}

/** A rule as SARIF writes it. */
interface SarifRule {
  readonly id: string;
  readonly shortDescription: { readonly text: string };
  /** The sentence that demands it. */
  readonly fullDescription?: { readonly text: string };
  readonly helpUri?: string;
}

interface SarifResult {
  readonly rule: SarifRule;
  readonly level: "error" | "warning" | "note";
  readonly text: string;
  readonly line?: number | undefined;
  readonly pointer?: string | undefined;
  readonly properties?: object;
}

const ownRules = {
  pending: { id: "pending", shortDescription: { text: "A request has an answer" } },
  crash: { id: "crash", shortDescription: { text: "A server does not crash" } },
  empty: { id: "empty", shortDescription: { text: "Something was recorded" } },
  gap: { id: "gap", shortDescription: { text: "The recorder has written everything" } },
  damage: { id: "damage", shortDescription: { text: "The recording can be read" } },
  expect: { id: "expect", shortDescription: { text: "What was expected of the recording holds" } },
} as const satisfies Readonly<Record<string, SarifRule>>;

/**
 * A report as SARIF.
 *
 * @example
 * const log = sarifOf(report, { uri: "session.parlance.jsonl", tool: { name: "check", version: "1.0.0" } });
 */
export function sarifOf(
  report: CheckReport,
  {
    uri,
    tool,
  }: {
    /** The address of the recording, relative to where the log is read. */
    readonly uri: string;
    /** The tool that made the report. */
    readonly tool: SarifTool;
  },
): SarifLog {
  const results = resultsOf(report);
  const rules = [...new Map(results.map(({ rule }) => [rule.id, rule])).values()];
  const driver = { ...tool, rules };
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver },
        invocations: [{ executionSuccessful: report.damages.length === 0 }],
        artifacts: [{ location: { uri } }],
        results: results.map((result) => resultValue(result, rules, uri)),
      },
    ],
  };
}

function resultsOf(report: CheckReport): readonly SarifResult[] {
  const { verdicts, expectations, failOn } = report;
  const level = (concern: Concern): SarifResult["level"] =>
    failOn.includes(concern) ? "error" : concern === "must" || concern === "should" ? "warning" : "note";
  return [
    ...verdicts.map(({ verdict, about, line }): SarifResult => {
      const { level: demanded, says, pointer, n, party, range, header, version, sentence, spec } = verdict;
      const text = `${says} (${wording.place(verdict, about)})`;
      const properties = { frame: n, party, bytes: range, header, version, level: demanded, sentence, spec };
      return { rule: protocolRule(verdict), level: level(demanded), text, line, pointer, properties };
    }),
    ...recordingFindings(report).map(
      ({ concern, mayFail = true, text, line }): SarifResult => ({
        rule: ownRules[concern],
        level: mayFail ? level(concern) : "note",
        text,
        line,
      }),
    ),
    ...expectations
      .filter(({ holds }) => !holds)
      .map((result): SarifResult => {
        const text = `${result.expectation.text}: ${wording.expectation(result)}`;
        return { rule: ownRules.expect, level: "error", text };
      }),
  ];
}

function protocolRule({ rule: { id, demands }, sentence, spec: helpUri }: Verdict): SarifRule {
  const quoted = sentence === undefined ? {} : { fullDescription: { text: sentence } };
  return { id, shortDescription: { text: demands }, ...quoted, helpUri };
}

function resultValue(result: SarifResult, rules: readonly SarifRule[], uri: string): object {
  const { rule, level, text, line, pointer = "", properties } = result;
  const region = line === undefined ? {} : { region: { startLine: line } };
  const inside = pointer === "" ? {} : { logicalLocations: [{ fullyQualifiedName: pointer, kind: "member" }] };
  return {
    ruleId: rule.id,
    ruleIndex: rules.findIndex(({ id }) => id === rule.id),
    level,
    message: { text },
    locations: [{ physicalLocation: { artifactLocation: { uri, index: 0 }, ...region }, ...inside }],
    ...(properties === undefined ? {} : { properties }),
  };
}
