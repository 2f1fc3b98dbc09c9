import { once } from "node:events";
import { connect } from "node:net";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { revisionOf } from "@parlance/mcp/protocol";
import { type CheckReport, type Expectation, reportOf } from "@parlance/wire";
import { stillStarting } from "../../shared/client/converse.js";
import { hasAuthorization, signInRemedy } from "../../shared/client/sign-in.js";
import type { WantedCall } from "../../shared/client/tool-arguments.js";
import { keyRemedy, missingVariableRemedy, remedyForWords } from "../../shared/client/url-failure.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure, lineFeedRemedy, unreachableFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { printReport, type ReportFormat } from "../../shared/output/report.js";
import { newHeader, recordingText, writeNewFile } from "../../shared/recordings/recording-text.js";
import { routeTo } from "../../shared/target/route.js";
import type { Target } from "../../shared/target/target.js";
import { spanText } from "../explain/explanation.js";
import { type Examination, examine } from "./examination/examine.js";
import { isSilence } from "./examination/probe.js";
import { examinationLines, examinationValue, lastStderrLines, stderrLines } from "./examination-view.js";

/** The options of `parlance check` for a server. */
export interface CheckTargetOptions {
  readonly timeout: number;
  /** Default: every revision. */
  readonly revision?: readonly string[];
  /** The calls of tools to make. */
  readonly calls: readonly WantedCall[];
  /** Whether to show passed probes, too. */
  readonly all?: true;
  /** Whether to report features of tool definitions that model providers refuse. */
  readonly portability?: true;
  readonly record?: string;
  readonly format: ReportFormat;
  readonly failOn: CheckReport["failOn"];
  /** The ids of rules and probes that are left out. */
  readonly except: ReadonlySet<string>;
  readonly expectations: readonly Expectation[];
  /** The name of the variable with a token for another server. */
  readonly foreignTokenEnv?: string;
  /** The name of the variable with a token of another user. */
  readonly otherTokenEnv?: string;
}

/** Examines a server and prints the result. Resolves to an exit code. @throws Failure if no conversation could be opened */
export async function checkTarget(
  target: Target,
  options: CheckTargetOptions,
  { out, err, interrupt }: Invocation,
): Promise<number> {
  const { timeout, revision: wanted, record, format, failOn, except, expectations } = options;
  const examination = await examine(await routeTo(target), {
    ...(wanted !== undefined && { revisions: wanted.flatMap((version) => revisionOf(version) ?? []) }),
    timeout,
    signal: interrupt.stop,
    except,
    calls: options.calls,
    refused: { foreign: options.foreignTokenEnv, otherUser: options.otherTokenEnv },
    onProgress: (words) => err.status(words),
    onSlowStart: (milliseconds) => err.print(err.style.dim(stillStarting(milliseconds))),
    header: newHeader(target),
  });
  err.status("");
  const { conversation, entries, verdicts, failures } = examination;
  if (record !== undefined) await writeNewFile(record, recordingText(entries));
  if (interrupt.stop.aborted) err.print(err.style.yellow("! interrupted: this is what was found so far"));
  else {
    await requireSpoken(examination, target);
    const given = { "XA-7": options.foreignTokenEnv, "XA-10": options.otherTokenEnv };
    err.print(...unusedTokenLines(given, examination).map(err.style.yellow));
  }
  const source = record ?? target.title;
  const refused = options.portability === true ? conversation.portability() : [];
  const report = reportOf({
    source,
    conversation,
    verdicts: [...failures, ...verdicts, ...refused].filter(({ rule }) => !except.has(rule.id)),
    expectations,
    failOn,
  });
  const shown = {
    all: options.all === true,
    isInterrupted: interrupt.stop.aborted,
    isRecorded: record !== undefined,
    refused,
  };
  if (format === "text") out.print(...examinationLines(examination, report, out, shown));
  else if (format === "json") out.print(jsonLine(examinationValue(examination, report)));
  else printReport(format, { report, uri: encodeURI(source), out });
  if (interrupt.stop.aborted) return interrupt.exitCode;
  if (!isUnauthorized(examination)) return exitCodeOf(report);
  throw unauthorized(target, examination, report.passed ? exitCodes.unreachable : exitCodeOf(report));
}

/** Whether the server refused every conversation without a token, so that only its authorization was examined. */
function isUnauthorized({ revisions }: Pick<Examination, "revisions">): boolean {
  return !revisions.some(isSpoken) && revisions.some((revision) => revision.isUnauthorized);
}

function isSpoken({ notSpoken }: Examination["revisions"][number]): boolean {
  return notSpoken === undefined;
}

