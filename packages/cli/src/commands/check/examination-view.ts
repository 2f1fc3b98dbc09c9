import { escapeControls } from "@parlance/mcp/jsonrpc";
import { type CheckReport, levelOf, sentenceOf, specOf, type Verdict, wording } from "@parlance/wire";
import { cut, cutMiddle, left, wrapWords } from "../../shared/output/columns.js";
import { wordsOf } from "../../shared/output/conversation-rows.js";
import { count } from "../../shared/output/quantities.js";
import { reportValue } from "../../shared/output/report.js";
import { expectationLines, explainLines, unansweredLines } from "../../shared/output/report-text.js";
import { type Look, pieceLines } from "../../shared/output/rows.js";
import { signs } from "../../shared/output/style.js";
import { pendingValue } from "../../shared/recordings/recorded-json.js";
import { spanText } from "../explain/explanation.js";
import { type Examination, type ProbeResult, probes, type RevisionResult } from "./examination/examine.js";
import type { Probe, ProbeOutcome } from "./examination/probe.js";
import { argumentsProbe, noReadOnlyTool, readOnlyProbe } from "./examination/probes/features.js";

const idWidth = 6;
/** The lines of an entry begin after its mark and its id. */
const indent = " ".repeat(idWidth + 4);

/** Options of `examinationLines`. */
interface Shown {
  /** Whether to show passed probes, too. */
  readonly all: boolean;
  readonly isInterrupted: boolean;
  /** Whether the frames were written to a file, so that their numbers lead to them. */
  readonly isRecorded: boolean;
  /** Features of tool definitions that model providers refuse. */
  readonly refused: readonly Verdict[];
}

/** The result of an examination as text: each revision, then the failed probes, or all probes. */
export function examinationLines(
  { revisions, verdicts, failures, waiting, conversation }: Examination,
  report: CheckReport,
  look: Look,
  { all, isInterrupted, isRecorded, refused }: Shown,
): readonly string[] {
  const { crashes, expectations, failOn, pending } = report;
  const spoken = revisions.filter(({ notSpoken }) => notSpoken === undefined);
  const lines = revisions.flatMap((result) => {
    if (result.notSpoken === undefined) return spokenLines(result, look);
    const alike = revisions.filter((each) => each.notSpoken === result.notSpoken);
    return alike[0] === result
      ? notSpokenLines(result, spanText(alike.map(({ revision }) => revision.version)), look)
      : [];
  });
  const findings = findingsOf(revisions, all);
  const broken = failures.filter(({ level }) => level === "must").length;
  const recommended = failures.filter(({ level }) => level === "should").length;
  const notes = failures.length - broken - recommended;
  const ofMessages = new Set(verdicts);
  const bad = report.verdicts.filter(
    (each) => (isViolation(each) || failOn.includes(each.verdict.level)) && ofMessages.has(each.verdict),
  );
  const failed = new Set([
    ...failures.filter(({ level }) => level !== "may").map(({ rule }) => rule.id),
    ...bad.filter(isViolation).map(({ verdict }) => verdict.rule.id),
  ]);
  // Each probe knows whether a response is due; they count if the user says so.
  const isPendingBad = failOn.includes("pending");
  const unanswered = isPendingBad ? pending.filter((each) => each.pending.state === "unanswered").length : 0;
  const unmet = expectations.filter(({ holds }) => !holds).length;
  const isIncomplete = isInterrupted || spoken.length === 0;
  const passed = isIncomplete ? look.style.yellow("!") : look.style.green("✔");
  const mark = report.passed && broken + bad.length + crashes.length === 0 ? passed : look.style.red("✖");
  const parts = [
    count(spoken.length, "revision"),
    count(
      revisions.reduce((sum, { results }) => sum + results.length, 0),
      "probe",
    ),
    `${broken} failed`,
    ...(recommended === 0 ? [] : [`${recommended} against a recommendation`]),
    ...(notes === 0 ? [] : [count(notes, "note")]),
    `${count(bad.filter(isViolation).length, "violation")} in its messages`,
    ...(bad.every(isViolation)
      ? []
      : [`${count(bad.filter((each) => !isViolation(each)).length, "note")} in its messages`]),
    ...(crashes.length === 0 ? [] : [count(crashes.length, "crash", "crashes")]),
    ...(unmet === 0 ? [] : [`${count(unmet, "expectation")} not met`]),
    ...(unanswered === 0 ? [] : [`${count(unanswered, "request")} unanswered`]),
  ];
  const ofProbes = findings.flatMap((finding) =>
    findingLines(finding, { namesVersions: revisions.length > 1, isRecorded }, look),
  );
  const isCaused = causes.some((id) => failed.has(id));
  const explained = [...new Set([...causes.filter((id) => failed.has(id)), ...failed])];
  const ofMessagesLines = violationLines(bad, isRecorded, look);
  return [
    ...lines,
    ...(isCaused ? [...ofMessagesLines, ...ofProbes] : [...ofProbes, ...ofMessagesLines]),
    ...crashLines(crashes, conversation, isRecorded, look),
    ...portabilityLines(refused, isRecorded, look),
    ...waitingLines(waiting, look),
    ...(unanswered === 0 ? [] : unansweredLines(report, look)),
    ...expectationLines(report, look.style),
    "",
    ...pieceLines(
      mark,
      parts.map((text) => ({ text })),
      look,
    ),
    ...explainLines([...(explained.length > 0 ? explained : new Set(failures.map(({ rule }) => rule.id)))], look),
    ...(!isRecorded && failures.length + bad.length + crashes.length + refused.length > 0
      ? [look.style.dim("  --record <file> keeps the conversation that shows it")]
      : []),
    ...(revisions.some(({ isLost }) => isLost) ? [look.style.dim("  start the server again to examine the rest")] : []),
    ...(ranNoTool(spoken) ? wrapWords(noToolRan, look.width - 2).map((line) => look.style.dim(`  ${line}`)) : []),
  ];
}

