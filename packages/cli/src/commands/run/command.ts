import type { Client } from "@parlance/mcp/client";
import type { PageSpoken } from "@parlance/web/protocol";
import type { CheckReport } from "@parlance/wire";
import type { Command } from "commander";
import { answererIfGiven } from "../../shared/answers/answerer.js";
import type { PausableClock } from "../../shared/answers/dialog.js";
import { awaitAftermath, type ConverseOptions, converse, untilOver } from "../../shared/client/converse.js";
import { exercise, type ListName, skippedLines } from "../../shared/client/exercise.js";
import type { Observation, ObservedTarget } from "../../shared/client/observed-target.js";
import { type OneRevisionFlags, registerServerCommand, type TargetWords } from "../../shared/client/server-command.js";
import { argumentHelp, parseCall } from "../../shared/client/tool-arguments.js";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Failure } from "../../shared/failure.js";
import { addBreakOption, type BreakFlags, breakpointsOf } from "../../shared/intercept/break-option.js";
import { aborted } from "../../shared/interrupt.js";
import type { Invocation } from "../../shared/invocation.js";
import { addExerciseOptions, chooseTarget } from "../../shared/options.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { explainLines, summaryLines } from "../../shared/output/report-text.js";
import { printFailure } from "../../shared/output/terminal.js";
import { TailView } from "../../shared/recordings/tailed-recording.js";
import { defaultRequests, SavedRequests } from "../../shared/requests/saved-requests.js";
import type { Target } from "../../shared/target/target.js";
import type { Acting, Examine } from "../open/acting.js";
import type { Interception } from "../open/page-interception.js";
import { keepSecretsHelp } from "../proxy/proxy.js";
import { FollowedRecordings } from "./followed-recordings.js";
import { type RecordedTarget, recordedTarget } from "./recorded-target.js";

interface RunFlags extends OneRevisionFlags, BreakFlags {
  readonly call?: readonly string[];
  readonly once?: true;
  readonly record?: string;
  readonly keepSecrets?: true;
  readonly name?: string;
  readonly requests?: string;
}

const about = `Connect to a server, and record every byte: open a conversation, list everything that
the server advertises, call the tools that are marked read-only and need no arguments,
and show all messages, with the broken rules.`;

/** Adds `parlance run`. */
export function registerRun(program: Command, invocation: Invocation): void {
  registerServerCommand<RunFlags>(program, invocation, {
    name: "run",
    summary: "connect to a server, and record every byte",
    description: about,
    json: "print one JSON object per line, for programs",
    addOptions: (command) =>
      void addBreakOption(addExerciseOptions(command))
        .option("--record <file>", "record to this file; a file that is not empty is never overwritten")
        .option("--keep-secrets", keepSecretsHelp)
        .option("--name <name>", "the server's name in the name of the recording")
        .option("--ui", "also show the recording in the browser, until Ctrl-C")
        .option("--requests <folder>", `where the page saves requests (default: ${defaultRequests})`),
    help: [argumentHelp],
    examples: `  parlance run -- node server.js
  parlance run --once --call "add a:=2 b:=3" "node server.js"
  parlance run --once --record run.parlance.jsonl http://localhost:3000/mcp
  parlance run --ui -- node server.js          shows it in the browser
  parlance check last                          judges what was just recorded`,
    run,
  });
}

