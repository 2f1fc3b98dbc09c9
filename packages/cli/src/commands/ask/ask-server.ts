import type { ProgressParams } from "@parlance/mcp";
import type { Client, ClientCallOptions } from "@parlance/mcp/client";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { latencyOf, type WireMessage } from "@parlance/wire";
import { Answerer } from "../../shared/answers/answerer.js";
import { converse } from "../../shared/client/converse.js";
import type { Observation, ObservedTarget } from "../../shared/client/observed-target.js";
import type { OneRevisionFlags } from "../../shared/client/server-command.js";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";
import { chooseTarget } from "../../shared/options.js";
import { progressWords } from "../../shared/output/conversation-rows.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { bytesText, count, durationText } from "../../shared/output/quantities.js";
import type { Style } from "../../shared/output/style.js";

/** One operation on a server, and the text of its result. */
export interface Operation<Result> {
  /** The method whose response is timed. */
  readonly method: string;
  /** Performs the operation. An error ends the command. */
  readonly perform: (client: Client, options: ClientCallOptions) => Promise<Result>;
  /** The result as text. */
  readonly lines: (result: Result, style: Style) => readonly string[];
  /** Why the result is a failure; undefined for a success. */
  readonly failed?: (result: Result) => string | undefined;
  /** Notes on the result, printed on stderr. */
  readonly notes?: (result: Result) => readonly string[];
}

/** The target and the flags of the command line. */
export interface Asking {
  /** The target as written; undefined for the command after `--`. */
  readonly target: string | undefined;
  readonly flags: OneRevisionFlags;
  readonly invocation: Invocation;
}

/**
 * Opens a conversation for one operation. Prints the result on stdout, as JSON with `--json`, and the latency and size on stderr.
 * Resolves to the exit code.
 */
export async function askServer<Result>(
  { target: word, flags, invocation }: Asking,
  operation: Operation<Result>,
): Promise<number> {
  const { out, err, interrupt, command } = invocation;
  const { method, perform, lines, failed = () => undefined, notes = () => [] } = operation;
  const target = await chooseTarget(word, command, flags);
  let answer: WireMessage | undefined;
  const onObservation = (observation: Observation): void => {
    if (observation.kind === "frame" && observation.row.from === "server")
      answer = observation.row.messages.find((message) => answers(message, method)) ?? answer;
  };
  const answerer = new Answerer(flags, target.title, invocation);
  return converse({ target, flags, invocation, answerer, onObservation }, async (client, observed) => {
    const unadvertised = flags.force === true;
    const onProgress = (progress: ProgressParams): void => err.status(progressWords({ ...progress }));
    const result = await perform(client, { signal: interrupt.stop, unadvertised, onProgress });
    err.status("");
    out.print(...(flags.json === true ? [jsonLine(result)] : lines(result, out.style)));
    const failure = failed(result);
    err.print(...notes(result), costs(answer, failure, err.style), ...alsoBroken(observed.conversation, err.style));
    return failure === undefined ? exitCodes.clean : exitCodes.toolFailed;
  });
}

/** The notice that the server also broke rules, for commands whose purpose is not to check them. */
export function alsoBroken({ tally, broken }: ObservedTarget["conversation"], style: Style): readonly string[] {
  if (tally.violations === 0) return [];
  const more = tally.violations - broken.length;
  return [
    style.yellow(
      `the server also broke the protocol, ${count(tally.violations, "time")}; parlance run --call or a recording shows where:`,
    ),
    ...broken.map((text) => `  ${style.red("✖")} ${escapeControls(text)}`),
    ...(more > 0 ? [style.dim(`  and ${more.toLocaleString("en")} more`)] : []),
  ];
}

function answers(message: WireMessage, method: string): boolean {
  return message.operation?.request.method === method && latencyOf(message) !== undefined;
}

/** Latency, size and outcome of the response. */
function costs(answer: WireMessage | undefined, failure: string | undefined, style: Style): string {
  const latency = answer && latencyOf(answer);
  const took = [
    ...(latency === undefined ? [] : [durationText(latency)]),
    ...(answer === undefined ? [] : [bytesText(answer.frame.entry.len)]),
  ];
  return style.dim([...took, failure === undefined ? "ok" : style.red(failure)].join(" · "));
}
