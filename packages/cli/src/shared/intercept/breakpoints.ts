import { methods, notifications } from "@parlance/mcp/protocol";
import { compileFilter, parseFilter, type RecordedOperation, type Row } from "@parlance/wire";
import type { Fate, FromInterceptor, HeldFrame, ReleaseReason, ToInterceptor } from "./interception.js";

type RowTest = ReturnType<typeof compileFilter>;

/** The limits of held frames. They are in memory, and the peers determine how many match. */
export interface HoldLimits {
  readonly frames: number;
  readonly bytes: number;
  /** Milliseconds after which a frame is released. */
  readonly time: number;
}

/**
 * The default limits. Servers accept messages of up to 4 MiB by default, and few clients wait longer than five minutes.
 */
const holdLimits: HoldLimits = { frames: 100, bytes: 4 * 1024 * 1024, time: 5 * 60_000 };

/** Called when a frame is held or released. */
export interface BreakpointEvents {
  tell(report: FromInterceptor): void;
  /** Called when a frame that a breakpoint matches is held or released. */
  record(row: Row, filter: string, did: Fate["did"] | "hold", why?: ReleaseReason): void;
}

/** A waiting frame. */
interface Waiting {
  readonly key: number;
  readonly row: Row;
  readonly bytes: Uint8Array;
  readonly filter: string | undefined;
  behind: Waiting | undefined;
  timer: NodeJS.Timeout | undefined;
  readonly pass: (fate: Fate) => void;
}

/**
 * Holds the frames that match a filter until a person releases them. Other frames are forwarded, as independent messages may be
 * reordered. Exceptions are frames that must not overtake a held one of the same direction: messages about the same request (its
 * cancellation, progress, response), and everything after a message of the handshake.
 */
export class Breakpoints {
  readonly #limits: HoldLimits;
  readonly #events: BreakpointEvents;
  #rules: readonly { readonly filter: string; readonly matches: RowTest }[] = [];
  #isWatched = false;
  #waiting: readonly Waiting[] = [];
  #last = 0;

  constructor(events: BreakpointEvents, limits: HoldLimits = holdLimits) {
    this.#events = events;
    this.#limits = limits;
  }

  /** Whether a breakpoint is set, or a frame is held. */
  get isActive(): boolean {
    return this.#rules.length > 0 || this.#waiting.length > 0;
  }

  /** Whether a frame of a side is held. */
  holds(from: Row["from"]): boolean {
    return this.#waiting.some(({ row }) => row.from === from);
  }

