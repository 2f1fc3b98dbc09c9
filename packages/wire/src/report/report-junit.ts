import { rules } from "../rules/all.js";
import type { CheckReport, Concern } from "./report.js";
import { wording } from "./report-words.js";

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

function recordingCases({
  pending,
  crashes,
  tally,
  gaps,
  damages,
  source,
  failOn,
  failedFor,
}: CheckReport): readonly TestCase[] {
  const test = (concern: Concern, name: string, found: readonly string[]): TestCase => {
    return { group: "recording", name, fails: found.length > 0 && failOn.includes(concern), found };
  };
  return [
    {
      group: "recording",
      name: "every request has an answer",
      fails: failedFor.includes("pending"),
      found: pending.map((each) => `${placeOf(source, each.line)} ${wording.pending(each.pending)}`),
    },
    test(
      "crash",
      "the server does not crash",
      crashes.map(({ crash, line }) => `${placeOf(source, line)} ${wording.crash(crash)}`),
    ),
    test("empty", "something was recorded", tally.frames > 0 ? [] : [wording.empty]),
    test(
      "gap",
      "the recorder has written everything",
      gaps.map(({ gap, line }) => `${placeOf(source, line)} ${wording.gap(gap)}`),
    ),
    test(
      "damage",
      "the recording can be read",
      damages.map((damage) => `${placeOf(source, damage.line)} ${wording.damage(damage)}`),
    ),
  ];
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
