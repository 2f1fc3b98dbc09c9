import { setTimeout as delay } from "node:timers/promises";
import { codes } from "@parlance/mcp/jsonrpc";
import { metaKeys } from "@parlance/mcp/protocol";
import {
  bytesOf,
  Conversation,
  canonicalJson,
  ignoring,
  literalOf,
  nodeAt,
  type RecordedOperation,
  type Row,
  significant,
  type WireMessage,
} from "@parlance/wire";
import type { FaultPlan } from "../../shared/faults/fault.js";
import { FaultyStream, type Replacement, replaced } from "../../shared/faults/faulty-stream.js";
import { monotonic } from "../../shared/monotonic.js";
import type { LineStream } from "../../shared/recorder/recorder-messages.js";
import { Transcript } from "../../shared/recorder/transcript.js";
import { Matching, type MatchMode } from "./matching.js";
import { begunBy, type ReplayAction, type ReplayStep, replaySteps } from "./replay-steps.js";

/** Options of playing a recording. */
export interface PlayOptions {
  readonly match: MatchMode;
  /** The factor of the recorded speed; 0 for no pauses. */
  readonly speed: number;
  /** Applies faults to the frames of the server. */
  readonly faults: FaultPlan | undefined;
}

/** Plays the server of a recording on stdin and stdout, until stdin ends. */
export async function playOnStdio(recording: Conversation, options: PlayOptions): Promise<ServerPlayer> {
  const { faults } = options;
  const faulty = faults && faultyOutput(faults);
  // With faults, messages are judged, because a filter may test the verdicts.
  const live = new Conversation(faults === undefined ? { rules: [] } : {});
  const transcript = new Transcript((entry) => {
    const row = live.push(entry);
    if (row?.from === "client") player.receive(row);
    else if (row !== undefined) faulty?.take(row);
  });
  const observe = (stream: LineStream, bytes: Uint8Array): void =>
    transcript.observe({ kind: "bytes", stream, t: monotonic(), bytes });
  const player = new ServerPlayer(recording, options, (line) => {
    if (faulty === undefined) process.stdout.write(line);
    else observe("stdout", line);
  });
  player.begin();
  for await (const bytes of process.stdin as AsyncIterable<Uint8Array>) observe("stdin", bytes);
  transcript.end();
  await player.end();
  await faulty?.end();
  return player;
}

function faultyOutput({ rules, seed }: FaultPlan): FaultyStream {
  return new FaultyStream(() => rules, seed, {
    write: (bytes) => process.stdout.write(bytes),
    stderr: (text) => process.stderr.write(`${text}\n`),
    close: () => process.stdout.end(),
    exit: leave,
    // A replay is not recorded.
    applied: () => undefined,
    passed: () => undefined,
  });
}

function leave(code: number): void {
  process.stdout.write("", () => process.exit(code));
}

/** A difference between a client's message and the recording. */
export interface Mismatch {
  readonly is: "unmatched" | "answered differently";
  readonly message: WireMessage;
  /** The nearest recorded message; undefined without one. */
  readonly recorded: WireMessage | undefined;
}

/** Plays the server of a recording: sends its recorded messages when a client sends the matching ones. */
export class ServerPlayer {
  readonly matching: Matching;
  readonly mismatches: Mismatch[] = [];
  /** The number of matched requests and notifications. */
  played = 0;
  readonly #options: PlayOptions;
  readonly #send: (line: Uint8Array) => void;
  readonly #opening: readonly ReplayStep[];
  readonly #live = new Map<RecordedOperation, LiveRequest>();
  /** The responses of the client, by the id of the request. */
  readonly #answers = new Mailbox<WireMessage>();
  readonly #plays = new Set<Promise<void>>();
  /** Whether the recorded server has exited, so that it sends nothing more. */
  #ended = false;

  /** @param send writes a frame with its line break to the client */
  constructor(recording: Conversation, options: PlayOptions, send: (line: Uint8Array) => void) {
    const steps = replaySteps(recording);
    this.matching = new Matching(steps, options.match);
    this.#opening = steps.filter(({ trigger }) => trigger === undefined);
    this.#options = options;
    this.#send = send;
  }