  /** Sets the filters. Frames that match none of them any more are released. Ignores invalid filters. */
  set(filters: readonly string[]): void {
    this.#rules = filters.flatMap((filter) => {
      const parsed = parseFilter(filter);
      return parsed.ok ? [{ filter, matches: compileFilter(parsed.filter) }] : [];
    });
    const isOff = ({ filter }: Waiting): boolean => filter !== undefined && !filters.includes(filter);
    for (const waiting of this.#waiting.filter(isOff)) this.#release(waiting, { did: "send" }, "rule");
  }

  /** Handles the commands of a page about held frames. */
  apply(command: Extract<ToInterceptor, { do: "watch" | "release" }>): void {
    if (command.do === "release") {
      const waiting = this.#waiting.find(({ key }) => key === command.key);
      if (waiting !== undefined) this.#release(waiting, command.fate, undefined);
      return;
    }
    this.#isWatched = command.isWatched;
    if (!this.#isWatched) this.letGo(() => true, "page");
  }

  /** Takes a frame. Calls `pass` once: immediately, or when the frame is released. */
  take(row: Row, pass: (fate: Fate) => void): void {
    const rule = this.#isWatched ? this.#rules.find(({ matches }) => matches(row)) : undefined;
    const behind = this.#waiting.findLast((each) => mustNotOvertake(row, each.row));
    if (rule === undefined && behind === undefined) {
      pass({ did: "send" });
      return;
    }
    const bytes = row.frame?.bytes ?? new Uint8Array(0);
    const held = this.#waiting.reduce((sum, each) => sum + each.bytes.length, bytes.length);
    if (this.#waiting.length >= this.#limits.frames || held > this.#limits.bytes) {
      this.#events.tell({ is: "full" });
      pass({ did: "send" });
      return;
    }
    this.#last += 1;
    const waiting: Waiting = {
      key: this.#last,
      row,
      bytes,
      filter: rule?.filter,
      behind,
      timer: undefined,
      pass,
    };
    this.#waiting = [...this.#waiting, waiting];
    if (rule !== undefined) this.#events.record(row, rule.filter, "hold");
    this.#hold(waiting);
  }

  /** Releases frames, in order. */
  letGo(isMeant: (row: Row) => boolean, why: ReleaseReason): void {
    for (const waiting of this.#waiting.filter(({ row }) => isMeant(row)))
      if (this.#waiting.includes(waiting)) this.#release(waiting, { did: "send" }, why);
  }

  #hold(waiting: Waiting): void {
    const { behind, filter } = waiting;
    if (behind === undefined && filter !== undefined)
      waiting.timer = setTimeout(() => this.#release(waiting, { did: "send" }, "time"), this.#limits.time);
    this.#events.tell({ is: "held", frame: this.#heldFrame(waiting) });
  }

  #heldFrame({ key, row, bytes, filter, behind, timer }: Waiting): HeldFrame {
    const [message] = row.messages;
    const { entry } = row;
    return {
      key,
      from: row.from ?? "server",
      method: message?.method ?? message?.concerns?.request.method,
      id: message?.id,
      kind: kinds.get(row.kind) ?? "text",
      isAnswerable: row.kind === "req" && (entry.k !== "f" || entry.req === undefined || entry.d === "c2s"),
      bytes: bytes.length,
      text: entry.k === "f" ? entry.raw : undefined,
      filter,
      behind: behind?.key,
      limit: timer && this.#limits.time,
    };
  }

  #release(waiting: Waiting, fate: Fate, why: ReleaseReason | undefined): void {
    const { key, row, filter, timer, pass } = waiting;
    clearTimeout(timer);
    this.#waiting = this.#waiting.filter((each) => each !== waiting);
    this.#events.tell({ is: "released", key, why });
    if (filter !== undefined) this.#events.record(row, filter, fate.did, why);
    pass(fate);
    for (const next of this.#waiting.filter(({ behind }) => behind === waiting)) this.#advance(next);
  }

  /** Called when the frame before it was released. */
  #advance(next: Waiting): void {
    const before = this.#waiting.slice(0, this.#waiting.indexOf(next));
    next.behind = before.findLast((each) => mustNotOvertake(next.row, each.row));
    if (next.behind === undefined && next.filter === undefined) this.#release(next, { did: "send" }, undefined);
    else this.#hold(next);
  }
}

const kinds: ReadonlyMap<Row["kind"], HeldFrame["kind"]> = new Map([
  ["req", "request"],
  ["ntf", "notification"],
  ["res", "response"],
  ["err", "response"],
]);

/** Whether a frame must not overtake an earlier one. */
function mustNotOvertake(row: Row, earlier: Row): boolean {
  if (row.from !== earlier.from || row.session?.name !== earlier.session?.name) return false;
  if (earlier.messages.some(isOfHandshake)) return true;
  const operations = operationsOf(earlier);
  return operationsOf(row).some((operation) => operations.includes(operation));
}

const handshake: ReadonlySet<string | undefined> = new Set([methods.initialize, notifications.initialized]);

function isOfHandshake({ method, concerns }: Row["messages"][number]): boolean {
  return handshake.has(method ?? concerns?.request.method);
}

function operationsOf({ messages }: Row): readonly RecordedOperation[] {
  return messages.flatMap(({ operation }) => operation ?? []);
}
