import { existsSync } from "node:fs";
import {
  type CheckReport,
  concerns,
  defaultConcerns,
  type Entry,
  type Expectation,
  Redaction,
  reportOf,
  rules,
} from "@parlance/wire";
import { type Command, InvalidArgumentError, Option } from "commander";
import { withKeptToken } from "../../shared/client/sign-in.js";
import { parseCall } from "../../shared/client/tool-arguments.js";
import { usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import {
  addConversationOptions,
  type ConversationFlags,
  chooseTarget,
  collect,
  parseRevisions,
  secretIn,
} from "../../shared/options.js";
import { printReport, reportFormats } from "../../shared/output/report.js";
import { readExpectation } from "../../shared/recordings/filter-option.js";
import { findRecording, isRecordingName, recordingHelp } from "../../shared/recordings/find-recording.js";
import { loadRecording } from "../../shared/recordings/load-recording.js";
import { isRecording, sourceOf, uriOf } from "../../shared/recordings/read-recording.js";
import { namesConfigured, targetHelp } from "../../shared/target/target.js";
import { secretOptions } from "../recordings/redact.js";
import { type CheckTargetOptions, checkTarget, exitCodeOf } from "./check-target.js";
import { probes } from "./examination/examine.js";

interface CheckFlags extends ConversationFlags, Omit<CheckTargetOptions, "calls" | "expectations" | "failOn"> {
  readonly call?: readonly string[];
  readonly failOn?: CheckReport["failOn"];
  readonly allowUnanswered?: true;
  readonly expect: readonly Expectation[];
  readonly json?: true;
}

const checkHelp = `--fail-on takes, separated by commas (default: ${defaultConcerns.join(",")})
  must      something breaks a requirement of the protocol
  should    something does not follow a recommendation
  may       something is worth knowing
  pending   a request has no response, was not cancelled, and was not still
            waiting at the end of an incomplete recording
  crash     the server ended with an error while its client was connected
  empty     no frame was recorded
  gap       the recorder could not write everything
  damage    a line of the recording cannot be read

An <expectation> is count(filter) compared with a number, or min max p50 p95 p99
of the latency of the matching rows: 'count(tool:search)>=1' or
'p95(tool:*)<200ms'.

Exit codes:
  0  nothing of --fail-on was found
  1  the command line is wrong
  2  a finding of --fail-on, or an expectation that does not hold
  3  the server could not be started or reached
  6  the recording is damaged; its readable lines were checked`;

const about = `Check a recording, or a server, against the rules of the protocol, on a terminal
or in CI. A server is examined in each revision that it supports, by
probes from outside. Tools are called only if they are marked read-only or named
by --call, or without their required arguments if they are not marked destructive:
a server that checks arguments refuses that.`;

const examples = `Examples:
  parlance check last
  parlance check -- node server.js
  parlance check --call 'add a:=2 b:=3' -- node server.js
  parlance check https://example.com/mcp --format junit
  parlance check run.parlance.jsonl --fail-on must,pending --expect 'count(tool:search)>=1'
  parlance check run.parlance.jsonl --format sarif > parlance.sarif`;

/** Adds `parlance check`. */
export function registerCheck(program: Command, invocation: Invocation): void {
  const command = program
    .command("check")
    .summary("check a recording, or a server, against the rules of the protocol")
    .description(about)
    .usage(
      "[options] <recording>\n       parlance check [options] <target>\n       parlance check [options] -- command args…",
    )
    .argument("[target]", "see below")
    .addOption(
      new Option("--fail-on <concerns>", "the findings that fail the check, see below").argParser(readConcerns),
    )
    .option("--except <ids>", "leave out these rules and probes, separated by commas; may be repeated", readIds)
    .option("--allow-unanswered", "do not fail on requests without a response")
    .option("--portability", "report what model providers refuse in tool definitions")
    .option("--expect <expectation>", "a condition that must hold, see below; may be repeated", expectation)
    .addOption(new Option("--format <format>", "the format of the report").choices([...reportFormats]).default("text"))
    .option("--json", "the same as --format json")
    .option("--revision <version>", "examine the server in this revision only; may be repeated", parseRevisions)
    .option(
      "--call <call>",
      'also call this tool, once, then twice at once; may be repeated: --call "add a:=2 b:=3"',
      collect,
    )
    .option("--all", "also show the probes that passed")
    .option("--record <file>", "record the conversation with the server to this file")
    .option(
      "--foreign-token-env <variable>",
      "the variable with a token for another server, which must be refused",
      (variable: string) => authorizationIn("--foreign-token-env", variable),
    )
    .option(
      "--other-token-env <variable>",
      "the variable with a token of another user of the server",
      (variable: string) => authorizationIn("--other-token-env", variable),
    )
    .setOptionValue("expect", [])
    .setOptionValue("except", new Set());
  addConversationOptions(command, "how long to wait for each response", "5s")
    .addHelpText("after", `\n${recordingHelp}\n\n${targetHelp}\n\n${checkHelp}\n\n${examples}`)
    .action((word: string | undefined, flags: CheckFlags) => invocation.run(() => check(word, flags, invocation)));
}

/** The value of `Authorization` with the token in a variable. */
function authorizationIn(option: string, variable: string): string {
  const token = secretIn(option, variable);
  return token.includes(" ") ? token : `Bearer ${token}`;
}

function readConcerns(text: string): CheckReport["failOn"] {
  const words = text.split(",").filter((word) => word !== "");
  const unknown = words.find((word) => !(concerns as readonly string[]).includes(word));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`There is no ${unknown}: choose from ${concerns.join(",")}.`);
  return words as CheckReport["failOn"]; // Each was looked up.
}

