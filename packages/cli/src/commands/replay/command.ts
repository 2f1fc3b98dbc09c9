import { methods } from "@parlance/mcp/protocol";
import { Conversation, compareConversations, type Entry, EntryWriter, targetOf } from "@parlance/wire";
import { type Command, InvalidArgumentError, Option } from "commander";
import { withKeptToken } from "../../shared/client/sign-in.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { usageFailure } from "../../shared/failure.js";
import { addFaultOptions, type FaultFlags, faultHelp, faultPlan } from "../../shared/faults/fault.js";
import { aborted } from "../../shared/interrupt.js";
import type { Invocation } from "../../shared/invocation.js";
import { addConversationOptions, type ConversationFlags, chooseTarget } from "../../shared/options.js";
import { comparisonLines, messageText } from "../../shared/output/comparison-lines.js";
import { Pace } from "../../shared/pace.js";
import { newRecordingPath, serverName } from "../../shared/recorder/recording-name.js";
import { findRecording, recordingHelp } from "../../shared/recordings/find-recording.js";
import { openRecorded, type RecordedConversation } from "../../shared/recordings/load-recording.js";
import { GrowingRecording, newHeader } from "../../shared/recordings/recording-text.js";
import { openRawClient, replyFailure } from "../../shared/target/raw-client.js";
import { routeTo } from "../../shared/target/route.js";
import { type Target, targetHelp } from "../../shared/target/target.js";
import { ClientPlayer } from "./client-player.js";
import { type MatchMode, matchModes } from "./matching.js";
import { ReplayClock } from "./replay-clock.js";
import { playOnStdio } from "./server-player.js";
import { playedLines } from "./view.js";

type WireSession = Conversation["sessions"][number];

interface ReplayFlags extends ConversationFlags, FaultFlags {
  readonly as: "server" | "client";
  readonly match: MatchMode;
  readonly speed?: number;
  readonly strict?: true;
  readonly record?: string;
  readonly ui?: true;
}

const about = "Play the server of a recording for a client, or its client against a server.";

const sides = `As the server, it waits for the recorded requests, and responds with the
recorded bytes, with the ids and progress tokens of the live requests. stdout
has only the conversation; stderr lists recorded requests that never came, and
requests that are not in the recording.

As the client, it sends the messages of the recorded client to a server, and
waits for responses where that client waited. Requests of the server get the
recorded responses. The differences are printed, as by parlance diff. With --ui
the browser shows the new conversation while it goes on, with a slider for its
time, and compares it with the recording.`;

const exits = `Exit codes:
  0  the conversation has ended
  1  the command line is wrong
  2  with --strict: the conversation differs from the recorded one, or a call
     has no answer in either
  3  the server could not be started or reached
  6  the recording is damaged`;

const examples = `Examples:
  parlance replay run.parlance.jsonl --as server
  parlance talk --once -- parlance replay run.parlance.jsonl --as server
  parlance replay run.parlance.jsonl --as server --match method --speed 1
  parlance replay last --as server --fault 'tool:search => truncate 60%'
  parlance replay run.parlance.jsonl --as client --strict -- node server.js
  parlance replay run.parlance.jsonl --as client --ui -- node server.js`;

/** Adds `parlance replay`. */
export function registerReplay(program: Command, invocation: Invocation): void {
  const command = program
    .command("replay")
    .summary("replay the server of a recording, or its client")
    .description(about)
    .usage("[options] <recording> --as server\n       parlance replay [options] <recording> --as client <target>")
    .argument("<recording>", "see below")
    .argument("[target]", "see below")
    .addOption(new Option("--as <side>", "the side to play").choices(["server", "client"]).makeOptionMandatory())
    .addOption(
      new Option(
        "--match <mode>",
        "how a request must match the recorded one; order: exactly, and in the recorded order",
      )
        .choices(matchModes)
        .default("exact"),
    )
    .option(
      "--speed <times>",
      "0 without pauses, 1 as fast as recorded, 10 ten times as fast (default: 0; with --ui: 1)",
      speed,
    )
    .option("--strict", "exit with 2 if the conversation differs from the recorded one")
    .option("--record <file>", "as the client: write the new conversation to a new file")
    .option("--ui", "as the client: also show the new conversation in the browser, until Ctrl-C");
  addConversationOptions(addFaultOptions(command), "how long to wait for each response")
    .addHelpText("after", `\n${sides}\n\n${recordingHelp}\n\n${targetHelp}\n\n${faultHelp}\n\n${exits}\n\n${examples}`)
    .action((path: string, word: string | undefined, flags: ReplayFlags) =>
      invocation.run(() => replay(path, word, flags, invocation)),
    );
}

function speed(text: string): number {
  const times = Number(text);
  if (text !== "" && times >= 0 && Number.isFinite(times)) return times;
  throw new InvalidArgumentError("Write 0, 1, 10 or any other factor.");
}

