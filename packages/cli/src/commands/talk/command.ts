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
    const talk = new Talk({ target, calls, flags, view, invocation, revision });
    before.push(await talk.hold(staysOpen ? before : undefined));
    if (invocation.interrupt.stop.aborted) return talk.isDone ? exitCodeOf(before) : invocation.interrupt.exitCode;
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

/** One conversation, from the start of the server to its exit. */
class Talk {
  readonly #options: TalkOptions;
  readonly #observed: ObservedTarget;
  #client: Client | undefined;
  #failure: Failure | undefined;
  #done = false;

  constructor(options: TalkOptions) {
    const { target, view, invocation } = options;
    this.#options = options;
    this.#observed = new ObservedTarget(target, {
      interrupt: invocation.interrupt,
      onObservation: (observation) => view.observe(observation),
    });
  }

  /** Whether all lists and calls have completed. */
  get isDone(): boolean {
    return this.#done;
  }

  /** Runs the conversation. With `before`, the outcomes of earlier conversations, it stays open after the last call. */
  async hold(before: readonly TalkOutcome[] | undefined): Promise<TalkOutcome> {
    const { view, revision, invocation } = this.#options;
    view.begin(revision);
    try {
      await this.#speak(before);
    } catch (error) {
      this.#failure = this.#observed.failure(error, this.#client === undefined ? "opening" : "open");
    }
    await this.#client?.close();
    await this.#observed.close();
    if (this.#failure !== undefined && !invocation.interrupt.stop.aborted) printFailure(this.#failure, invocation.err);
    const outcome = this.#outcome();
    view.end(outcome);
    return outcome;
  }

  async #speak(before: readonly TalkOutcome[] | undefined): Promise<void> {
    const { target, calls, flags, view, invocation, revision } = this.#options;
    const { err, interrupt } = invocation;
    const answerer = answererIfGiven(flags, target.title, invocation);
    const how = { revision, timeout: flags.timeout, err, interrupt, ...(answerer !== undefined && { answerer }) };
    this.#client = await openConversation(this.#observed, how);
    const skipped = await exercise(this.#client, calls, { signal: interrupt.stop, force: flags.force === true });
    await awaitAftermath(interrupt.stop);
    view.skip(skipped);
    this.#done = true;
    if (before === undefined) {
      await this.#observed.endInput();
      return;
    }
    if (before.length > 0) view.compare([...before, this.#outcome()]);
    view.stay();
    await untilOver(this.#client, this.#observed, interrupt.stop);
  }

  #outcome(): TalkOutcome {
    const { conversation, now, ended } = this.#observed;
    const spoken = this.#client?.revision;
    return {
      asked: this.#options.revision,
      spoken,
      tally: conversation.tally,
      opening: conversation.opening,
      duration: now,
      ended,
      failure: this.#failure,
    };
  }
}
