import {
  baseProfile,
  clientLimits,
  decode,
  type Id,
  type Message,
  Problem,
  type Refusal,
  type RpcResponse,
  type Tapped,
} from "@parlance/mcp/jsonrpc";
import { methods } from "@parlance/mcp/protocol";
import { excerpt } from "../excerpt.js";
import { isObject } from "../json.js";
import { digest } from "./digest.js";
import { type JsonPiece, PrintedJson } from "./printed-json.js";

/** Who sent something. */
export type Party = "client" | "server";

/** What a message is; `noise` is none, `frag` the unfinished beginning of one. */
export type PartKind = "req" | "res" | "err" | "ntf" | "noise" | "frag";

/** One message of a frame, or what stands in the place of one. */
export interface Part {
  readonly kind: PartKind;
  readonly id?: Id;
  /** The number of the frame that holds the request which this one answers. */
  readonly pair?: number;
  /** The method, or that of the request which is answered. */
  readonly method?: string;
  /** What it says, in a few words of the peer. */
  readonly detail: string;
  /** Milliseconds since the request was seen. */
  readonly latency?: number;
  /** Which rule it breaks. */
  readonly violation?: string;
  /** A result that tells of a failure. */
  readonly isError?: true;
}

/** What crossed the channel at once: one message, or a batch of them. */
export interface Frame {
  /** Its number in the conversation, from 1. */
  readonly n: number;
  /** Milliseconds since the conversation began. */
  readonly at: number;
  readonly from: Party;
  /** UTF-8 bytes on the wire, without what separates frames. */
  readonly bytes: number;
  readonly batch: boolean;
  readonly parts: readonly Part[];
}

/** What crossed, in numbers. */
export interface Tally {
  readonly frames: number;
  readonly bytes: number;
  /** Requests of the client. */
  readonly calls: number;
  /** Errors that answered them, and results that say `isError`. */
  readonly errors: number;
  /** What of the server breaks a rule. */
  readonly violations: number;
}

/** How a conversation got to its first operation. */
export interface Opening {
  readonly frames: readonly Frame[];
  readonly count: number;
  readonly bytes: number;
  /** The frame of the first operation, once it has been sent. */
  readonly operation: Frame | undefined;
}

/** A request, and which frame has answered it. */
interface Asked {
  readonly n: number;
  readonly at: number;
  /** Undefined where the request breaks a rule. */
  readonly method: string | undefined;
  answeredBy: number | undefined;
}

/** Requests that are remembered for their answers. A peer chooses ids, so it could make this side remember without end. */
const mostAsked = 10_000;
/** Frames that could not be read, and that are remembered for the error that may say so. */
const mostUnread = 100;
/** Frames that are kept to say what arrived, and what opened the conversation. */
const mostRecent = 8;
const mostOpening = 16;

/** These open a conversation, or ask only for a sign of life: not yet what it is for. */
const openers: ReadonlySet<string | undefined> = new Set([methods.initialize, methods.discover, methods.ping]);

/** Reads what crosses a channel: numbers the frames, pairs answers with requests, and counts. */
export class FrameLog {
  readonly #asked = new Map<string, Asked>();
  readonly #printed = new PrintedJson();
  #unread: readonly (Asked & { readonly from: Party })[] = [];
  #recent: readonly Frame[] = [];
  #tally: Tally = { frames: 0, bytes: 0, calls: 0, errors: 0, violations: 0 };
  #opening: Opening = { frames: [], count: 0, bytes: 0, operation: undefined };

  get tally(): Tally {
    return this.#tally;
  }

  get opening(): Opening {
    return this.#opening;
  }

  /** The last frames, oldest first. */
  get recent(): readonly Frame[] {
    return this.#recent;
  }

  /** Another channel takes over: nothing that was asked on the one before will be answered. */
  changeChannel(): void {
    this.#asked.clear();
    this.#unread = [];
  }

  /** The frame that has just crossed, at a time in milliseconds; undefined if what happened is not one. */
  read(tapped: Tapped, at: number): Frame | undefined {
    if (tapped.kind === "ended") return undefined;
    const n = this.#tally.frames + 1;
    const frame = tapped.kind === "refused" ? refusedFrame(tapped.refusal, n, at) : this.#frame(tapped, n, at);
    this.#count(frame);
    return frame;
  }

  #frame(tapped: Exclude<Tapped, { kind: "refused" | "ended" }>, n: number, at: number): Frame {
    const from = tapped.kind === "sent" ? "client" : "server";
    const bytes = Buffer.byteLength(tapped.frame);
    const piece = from === "server" ? this.#printed.follow(tapped.frame, n) : undefined;
    if (piece !== undefined) return { n, at, from, bytes, batch: false, parts: [pieceOf(tapped.frame, piece)] };
    // The widest reading of JSON-RPC: to show a message is not to approve of it.
    const decoded = decode(tapped.frame, baseProfile, clientLimits);
    const batch = Array.isArray(decoded);
    const elements = batch ? (decoded as readonly (Message | Problem)[]) : [decoded as Message | Problem];
    // Of a batch, the text of one element alone is not at hand.
    const parts = elements.map((each) => this.#part(each, batch ? "" : tapped.frame, { n, at, from }));
    return { n, at, from, bytes, batch, parts };
  }

