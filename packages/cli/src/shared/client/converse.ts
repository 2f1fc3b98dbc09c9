import type { Client, ClientOptions } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import type { Revision } from "@parlance/mcp/protocol";
import type { Answerer } from "../answers/answerer.js";
import { exitCodes } from "../exit-codes.js";
import { Failure, type Stage, unreachableFailure } from "../failure.js";
import { aborted } from "../interrupt.js";
import type { Invocation } from "../invocation.js";
import type { ConversationFlags } from "../options.js";
import { type FrameRow, rowLines } from "../output/conversation-rows.js";
import { durationText } from "../output/quantities.js";
import { type Output, printFailure } from "../output/terminal.js";
import type { Target } from "../target/target.js";
import { type Observation, ObservedTarget } from "./observed-target.js";
import { isInteractive, missingScopesOf, signInAt } from "./sign-in.js";

type Era = Revision["era"];

/** Options of opening a conversation. */
interface OpenOptions {
  /** The milliseconds to wait for each response, and the only revision to negotiate. */
  readonly flags: Pick<ConversationFlags, "timeout"> & { readonly revision?: string | undefined };
  /** The only era to negotiate. Default: that of the revision, or either. */
  readonly era?: Era | undefined;
  readonly invocation: Invocation;
  /** Answers input requests of the server. Default: the client declares no capability for them. */
  readonly answerer?: Pick<Answerer, "answers" | "clock"> | undefined;
}

/** The target of a conversation, and its settings. */
export interface ConverseOptions extends OpenOptions {
  readonly target: Target;
  /** Called with every observation, in order. */
  readonly onObservation?: (observation: Observation) => void;
  /** Called with the failure of the conversation. Default: prints it; after a timeout, with the last frames. */
  readonly onFailure?: (failure: Failure) => void;
}

/**
 * Opens a conversation, runs `speak`, and closes the client and the server. At a terminal, a user whose token lacks a scope signs in
 * for it, and a second conversation begins. Resolves to the exit code.
 */
export async function converse(
  options: ConverseOptions,
  speak: (client: Client, observed: ObservedTarget) => Promise<number>,
  mayGrant = true,
): Promise<number> {
  const { target, invocation, onObservation = () => undefined, onFailure } = options;
  const { err, interrupt } = invocation;
  const observed = new ObservedTarget(target, { interrupt, onObservation });
  let client: Client | undefined;
  let stage: Stage = "opening";
  try {
    client = await openConversation(observed, options);
    stage = "open";
    return await speak(client, observed);
  } catch (error) {
    if (interrupt.stop.aborted) return interrupt.exitCode;
    let cause = error;
    const scopes = mayGrant && isInteractive() ? missingScopesOf(error) : undefined;
    if (scopes !== undefined && target.kind === "url") {
      await client?.close();
      await observed.close();
      try {
        // The server has refused the call, so it can be made again.
        await Promise.race([signInAt(target.url, { scopes }, target.recorded), aborted(interrupt.stop)]);
        if (!interrupt.stop.aborted) return await converse(options, speak, false);
      } catch (failed) {
        cause = failed;
      }
      if (interrupt.stop.aborted) return interrupt.exitCode;
    }
    const failure = observed.failure(cause, stage);
    await awaitAftermath(interrupt.stop); // Output on stderr may arrive after the response.
    const described = withStderr(failure, observed.stderr);
    if (onFailure !== undefined) onFailure(described);
    else {
      printFailure(described, err);
      if (failure.exitCode === exitCodes.timeout) printArrived(observed.conversation.recent, err);
    }
    return failure.exitCode;
  } finally {
    await client?.close();
    await observed.close();
  }
}

/** Adds the last lines of stderr to a failure without them. */
function withStderr(failure: Failure, stderr: readonly string[]): Failure {
  const { exitCode, seen } = failure;
  if (stderr.length === 0 || exitCode === exitCodes.usage || exitCode === exitCodes.unreachable) return failure;
  return failure.with({ seen: [...seen, "its last lines on stderr:", ...stderr] });
}

/** Prints the last frames before a failure. */
function printArrived(frames: readonly FrameRow[], output: Output): void {
  if (frames.length === 0) output.print(output.style.dim("  no frame had been sent or received"));
  else output.print(output.style.dim("  the last frames:"), ...frames.flatMap((frame) => rowLines(frame, output)));
}

/** Milliseconds without an answer after which a notice is printed and a handshake is tried. */
const probeTimeout = 5_000;

/** Opens a conversation. @throws Failure */
export async function openConversation(observed: ObservedTarget, options: OpenOptions): Promise<Client> {
  const { flags, era, invocation, answerer } = options;
  const { revision, timeout } = flags;
  const { err, interrupt } = invocation;
  const settings: ClientOptions = {
    timeout,
    probeTimeout: Math.min(timeout, probeTimeout),
    report(each) {
      if (each.kind === "slow-start") err.print(err.style.dim(stillStarting(each.milliseconds)));
      if (each.kind === "left-out" || each.kind === "tolerated") err.print(err.style.yellow(describeReport(each)));
    },
    ...(revision !== undefined && { revision }),
    ...(era !== undefined && { era }),
    ...(answerer !== undefined && { handlers: answerer.answers, clock: answerer.clock }),
  };
  // `connect` takes no signal: an interrupt stops the wait for it, and closing the target closes its channel.
  const stopped = aborted(interrupt.stop).then((): never => {
    throw new Failure("interrupted", { exitCode: exitCodes.interrupted });
  });
  try {
    return await Promise.race([observed.open(settings), stopped]);
  } catch (error) {
    throw observed.failure(error, "opening");
  }
}

/** The notice while a server has not answered yet. */
export function stillStarting(milliseconds: number): string {
  return `still starting … no answer for ${durationText(milliseconds)}`;
}

/** Milliseconds after the last response in which a second response or noise would arrive. */
const aftermath = 100;

/** Waits for messages after the last response. */
export async function awaitAftermath(stop: AbortSignal): Promise<void> {
  await Promise.race([new Promise((resolve) => setTimeout(resolve, aftermath)), aborted(stop)]);
}

/**
 * Resolves when the server closes the conversation or the user interrupts. @throws Failure if the server did not exit normally
 */
export async function untilOver(client: Client, observed: ObservedTarget, stop: AbortSignal): Promise<void> {
  const closed = await Promise.race([client.closed, aborted(stop)]);
  if (closed?.error === undefined || observed.ended === "exited with code 0") return;
  throw unreachableFailure(closed.error.message.split("\n")[0] ?? "", undefined, closed.error);
}
