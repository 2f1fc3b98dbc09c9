import type { Client } from "@parlance/mcp/client";
import type { Answerer } from "../answers/answerer.js";
import { exitCodes } from "../exit-codes.js";
import type { Failure, Stage } from "../failure.js";
import type { Invocation } from "../invocation.js";
import type { ConversationFlags } from "../options.js";
import { printArrived, printFailure } from "../output/print-failure.js";
import type { Target } from "../target/target.js";
import { awaitAftermath, openConversation } from "./conversation.js";
import { type Observation, ObservedTarget } from "./observed-target.js";

/** With whom a command speaks, and how. */
export interface ConverseOptions {
  readonly target: Target;
  readonly flags: ConversationFlags & { readonly revision?: string };
  readonly invocation: Invocation;
  /** Answers what the server asks. Default: nothing is declared. */
  readonly answerer?: Answerer | undefined;
  /** Takes everything that is seen, in order. */
  readonly onObservation?: (observation: Observation) => void;
  /** Takes why the conversation failed. Default: it is printed, and what had crossed where an answer did not come. */
  readonly onFailure?: (failure: Failure) => void;
}

/**
 * One conversation, from the start of the server to its end: opens it, lets `speak` say what there is to say, and closes
 * everything. Gives back the exit code.
 */
export async function converse(
  { target, flags, invocation, answerer, onObservation = () => undefined, onFailure }: ConverseOptions,
  speak: (client: Client, observed: ObservedTarget) => Promise<number>,
): Promise<number> {
  const { err, interrupt } = invocation;
  const { revision, timeout } = flags;
  const observed = new ObservedTarget(target, { interrupt, onObservation });
  let client: Client | undefined;
  let stage: Stage = "opening";
  try {
    client = await openConversation(observed, {
      revision,
      timeout,
      err,
      interrupt,
      ...(answerer !== undefined && { answerer }),
    });
    stage = "open";
    return await speak(client, observed);
  } catch (error) {
    if (interrupt.stop.aborted) return interrupt.exitCode;
    const failure = observed.failure(error, stage);
    await awaitAftermath(interrupt.stop); // What it writes to stderr may come behind what it answers.
    const told = withLastWords(failure, observed.stderr);
    if (onFailure !== undefined) onFailure(told);
    else {
      printFailure(told, err);
      if (failure.exitCode === exitCodes.timeout) printArrived(observed.conversation.recent, err);
    }
    return failure.exitCode;
  } finally {
    await client?.close();
    await observed.close();
  }
}

/** What the server said last, where the failure does not have it already. */
function withLastWords(failure: Failure, stderr: readonly string[]): Failure {
  const { exitCode, seen } = failure;
  if (stderr.length === 0 || exitCode === exitCodes.usage || exitCode === exitCodes.unreachable) return failure;
  return failure.with({ seen: [...seen, "its last lines on stderr:", ...stderr] });
}