  #part(message: Message | Problem, text: string, place: Place): Part {
    if (message instanceof Problem) return this.#brokenPart(message, text, place);
    if (!("method" in message)) return this.#answerPart(message, place);
    const { method } = message;
    const detail = digest(message, undefined);
    if (!("id" in message)) return { kind: "ntf", method, detail };
    const { id } = message;
    const key = keyOf(place.from, id);
    const earlier = this.#asked.get(key);
    this.#remember(key, { n: place.n, at: place.at, method, answeredBy: undefined });
    const part: Part = { kind: "req", id, method, detail };
    return earlier === undefined || earlier.answeredBy !== undefined
      ? part
      : { ...part, violation: `reuses the id of frame ${earlier.n}, which has no answer yet` };
  }

  #answerPart(message: RpcResponse, place: Place): Part {
    const kind = "error" in message ? "err" : "res";
    const { id } = message;
    const isAddressed = id !== undefined && id !== null;
    const asked = isAddressed || kind === "res" ? this.#askedFor(id, place) : this.#unreadFor(place);
    const named = { kind, detail: digest(message, asked?.method), ...known(id), ...errorMark(message) } as const;
    if (asked === undefined) return { ...named, violation: "answers nothing that was asked" };
    const paired = { ...named, ...pairing(asked) };
    if (asked.answeredBy !== undefined)
      return { ...paired, violation: `frame ${asked.answeredBy} has answered that already` };
    asked.answeredBy = place.n;
    return { ...paired, latency: place.at - asked.at };
  }

  /** Something that is not a message is shown as what it was meant to be, as far as that shows. */
  #brokenPart({ subject, reason, pointer, id }: Problem, text: string, place: Place): Part {
    const violation = pointer === "" ? reason : `${pointer}: ${reason}`;
    const part: Part = { kind: kinds[subject], detail: excerpt(text, longestNoise), violation, ...known(id) };
    const broken: Asked = { n: place.n, at: place.at, method: undefined, answeredBy: undefined };
    if (subject === "request" && id !== undefined) this.#remember(keyOf(place.from, id), broken);
    if (subject !== "response") this.#unread = [...this.#unread, { ...broken, from: place.from }].slice(-mostUnread);
    const asked = subject === "response" ? this.#askedFor(id, place) : undefined;
    return asked === undefined ? part : { ...part, ...pairing(asked) };
  }

  /** The request that an answer from `place` is for. */
  #askedFor(id: Id | undefined, { from }: Place): Asked | undefined {
    return id === undefined ? undefined : this.#asked.get(keyOf(from === "client" ? "server" : "client", id));
  }

  /** An error without an id says that something could not be read: the first of what is not yet answered. */
  #unreadFor({ from }: Place): Asked | undefined {
    const found = this.#unread.find((each) => each.from !== from);
    this.#unread = this.#unread.filter((each) => each !== found);
    return found;
  }

  #remember(key: string, asked: Asked): void {
    this.#asked.delete(key);
    this.#asked.set(key, asked);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > mostAsked && oldest !== undefined) this.#asked.delete(oldest);
  }

  #count(frame: Frame): void {
    const { from, parts, bytes } = frame;
    const count = (holds: (part: Part) => boolean): number => parts.filter(holds).length;
    const { frames, bytes: before, calls, errors, violations } = this.#tally;
    this.#tally = {
      frames: frames + 1,
      bytes: before + bytes,
      calls: calls + (from === "client" ? count(({ kind }) => kind === "req") : 0),
      errors: errors + (from === "server" ? count(failed) : 0),
      violations: violations + (from === "server" ? count(({ violation }) => violation !== undefined) : 0),
    };
    this.#recent = [...this.#recent, frame].slice(-mostRecent);
    this.#countOpening(frame);
  }

  #countOpening(frame: Frame): void {
    const { frames, count, bytes, operation } = this.#opening;
    if (operation !== undefined) return;
    const isOperation =
      frame.from === "client" && frame.parts.some(({ kind, method }) => kind === "req" && !openers.has(method));
    this.#opening = isOperation
      ? { ...this.#opening, operation: frame }
      : { frames: [...frames, frame].slice(0, mostOpening), count: count + 1, bytes: bytes + frame.bytes, operation };
  }
}

type Place = Pick<Frame, "n" | "at" | "from">;

const kinds: Readonly<Record<Problem["subject"], PartKind>> = {
  request: "req",
  notification: "ntf",
  response: "res",
  unknown: "noise",
};

const longestNoise = 2_000;

function refusedFrame({ reason, message, head, bytes }: Refusal, n: number, at: number): Frame {
  const kind = reason === "truncated" ? "frag" : "noise";
  return {
    n,
    at,
    from: "server",
    bytes,
    batch: false,
    parts: [{ kind, detail: excerpt(head, longestNoise), violation: message }],
  };
}

function pieceOf(text: string, { violation }: JsonPiece): Part {
  return { kind: "frag", detail: excerpt(text, longestNoise), ...(violation !== undefined && { violation }) };
}

/** Ids of the two sides are two worlds, and `1` is not `"1"`. */
function keyOf(party: Party, id: Id): string {
  return `${party} ${typeof id} ${String(id)}`;
}

function pairing({ n, method }: Asked): Pick<Part, "pair" | "method"> {
  return method === undefined ? { pair: n } : { pair: n, method };
}

function known(id: Id | undefined): { readonly id?: Id } {
  return id === undefined ? {} : { id };
}

function errorMark(message: RpcResponse): { readonly isError?: true } {
  return "result" in message && isObject(message.result) && message.result.isError === true ? { isError: true } : {};
}

function failed({ kind, isError, latency }: Part): boolean {
  return latency !== undefined && (kind === "err" || isError === true);
}
