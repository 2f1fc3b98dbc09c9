import { rules } from "../rules/all.js";
import type { CheckReport, Concern } from "./report.js";
import { recordingFindings, wording } from "./report-words.js";

interface TestCase {
  readonly group: "rule" | "recording" | "expect";
  readonly name: string;
  readonly fails: boolean;
  /** The findings, line by line. */
  readonly found: readonly string[];
}

/**
 * A report as JUnit XML, for build servers. Each rule is a test case, and so are: every request answered, no gaps, a readable
 * recording, and each expectation.
 *
 * @example
 * await writeFile("report.xml", junitOf(reportOf({ source: "session.parlance.jsonl", conversation })));
 */
export function junitOf(report: CheckReport): string {
  const cases = [...ruleCases(report), ...recordingCases(report), ...expectationCases(report)];
  const failures = cases.filter(({ fails }) => fails).length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0" skipped="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="parlance" ${counts}>`,
    `  <testsuite name=${attribute(report.source)} ${counts}>`,
    ...cases.flatMap(caseLines),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function ruleCases({ verdicts, source, failOn }: CheckReport): readonly TestCase[] {
  const broken = verdicts.map(({ verdict }) => verdict.rule);
  // The caller may have rules of its own.
  const all = [...new Map([...rules, ...broken].map((rule) => [rule.id, rule])).values()];
  return all.map(({ id, demands }) => {
    const own = verdicts.filter(({ verdict }) => verdict.rule.id === id);
    return {
      group: "rule",
      name: `${id} ${demands}`,
      fails: own.some(({ verdict }) => failOn.includes(verdict.level)),
      found: own.flatMap(({ verdict, about, line }) => [
        `${placeOf(source, line)} ${wording.place(verdict, about)}: ${verdict.says}`,
        `  ${wording.requirement(verdict)}`,
        `  ${verdict.spec}`,
      ]),
    };
  });
}

/** The tests of the recording, by the concern that their findings are of. */
const recordingTests: readonly (readonly [concern: Concern, name: string])[] = [
  ["pending", "every request has an answer"],
  ["crash", "the server does not crash"],
  ["empty", "something was recorded"],
  ["gap", "the recorder has written everything"],
  ["damage", "the recording can be read"],
];

function recordingCases(report: CheckReport): readonly TestCase[] {
  const { source, failedFor } = report;
  const findings = recordingFindings(report);
  return recordingTests.map(([concern, name]) => {
    const own = findings.filter((finding) => finding.concern === concern);
    const found = own.map(({ text, line }) => (concern === "empty" ? text : `${placeOf(source, line)} ${text}`));
    return { group: "recording", name, fails: failedFor.includes(concern), found };
  });
}

function expectationCases({ expectations }: CheckReport): readonly TestCase[] {
  return expectations.map((result) => ({
    group: "expect",
    name: result.expectation.text,
    fails: !result.holds,
    found: [wording.expectation(result)],
  }));
}

function placeOf(source: string, line: number | undefined): string {
  return line === undefined ? source : `${source}:${line}`;
}

function caseLines({ group, name, fails, found }: TestCase): readonly string[] {
  const open = `    <testcase classname="parlance.${group}" name=${attribute(name)}`;
  if (found.length === 0) return [`${open}/>`];
  const text = escapeXml(found.join("\n"));
  const said = fails
    ? `<failure message=${attribute(found[0] ?? "")}>${text}</failure>`
    : `<system-out>${text}</system-out>`;
  return [`${open}>`, `      ${said}`, "    </testcase>"];
}

function attribute(text: string): string {
  return `"${escapeXml(text.replace(/\s/g, " "))}"`;
}

const named: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** XML 1.0 has no way to write most control characters, lone surrogates and two others: they become U+FFFD. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"]/g, (character) => named[character] ?? character);
}