async function replay(
  path: string,
  word: string | undefined,
  flags: ReplayFlags,
  invocation: Invocation,
): Promise<number> {
  const recorded = await openRecorded(path, new Pace(invocation.interrupt, "nothing is replayed yet"));
  if (flags.as === "client") {
    const target = await withKeptToken(await chooseTarget(word, invocation.command, flags));
    const before = path === "-" ? undefined : await findRecording(path, process.env);
    return beClient(recorded, before, target, flags, invocation);
  }
  if (word !== undefined || invocation.command !== undefined)
    throw usageFailure("with --as server there is no target", "leave it out, or write --as client");
  if (flags.ui === true)
    throw usageFailure(
      "with --as server there is no page of its own",
      `parlance run --ui -- parlance replay ${path} --as server shows it with a client`,
    );
  return beServer(recorded, flags, invocation);
}

async function beServer(
  { conversation }: RecordedConversation,
  flags: ReplayFlags,
  { err }: Invocation,
): Promise<number> {
  const { match, speed: times = 0 } = flags;
  const player = await playOnStdio(conversation, { match, speed: times, faults: faultPlan(flags, "stdio") });
  const { lines, isSame } = playedLines(player, err.style);
  err.print(...lines);
  return flags.strict === true && !isSame ? exitCodes.violations : exitCodes.clean;
}

async function beClient(
  recorded: RecordedConversation,
  before: string | undefined,
  target: Target,
  { timeout, record, strict, ui, speed: times = ui === true ? 1 : 0 }: ReplayFlags,
  invocation: Invocation,
): Promise<number> {
  const { out, err, interrupt } = invocation;
  const header = newHeader(target, recorded.header);
  const sent = recorded.conversation.rows.filter(({ from, frame }) => from === "client" && frame !== undefined);
  const clock = new ReplayClock(sent.at(-1)?.at ?? 0, times);
  const path = record ?? (ui === true ? newRecordingPath(serverName([target.title]), process.env) : undefined);
  const file = path === undefined ? undefined : new GrowingRecording(path, header);
  const page =
    ui === true && path !== undefined
      ? await (await import("../open/command.js")).showRecording(path, { before, replay: clock }, invocation)
      : undefined;
  const driven = drive(recorded.conversation, { target, timeout, clock, onEntry: (entry) => file?.add(entry) });
  // A recorded pause may last for hours.
  const conversation = await Promise.race([driven, aborted(interrupt.stop)])
    .catch(async (error: unknown) => {
      await page?.close();
      throw error;
    })
    .finally(() => clock.end());
  if (conversation === undefined) {
    err.print(err.style.dim("ended before everything was sent"));
    await page?.close();
    return strict === true ? exitCodes.violations : exitCodes.clean;
  }
  const comparison = compareConversations(recorded.conversation, conversation);
  const stillOpen = stillOpenLines(recorded.conversation, conversation, out);
  out.print(...comparisonLines(comparison, out), ...stillOpen);
  if (page !== undefined) {
    err.print(err.style.dim(`recorded to ${path}; the page stays; Ctrl-C ends it`));
    await aborted(interrupt.stop);
    await page.close();
  }
  const isGood = comparison.equal && stillOpen.length === 0;
  return strict === true && !isGood ? exitCodes.violations : exitCodes.clean;
}

/** The first HTTP status of a request that was not accepted. */
const firstRefusal = 300;

/**
 * The calls that neither the recorded server nor this one has answered: no difference, and not what is hoped for. What HTTP has refused
 * has its answer.
 */
function stillOpenLines(
  recording: Conversation,
  conversation: Conversation,
  { style }: Invocation["out"],
): readonly string[] {
  return recording.sessions.flatMap((before) => {
    const after = conversation.sessions.find(({ name }) => name === before.name);
    const isOpen = ({ request, answer }: WireSession["operations"][number]): boolean =>
      request.from === "client" &&
      request.method !== methods.listen &&
      answer === undefined &&
      (request.context.exchange?.response?.status ?? 0) < firstRefusal;
    return (after?.operations ?? []).filter(isOpen).flatMap(({ request: { method, params, value, idKey } }) => {
      const isSame = before.operations.some((each) => isOpen(each) && each.request.idKey === idKey);
      return isSame ? [`${style.yellow("!")} still no answer: ${messageText(method, targetOf(params), value)}`] : [];
    });
  });
}

/** The options of replaying a client against a server. */
interface DriveOptions {
  readonly target: Target;
  /** Milliseconds to wait for a response. */
  readonly timeout: number;
  readonly clock: ReplayClock;
  /** Called with each entry of the new conversation. */
  readonly onEntry: (entry: Entry) => void;
}

/** Sends the messages of the client of a recording to a server, session by session. @throws Failure */
async function drive(recording: Conversation, options: DriveOptions): Promise<Conversation> {
  const conversation = new Conversation();
  const writer = new EntryWriter((entry) => {
    conversation.push(entry);
    options.onEntry(entry);
  });
  const route = await routeTo(options.target);
  for (const session of recording.sessions) {
    if (session.operations.length === 0) continue;
    const { name, revision } = session;
    const client = openRawClient(route, { timeout: options.timeout, writer, session: name, revision });
    const unreached = await new ClientPlayer(recording, session, client, options.clock).play();
    await client.close();
    if (unreached !== undefined) throw replyFailure(options.target.kind, unreached, options.timeout);
  }
  conversation.finish();
  return conversation;
}