  /** Sends the messages that the server sent before any message of the client. */
  begin(): void {
    for (const step of this.#opening) this.#start(step);
  }

  /** Takes the messages of a client's frame. */
  receive({ messages }: Row): void {
    for (const message of messages) {
      if (message.kind === "res" || message.kind === "err") this.#answers.put(message.idKey ?? "", message);
      else if (message.kind !== "none") this.#receive(message);
    }
  }

  /** Ends the input. Resolves when every message that can be sent has been sent. */
  async end(): Promise<void> {
    this.#answers.close();
    while (this.#plays.size > 0) await Promise.all(this.#plays);
  }

  #receive(message: WireMessage): void {
    const step = this.matching.take(message);
    if (step === undefined) {
      const recorded = this.matching.nearest(message);
      this.mismatches.push({ is: "unmatched", message, recorded });
      if (message.kind === "req") this.#refuse(message, recorded);
      return;
    }
    this.played += 1;
    const operation = begunBy(step.trigger);
    if (operation !== undefined) this.#live.set(operation, liveRequest(message));
    this.#start(step);
  }

  #start(step: ReplayStep): void {
    const play = this.#play(step);
    this.#plays.add(play);
    void play.finally(() => this.#plays.delete(play)); // Never rejects.
  }

  async #play({ at, actions }: ReplayStep): Promise<void> {
    let last = at;
    for (const action of actions) {
      if (action.is === "answered") {
        if (!(await this.#awaitAnswer(action))) return;
      } else {
        await this.#pace(action.row.at - last);
        this.#perform(action);
      }
      last = action.row.at;
    }
  }

  #perform({ is, row }: Extract<ReplayAction, { is: "send" | "exit" }>): void {
    const { entry, frame, messages } = row;
    if (this.#ended) return;
    this.#ended = is === "exit";
    if (is === "exit") leave(entry.k === "l" ? (entry.code ?? 1) : 1);
    else if (entry.k === "e") process.stderr.write(bytesOf(entry));
    else if (entry.k === "f" && frame !== undefined) {
      const bytes = liveBytes(frame.bytes, messages, this.#live);
      if (bytes !== undefined) this.#send(Buffer.concat([bytes, Buffer.from(entry.nl === "" ? "\n" : entry.nl)]));
    }
  }

  /** Waits for the response to a sent request. False if none can come any more. */
  async #awaitAnswer({ question, row }: Extract<ReplayAction, { is: "answered" }>): Promise<boolean> {
    const answer = await this.#answers.take(question.request.idKey ?? "");
    if (answer === undefined) return false;
    const recorded = row.messages.find(({ operation }) => operation === question);
    if (recorded !== undefined && !isSameAnswer(answer, recorded))
      this.mismatches.push({ is: "answered differently", message: answer, recorded });
    return true;
  }

  async #pace(recorded: number): Promise<void> {
    const { speed } = this.#options;
    if (speed > 0 && recorded > 0) await delay(recorded / speed);
  }

  #refuse(message: WireMessage, recorded: WireMessage | undefined): void {
    const { method = "" } = message;
    const error =
      recorded === undefined
        ? { code: codes.methodNotFound, message: `the recording has no ${method}` }
        : {
            code: codes.invalidParams,
            message: `the recording has no ${method} like this one; the nearest is in its frame ${recorded.frame.n}`,
            data: { frame: recorded.frame.n, params: recorded.params },
          };
    const text = `{"jsonrpc":"2.0","id":${message.id ?? "null"},"error":${JSON.stringify(error)}}`;
    this.#send(Buffer.from(`${text}\n`));
  }
}

const token = "/params/_meta/progressToken";
const ignoresId = ignoring(["/id", "/jsonrpc"]);

function liveRequest(message: WireMessage): LiveRequest {
  const { node, frame, id = "null" } = message;
  const at = nodeAt(node, token);
  return { id, progressToken: at && literalOf(at, frame.bytes) };
}

function isSameAnswer(live: WireMessage, recorded: WireMessage): boolean {
  const [said, written] = [live, recorded].map(({ value }) => canonicalJson(significant(value, ignoresId)));
  return said === written;
}

/** Queues items by key. `take` waits until its key has an item. */
class Mailbox<Item> {
  readonly #arrived = new Map<string, Item[]>();
  readonly #waiting = new Map<string, ((item: Item | undefined) => void)[]>();
  #closed = false;

  /** Gives an item to the oldest waiter for its key, or keeps it. */
  put(key: string, item: Item): void {
    const waiting = this.#waiting.get(key)?.shift();
    if (waiting !== undefined) waiting(item);
    else this.#arrived.set(key, [...(this.#arrived.get(key) ?? []), item]);
  }

  /** The next item of a key; undefined once nothing more can come. */
  take(key: string): Promise<Item | undefined> {
    const arrived = this.#arrived.get(key)?.shift();
    if (arrived !== undefined || this.#closed) return Promise.resolve(arrived);
    return new Promise((resolve) => {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), resolve]);
    });
  }

  /** Ends every waiting `take`: no more items arrive. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve(undefined);
    this.#waiting.clear();
  }
}

/** A live request that matches a recorded one: its id and progress token, as written. */
interface LiveRequest {
  readonly id: string;
  readonly progressToken: string | undefined;
}

/** Finds the live request for a recorded one. */
type LiveRequests = ReadonlyMap<RecordedOperation, LiveRequest>;

const subscriptionId = metaKeys.subscriptionId.replaceAll("/", "~1");

/**
 * The bytes of a recorded frame with the ids and tokens of live requests. Undefined for a frame that cannot be sent, because it
 * is about a request that was not sent, or that has no progress token.
 */
function liveBytes(bytes: Uint8Array, messages: readonly WireMessage[], live: LiveRequests): Uint8Array | undefined {
  const replacements: Replacement[] = [];
  for (const message of messages) {
    const operation = message.concerns;
    if (operation === undefined || operation.request.from === message.from) continue;
    const request = live.get(operation);
    const { kind, node } = message;
    const token = kind === "ntf" ? nodeAt(node, "/params/progressToken") : undefined;
    if (request === undefined || (token !== undefined && request.progressToken === undefined)) return undefined;
    const ids = ["/params", "/result"].map((holder) => nodeAt(node, `${holder}/_meta/${subscriptionId}`));
    for (const at of ids) if (at !== undefined) replacements.push({ at, text: request.id });
    const id = kind === "ntf" ? undefined : nodeAt(node, "/id");
    if (id !== undefined) replacements.push({ at: id, text: likeRecorded(message, request.id) });
    if (token !== undefined && request.progressToken !== undefined)
      replacements.push({ at: token, text: request.progressToken });
  }
  return replaced(bytes, replacements);
}

/** An id in the type that the recorded server used: it may have answered `"7"` for `7`. */
function likeRecorded({ context }: WireMessage, id: string): string {
  if (context.pairing?.is !== "other type") return id;
  return id.startsWith('"') ? (JSON.parse(id) as string) : JSON.stringify(id);
}