function unauthorized(target: Target, { revisions }: Examination, exitCode: number): Failure {
  const hasToken = target.kind === "url" && hasAuthorization(target.headers);
  const why = hasToken ? "refuses the token" : "requires a token";
  const results = revisions.flatMap((revision) => revision.results);
  const isOauth = results.some(({ probe, finding }) => probe.id === metadataProbe && finding.is !== "skipped");
  return new Failure(
    `${target.title} ${why}: ${results.length > 0 ? "only its authorization" : "nothing"} was examined`,
    {
      exitCode,
      remedy: hasToken
        ? "parlance doctor compares the token with what the server expects"
        : isOauth
          ? signInRemedy(target.title)
          : keyRemedy,
    },
  );
}

/** The options whose token no probe has used, with the reason. @param given the tokens, by the probe that uses each */
function unusedTokenLines(
  given: Readonly<Record<keyof typeof tokenOptions, string | undefined>>,
  { revisions }: Pick<Examination, "revisions">,
): readonly string[] {
  const results = revisions.flatMap((revision) => revision.results);
  return (["XA-7", "XA-10"] as const).flatMap((id) => {
    const findings = results.flatMap(({ probe, finding }) => (probe.id === id ? [finding] : []));
    const reasons = findings.flatMap((finding) => (finding.is === "skipped" ? [finding.why] : []));
    if (given[id] === undefined || reasons.length < findings.length) return [];
    const why = reasons[0] ?? "no revision that was examined has sessions, and access tokens";
    return [`! ${tokenOptions[id]} is not used: ${why}`];
  });
}

/** The option with the token of a probe. */
const tokenOptions = { "XA-7": "--foreign-token-env", "XA-10": "--other-token-env" } as const;

/** Judges the metadata of the server; skipped where there is none. */
const metadataProbe = "XA-3";

/** Throws if no revision could be negotiated: such a server has not broken a rule. @throws Failure */
async function requireSpoken({ revisions, conversation }: Examination, target: Target): Promise<void> {
  const { title } = target;
  if (revisions.length === 0 || isUnauthorized({ revisions }) || revisions.some(isSpoken)) return;
  const [first] = revisions;
  const lost = conversation.rows.find(({ entry }) => entry.k === "h" && entry.ph === "abort")?.entry;
  const isReached = conversation.rows.some(({ entry }) => entry.k === "h" && entry.ph === "res");
  if (lost?.k === "h" && lost.why !== undefined && !isReached && target.kind === "url")
    throw unreachable(title, escapeControls(await reasonOf(target.url, lost.why)));
  const isSilent = revisions.every(({ notSpoken }) => isSilence(notSpoken));
  const isUnfinished = revisions.some(({ notSpoken }) => notSpoken?.endsWith("an answer without a line feed"));
  const said = conversation.rows.some(({ from, kind }) => from === "server" && kind !== "life");
  const [start] = conversation.rows.flatMap(({ entry }) => (entry.k === "e" ? [entry.s] : []));
  const stderr = start === undefined ? [] : stderrLines(conversation, start); // It was started again for each revision.
  throw new Failure(`${title} speaks none of the revisions: ${first?.notSpoken}`, {
    exitCode: isSilent && said ? exitCodes.timeout : exitCodes.unreachable,
    seen: [...reasonLines(revisions), ...lastStderrLines(stderr)],
    remedy: missingVariableRemedy(stderr) ?? (isUnfinished ? lineFeedRemedy : remedyFor(first?.notSpoken)),
  });
}

/** The remedy for a revision that is not spoken. */
function remedyFor(notSpoken = ""): string {
  const [, spoken] = /^it settles on "([\d-]+)"$/.exec(notSpoken) ?? [];
  return spoken === undefined ? "parlance doctor finds out why" : `--revision ${spoken} examines what it speaks`;
}

/** Each reason once, with its revisions; none if all revisions share the one of the headline. */
function reasonLines(revisions: Examination["revisions"]): readonly string[] {
  const reasons = [...new Set(revisions.map(({ notSpoken }) => notSpoken))];
  if (reasons.length < 2) return [];
  const versionsOf = (why: string | undefined): readonly string[] =>
    revisions.filter(({ notSpoken }) => notSpoken === why).map(({ revision }) => revision.version);
  return reasons.map((why) => `${spanText(versionsOf(why))}: ${why}`);
}

/** Why a server cannot be reached. It opens a connection, because `fetch` blocks some ports without a connection. */
async function reasonOf({ hostname, port }: URL, why: string): Promise<string> {
  if (why !== "bad port") return why;
  const socket = connect(Number(port), hostname.replaceAll(/[[\]]/g, ""));
  try {
    await once(socket, "connect");
    return why;
  } catch (error) {
    return error instanceof Error ? error.message : why;
  } finally {
    socket.destroy();
  }
}

function unreachable(title: string, why: string): Failure {
  const remedy = remedyForWords(why) ?? "parlance doctor finds out why";
  return unreachableFailure(`${title} cannot be reached: ${why}`, remedy);
}

/** The exit code of a report. Damage comes first, because unreadable entries may hide other faults. */
export function exitCodeOf({ passed, failedFor }: CheckReport): number {
  if (passed) return exitCodes.clean;
  return failedFor.includes("damage") ? exitCodes.damaged : exitCodes.violations;
}