async function run({ target: word }: TargetWords, flags: RunFlags, invocation: Invocation): Promise<number> {
  const { out, err, interrupt } = invocation;
  const calls = (flags.call ?? []).map(parseCall);
  const target = await chooseTarget(word, invocation.command, flags);
  const breakpoints = breakpointsOf(flags);
  const interception =
    flags.ui === true ? await interceptionOf(target, breakpoints, (text) => err.print(text)) : undefined;
  const recorded = await recordedTarget(target, flags, interception);
  const words = { title: word ?? target.title, command: invocation.command };
  const examine: Examine = async (watcher) =>
    (await import("../doctor/command.js")).examineTarget(target, flags, invocation, watcher);
  const shown =
    flags.ui === true
      ? await (await import("../open/command.js")).showConversation(
          recorded.path,
          words,
          examine,
          new SavedRequests(flags.requests),
          invocation,
          interception,
        )
      : undefined;
  const followed = new FollowedRecordings(recorded.path, new TailView(out, flags.json === true));
  const answerer =
    answererIfGiven(flags, target.title, invocation, () => followed.untilAsked()) ?? shown?.acting.inputs;
  if (interception !== undefined && answerer !== undefined) pauseWhileHeld(interception, answerer.clock);
  let failure: Failure | undefined;
  let asked: PageSpoken | undefined;
  const onFailure = (why: Failure): void => {
    failure = why;
  };
  const onObservation = (observation: Observation): void => shown?.acting.see(observation);
  const how = { target: recorded.target, flags, invocation, answerer, onObservation, onFailure };
  const code = await converse(how, async (client, observed) => {
    shown?.acting.open(client, observed);
    const onItem = (list: ListName, item: unknown): void => shown?.acting.takeItem(list, item);
    const skipped = await exercise(client, calls, { signal: interrupt.stop, force: flags.force === true, onItem });
    await awaitAftermath(interrupt.stop);
    if (flags.once !== true) {
      if (flags.json !== true)
        err.print(err.style.dim("all calls are done: the conversation stays open; Ctrl-C ends it"));
      asked = await untilLeft(client, observed, interrupt.stop, shown?.acting);
    }
    if (flags.json !== true && skipped.length > 0) err.print(...skippedLines(skipped).map(err.style.dim));
    return exitCodes.clean;
  });
  if (shown !== undefined) await converseAsAsked(asked, how, shown.acting, recorded);
  shown?.acting.close(failure);
  const missing = await recorded.end();
  await followed.end();
  // Printed after the table, which has the frames before the failure.
  if (failure !== undefined) printFailure(failure, err);
  if (missing !== undefined) err.print(missing);
  const { reports } = followed;
  if (flags.json === true) out.print(...reports.map((report) => jsonLine(reportedValue(report))));
  else
    for (const report of reports)
      out.print(
        "",
        ...summaryLines(report, out),
        ...explainLines(brokenRules(report), out),
        out.style.dim(`recorded to ${report.source}`),
      );
  if (shown !== undefined) {
    if (!interrupt.stop.aborted) err.print(err.style.dim("the page stays; Ctrl-C ends it"));
    await aborted(interrupt.stop);
    await shown.page.close();
  }
  return code === exitCodes.clean && reports.some(({ passed }) => !passed) ? exitCodes.violations : code;
}

/**
 * Resolves when a conversation has ended: to the next one, if a page requests one. @throws Failure if the server did not exit
 * normally
 */
function untilLeft(
  client: Client,
  observed: ObservedTarget,
  stop: AbortSignal,
  acting: Acting | undefined,
): Promise<PageSpoken | undefined> {
  const over = untilOver(client, observed, stop).then(() => undefined);
  return acting === undefined ? over : Promise.race([over, acting.reconnection()]);
}

/**
 * Opens the conversations that pages request, one after the other, until the command is interrupted. @param first the first
 * request; undefined if no page has requested one
 */
async function converseAsAsked(
  first: PageSpoken | undefined,
  how: ConverseOptions,
  acting: Acting,
  recorded: RecordedTarget,
): Promise<void> {
  const { err, interrupt } = how.invocation;
  let asked = first;
  while (asked !== undefined && !interrupt.stop.aborted) {
    const { revision, era } = asked;
    let failure: Failure | undefined;
    const onFailure = (why: Failure): void => {
      failure = why;
      printFailure(why, err);
    };
    asked = undefined;
    acting.begin(recorded.next());
    await converse({ ...how, flags: { ...how.flags, revision }, era, onFailure }, async (client, observed) => {
      acting.open(client, observed);
      await acting.listAgain().catch(() => undefined); // The frames show the refusal of a list.
      asked = await untilLeft(client, observed, interrupt.stop, acting);
      return exitCodes.clean;
    });
    if (asked !== undefined || interrupt.stop.aborted) continue;
    acting.close(failure);
    asked = await Promise.race([acting.reconnection(), aborted(interrupt.stop)]);
  }
}

async function interceptionOf(
  target: Target,
  breakpoints: readonly string[],
  say: (text: string) => void,
): Promise<Interception> {
  const { Interception } = await import("../open/page-interception.js");
  return new Interception(target.kind === "url" ? "http" : "stdio", { breakpoints }, say);
}

/** Pauses the clock while a message is held, so that calls do not time out. */
function pauseWhileHeld(interception: Interception, clock: PausableClock): void {
  interception.onHolding = (isHolding) => {
    if (isHolding) clock.pause(interception);
    else clock.resume(interception);
  };
}

/** The ids of the rules that must be kept and were not, each once. */
function brokenRules({ verdicts }: CheckReport): readonly string[] {
  return [...new Set(verdicts.flatMap(({ verdict: { level, rule } }) => (level === "must" ? [rule.id] : [])))];
}

function reportedValue({ source, verdicts, failedFor }: CheckReport): object {
  const violations = verdicts.filter(({ verdict }) => verdict.level === "must").length;
  return { recording: source, violations, failedFor };
}