function isViolation({ verdict }: CheckReport["verdicts"][number]): boolean {
  return verdict.level === "must";
}

/** The rules that come first: a server that takes a chunk for a message, or mixes up ids, fails in many other ways. */
const causes: readonly string[] = ["R-15", "R-5"];

const noToolRan =
  "no tool ran: check runs only tools that are marked read-only and need no arguments, and calls others without their arguments to see that this is refused; --call 'tool name=text' has it call a tool, with arguments";

/** Whether a server with tools has none, in any revision, that may be run without asking anybody, nor has run one all the same. */
function ranNoTool(revisions: readonly RevisionResult[]): boolean {
  const findingsOfProbe = (wanted: Probe): readonly ProbeOutcome[] =>
    revisions.flatMap(({ results }) => results.flatMap(({ probe, finding }) => (probe === wanted ? [finding] : [])));
  const findings = findingsOfProbe(readOnlyProbe);
  const isChecked = findingsOfProbe(argumentsProbe).every(({ is }) => is !== "failed");
  return isChecked && findings.includes(noReadOnlyTool) && findings.every(({ is }) => is === "skipped");
}

/** One entry per rule, causes first: a server that breaks a rule often does so in every message. */
function violationLines(bad: CheckReport["verdicts"], isRecorded: boolean, look: Look): readonly string[] {
  const { style, width } = look;
  const ids = new Set([...causes, ...bad.map(({ verdict }) => verdict.rule.id)]);
  return [...ids].flatMap((id) => {
    const [first, ...others] = bad.filter(({ verdict }) => verdict.rule.id === id);
    if (first === undefined) return [];
    const { verdict, about } = first;
    const { rule, n, pointer, spec } = verdict;
    const place = [about, pointer].filter((word) => word !== undefined && word !== "").join(", ");
    const says = `${place === "" ? "" : `${escapeControls(place)}: `}${wording.messageWithoutPlace(verdict)}`;
    return [
      ...entryLines(rule.demands, width, `  ${style.red(signs[verdict.level])} ${left(rule.id, idWidth)}`),
      ...entryLines(says, width),
      ...(others.length === 0 ? [] : entryLines(othersText(first, others), width)),
      ...quotedLines(verdict, look),
      style.dim(`${indent}${isRecorded ? `frame ${n}  ` : ""}${spec}`),
    ];
  });
}

/** The maximum number of other messages that an entry names. */
const mostNamed = 3;

