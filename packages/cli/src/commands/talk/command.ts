import type { Client } from "@parlance/mcp/client";
import type { Command } from "commander";
import { answererIfGiven } from "../../shared/answers/answerer.js";
import { awaitAftermath, openConversation, untilOver } from "../../shared/client/converse.js";
import { exercise } from "../../shared/client/exercise.js";
import { ObservedTarget } from "../../shared/client/observed-target.js";
import { registerServerCommand, type ServerFlags, type TargetWords } from "../../shared/client/server-command.js";
import { argumentHelp, parseCall, type WantedCall } from "../../shared/client/tool-arguments.js";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Failure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { addExerciseOptions, chooseTarget } from "../../shared/options.js";
import { printFailure } from "../../shared/output/terminal.js";
import type { Target } from "../../shared/target/target.js";
import { type TalkOutcome, type TalkView, talkJson, talkText } from "./view.js";

interface TalkFlags extends ServerFlags {
  readonly revision?: readonly string[];
  readonly call?: readonly string[];
  readonly once?: true;
}

const about = `Connect to a server and print every frame of the conversation: open it, list
everything that the server advertises, call the tools that are marked read-only and
need no arguments, and close.`;

/** Adds `parlance talk`. */
export function registerTalk(program: Command, invocation: Invocation): void {
  registerServerCommand<TalkFlags>(program, invocation, {
    name: "talk",
    summary: "connect to a server, call it, and print every frame",
    description: about,
    revision: "several",
    json: "print one JSON object per line, for programs",
    addOptions: addExerciseOptions,
    help: [argumentHelp],
    examples: `  parlance talk -- node server.js
  parlance talk --once --call "add a:=2 b:=3" "node server.js"
  parlance talk http://localhost:3000/mcp
  parlance talk --once --json -- python -m my_server | jq .method`,
    run: talk,
  });
}

async function talk({ target: word }: TargetWords, flags: TalkFlags, invocation: Invocation): Promise<number> {
  const calls = (flags.call ?? []).map(parseCall);
  const target = await chooseTarget(word, invocation.command, flags);
  const view = flags.json === true ? talkJson(invocation.out) : talkText(target.title, invocation.out);
  const asked = flags.revision ?? [undefined];
  const before: TalkOutcome[] = [];
  for (const [index, revision] of asked.entries()) {
    const staysOpen = flags.once !== true && index === asked.length - 1;
    const options = { target, calls, flags, view, invocation, revision };
    const outcome = await hold(options, staysOpen ? before : undefined);
    before.push(outcome);
    if (invocation.interrupt.stop.aborted) return outcome.isDone ? exitCodeOf(before) : invocation.interrupt.exitCode;
  }
  if (flags.once === true && before.length > 1) view.compare(before);
  return exitCodeOf(before);
}

/** The first failure decides; without one, a broken rule does. */
function exitCodeOf(outcomes: readonly TalkOutcome[]): number {
  const failure = outcomes.find((outcome) => outcome.failure !== undefined)?.failure;
  if (failure !== undefined) return failure.exitCode;
  return outcomes.some(({ tally }) => tally.violations > 0) ? exitCodes.violations : exitCodes.clean;
}

interface TalkOptions {
  readonly target: Target;
  readonly calls: readonly WantedCall[];
  readonly flags: TalkFlags;
  readonly view: TalkView;
  readonly invocation: Invocation;
  readonly revision: string | undefined;
}

/**
 * Holds one conversation, from the start of the server to its exit. With `before`, the outcomes of earlier conversations, it stays
 * open after the last call.
 */
async function hold(
  { target, calls, flags, view, invocation, revision }: TalkOptions,
  before: readonly TalkOutcome[] | undefined,
): Promise<TalkOutcome> {
  const { err, interrupt } = invocation;
  const observed = new ObservedTarget(target, {
    interrupt,
    onObservation: (observation) => view.observe(observation),
  });
  let client: Client | undefined;
  let failure: Failure | undefined;
  let isDone = false;
  const outcomeSoFar = (): TalkOutcome => {
    const { conversation, now: duration, ended } = observed;
    const { tally, opening } = conversation;
    return { asked: revision, spoken: client?.revision, tally, opening, duration, ended, failure, isDone };
  };
  view.begin(revision);
  try {
    const answerer = answererIfGiven(flags, target.title, invocation);
    client = await openConversation(observed, { flags: { ...flags, revision }, invocation, answerer });
    const skipped = await exercise(client, calls, { signal: interrupt.stop, force: flags.force === true });
    await awaitAftermath(interrupt.stop);
    view.skip(skipped);
    isDone = true;
    if (before === undefined) await observed.endInput();
    else {
      if (before.length > 0) view.compare([...before, outcomeSoFar()]);
      view.stay();
      await untilOver(client, observed, interrupt.stop);
    }
  } catch (error) {
    failure = observed.failure(error, client === undefined ? "opening" : "open");
  }
  await client?.close();
  await observed.close();
  if (failure !== undefined && !interrupt.stop.aborted) printFailure(failure, err);
  const outcome = outcomeSoFar();
  view.end(outcome);
  return outcome;
}