function readIds(text: string, others: ReadonlySet<string>): ReadonlySet<string> {
  const ids = text.toUpperCase().split(",");
  const all = new Set([...rules, ...probes].map(({ id }) => id));
  const unknown = ids.find((id) => !all.has(id) && !/^K-\d+$/.test(id)); // K-… are the findings of --portability.
  if (unknown !== undefined)
    throw new InvalidArgumentError(`There is no rule or probe ${unknown}; a report names them, as in R-1 and XA-2.`);
  return new Set([...others, ...ids]);
}

function expectation(text: string, others: readonly Expectation[] = []): readonly Expectation[] {
  return [...others, readExpectation(text)];
}

async function check(word: string | undefined, flags: CheckFlags, invocation: Invocation): Promise<number> {
  const { command, out, err, interrupt } = invocation;
  const path = command === undefined && word !== undefined ? await recordingOf(word) : undefined;
  const format = flags.json === true ? "json" : flags.format;
  const { expect: expectations, except } = flags;
  if (except.size > 0) err.print(err.style.dim(`left out: ${[...except].join(", ")}`));
  if (path === undefined) {
    const calls = (flags.call ?? []).map(parseCall);
    const target = await withKeptToken(await chooseTarget(word, command, flags));
    // Many messages of an examination need no response; the probes report missing ones.
    const failOn = flags.failOn ?? defaultConcerns.filter((concern) => concern !== "pending");
    return checkTarget(target, { ...flags, calls, failOn, expectations, format }, invocation);
  }
  err.status("reading the recording");
  // The output quotes the recording, so its secrets are covered as `parlance redact` covers them.
  const redaction = new Redaction(secretOptions({}));
  const onEntry = (entry: Entry): void => redaction.learn(entry);
  const { conversation, damages, lineOf } = await loadRecording(path, { stop: interrupt.stop, onEntry });
  err.status("");
  if (interrupt.stop.aborted) err.print(err.style.yellow("! interrupted: this is what was read so far"));
  const source = sourceOf(path);
  const failOn = (flags.failOn ?? defaultConcerns).filter(
    (concern) => concern !== "pending" || flags.allowUnanswered !== true,
  );
  const found = [...conversation.verdicts, ...(flags.portability === true ? conversation.portability() : [])];
  const verdicts = found.filter(({ rule }) => !except.has(rule.id));
  const report = reportOf({ source, conversation, verdicts, damages, lineOf, expectations, failOn });
  printReport(format, { report, uri: uriOf(path), out, cover: (line) => redaction.words(line) });
  return interrupt.stop.aborted ? interrupt.exitCode : exitCodeOf(report);
}

/** The recording that a word names; undefined if it names a target. @throws Failure for a word that names neither */
async function recordingOf(word: string): Promise<string | undefined> {
  // A file name may contain a space, like a command line.
  if (isRecordingName(word) && existsSync(word)) return word;
  if (/^[a-z]+:\/\/|\s|\.[cm]?[jt]s$/i.test(word) || namesConfigured(word)) return undefined;
  const path = await findRecording(word, process.env);
  if (path === "-" || isRecordingName(path) || (await isRecording(path))) return path;
  throw usageFailure(
    `${path} is no recording: it does not begin with the header of one`,
    `a command goes after --: parlance check -- ${path}`,
  );
}