/** `5 more like it, also in tools/call add, tools/call sub`. */
function othersText({ about }: CheckReport["verdicts"][number], others: CheckReport["verdicts"]): string {
  const named = [...new Set(others.flatMap((each) => each.about ?? []))].filter((name) => name !== about);
  const where = [...named.slice(0, mostNamed).map(escapeControls), ...(named.length > mostNamed ? ["…"] : [])];
  return `${others.length} more like it${where.length === 0 ? "" : `, also in ${where.join(", ")}`}`;
}

/** The findings by model provider, each with its place and the provider's documentation. */
function portabilityLines(refused: readonly Verdict[], isRecorded: boolean, { style, width }: Look): readonly string[] {
  return refused.flatMap(({ rule, says, n, pointer = "", spec }) => [
    ...entryLines(says, width, `  ${style.dim(signs.may)} ${left(rule.id, idWidth)}`),
    style.dim(`${indent}${isRecorded ? `frame ${n} ` : ""}at ${pointer}  ${spec}`),
  ]);
}

/** A text of an entry, wrapped. @param start the columns before its first line, in place of white space */
function entryLines(text: string, width: number, start = indent): readonly string[] {
  return wrapWords(text, width - indent.length).map((line, index) => (index === 0 ? start : indent) + line);
}

/** One entry per kind of crash, with what the server wrote to stderr before the first of its kind. */
function crashLines(
  crashes: CheckReport["crashes"],
  conversation: Examination["conversation"],
  isRecorded: boolean,
  { style, width }: Look,
): readonly string[] {
  /** The crash without its frame: a probe crashes the server in each revision. */
  const kindOf = ({ crash }: CheckReport["crashes"][number]): string =>
    wording.crash(crash).replace(/ \(frame \d+\).*/, "");
  const kinds = crashes.map(kindOf);
  const firsts = crashes.filter((_each, index) => kinds.indexOf(kinds[index] ?? "") === index);
  return firsts.flatMap((each) => {
    const { crash } = each;
    const words = wording.crash(crash);
    const text = isRecorded ? words : words.replace(/ \(frame \d+\)/, "");
    const times = kinds.filter((kind) => kind === kindOf(each)).length;
    const like = times > 1 ? `; ${count(times - 1, "more crash", "more crashes")} like it` : "";
    return [
      ...entryLines(text + like, width, `  ${style.red("✖")} ${left("crash", idWidth)}`),
      ...lastStderrLines(stderrLines(conversation, crash.session)).map((line) =>
        style.dim(indent + cut(line, width - indent.length)),
      ),
    ];
  });
}

/** The lines that the server wrote to stderr in a session. */
export function stderrLines({ rows }: Examination["conversation"], session: string): readonly string[] {
  return rows.flatMap(({ entry }) => (entry.k === "e" && entry.s === session ? wordsOf(entry).split("\n") : []));
}

/** The most lines of stderr that are shown. */
const mostStderrLines = 12;

/** The last lines of stderr with a heading, without empty ones; none without a line. */
export function lastStderrLines(lines: readonly string[]): readonly string[] {
  const last = lines.filter((line) => line.trim() !== "").slice(-mostStderrLines);
  return last.length === 0 ? [] : ["its last lines on stderr:", ...last];
}

function waitingLines(waiting: Examination["waiting"], { style, width }: Look): readonly string[] {
  if (waiting.length === 0) return [];
  const lines = waiting.map((each) => `  ${cutMiddle(wording.pending(each), width - 2)}`);
  return [style.yellow("Waiting for an answer"), ...lines];
}

/** The lines of revisions that are not spoken for one reason. @param versions which they are, in words */
function notSpokenLines(
  { notSpoken, isLost, isUnauthorized }: RevisionResult,
  versions: string,
  { style, width }: Look,
): readonly string[] {
  const why = `${isLost || isUnauthorized ? "not examined" : "not spoken"}: ${notSpoken}`;
  const start = `${versions}  `;
  return wrapWords(why, width - start.length).map((line, index) =>
    style.dim((index === 0 ? start : " ".repeat(start.length)) + line),
  );
}

function spokenLines({ revision, results }: RevisionResult, { style }: Look): readonly string[] {
  const passed = results.filter(({ finding }) => finding.is === "passed").length;
  const skipped = results.filter(({ finding }) => finding.is === "skipped").length;
  const words = [
    `${passed} of ${results.length - skipped} passed`,
    ...(skipped === 0 ? [] : [`${skipped} not applicable`]),
  ];
  return [`${style.bold(revision.version)}  ${words.join(", ")}`];
}

/** The finding of a probe, in one or several revisions. */
interface SharedFinding {
  readonly versions: readonly string[];
  /** The results, one for each version. */
  readonly results: readonly [ProbeResult, ...ProbeResult[]];
}

/** The findings in the order of the probes. Revisions in which a probe found the same, at the same level, share one. */
function findingsOf(revisions: readonly RevisionResult[], all: boolean): readonly SharedFinding[] {
  const shared = new Map<string, SharedFinding>();
  for (const { revision, results } of revisions) {
    for (const result of results) {
      const { probe, finding, verdict } = result;
      if (!all && finding.is !== "failed") continue;
      const key = JSON.stringify([probe.id, finding, verdict?.level]);
      const { versions = [], results: others } = shared.get(key) ?? {};
      shared.set(key, {
        versions: [...versions, revision.version],
        results: others === undefined ? [result] : [...others, result],
      });
    }
  }
  const order = probes.map(({ id }) => id);
  const place = ({ results: [{ probe }] }: SharedFinding): number =>
    order.includes(probe.id) ? order.indexOf(probe.id) : order.length;
  return [...shared.values()].toSorted((a, b) => place(a) - place(b));
}

function findingLines(
  { versions, results }: SharedFinding,
  { namesVersions, isRecorded }: { readonly namesVersions: boolean; readonly isRecorded: boolean },
  look: Look,
): readonly string[] {
  const { style, width } = look;
  const [{ probe, finding, verdict }] = results;
  const [mark, paint] =
    verdict !== undefined
      ? ([signs[verdict.level], verdict.level === "must" ? style.red : style.yellow] as const)
      : finding.is === "passed"
        ? (["✔", style.green] as const)
        : (["·", style.dim] as const);
  const head = entryLines(probe.demands, width, `  ${paint(mark)} ${left(probe.id, idWidth)}`);
  const where = namesVersions ? [style.dim(`${indent}in ${spanText(versions)}`)] : [];
  if (finding.is === "skipped")
    return [...head, ...where, style.dim(`${indent}${cut(finding.why, width - indent.length)}`)];
  if (verdict === undefined) return [...head, ...where];
  const frames = results.map(({ frames: [first, last] }) => (first < last ? `${first}–${last}` : `${first}`));
  const isOne = results.length === 1 && results[0].frames[0] === results[0].frames[1];
  return [
    ...head,
    ...where,
    ...entryLines(verdict.says, width),
    ...quotedLines(verdict, look),
    style.dim(`${indent}${isRecorded ? `${isOne ? "frame" : "frames"} ${frames.join(", ")}  ` : ""}${verdict.spec}`),
  ];
}

/** The broken sentence, never cut, because readers compare it with the specification. */
function quotedLines(quoted: Parameters<typeof wording.requirement>[0], { style, width }: Look): readonly string[] {
  return entryLines(wording.requirement(quoted), width).map(style.dim);
}

/** The result of an examination as JSON. */
export function examinationValue({ revisions, waiting }: Examination, report: CheckReport): object {
  return {
    ...reportValue(report),
    ...(waiting.length > 0 && { waiting: waiting.map(pendingValue) }),
    revisions: revisions.map(({ revision, notSpoken, isLost, isUnauthorized, results }) => ({
      version: revision.version,
      spoken: notSpoken === undefined,
      ...(notSpoken !== undefined && { why: notSpoken }),
      ...((isLost || isUnauthorized) && { examined: false }),
      probes: results.map(({ probe, finding, frames }) => ({
        id: probe.id,
        level: levelOf(probe, revision),
        demands: probe.demands,
        sentence: sentenceOf(probe, revision),
        doubt: probe.doubt,
        spec: specOf(probe, revision),
        ...finding,
        frames,
      })),
    })),
  };
}
