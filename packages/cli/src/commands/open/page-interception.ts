import { RpcError } from "@parlance/mcp/jsonrpc";
import type { PageFate, PageHeld, PageInterception, PageRule } from "@parlance/web/protocol";
import { parseFilter } from "@parlance/wire";
import { faultPlan } from "../../shared/faults/fault.js";
import type { FromInterceptor, HeldFrame, Interceptor } from "../../shared/intercept/interception.js";
import { count } from "../../shared/output/quantities.js";

/** The maximum number of rules of one kind, because each is tested for every frame. */
const mostRules = 50;

/** A connected interceptor, with the keys of its held frames. */
interface Connected {
  readonly interceptor: Interceptor;
  /** Keys of the page by keys of the interceptor. */
  readonly keys: Map<number, number>;
  /** The number of the last rules that it has applied. */
  applied: number;
}

/** Milliseconds that rules wait for an interceptor that does not report, such as one whose process is stopped. */
const longestWait = 5_000;

/** Milliseconds for which a page may be away, as it is when its connection breaks. */
const awayTime = 2_000;

/** The maximum number of milliseconds from the request for the page to its connection. */
const loadingTime = 30_000;

interface HeldAt {
  readonly at: Connected;
  readonly frame: HeldFrame;
  /** When it is released, in milliseconds of `performance.now()`. */
  readonly until: number | undefined;
}

/** The port on which an interceptor reports to the page. */
export interface InterceptorPort {
  take(report: FromInterceptor): void;
  /** Called when the interceptor has ended, with all frames that it held. */
  close(): void;
}

/** The breakpoints and faults set by pages, and the frames that interceptors hold. All pages of a command share it. */
export class Interception {
  /** A listener for each open page, called after each change. */
  readonly #watchers = new Set<() => void>();
  /** Whether a page is open, or was until a moment ago. */
  #isWatched = false;
  #leaving: NodeJS.Timeout | undefined;
  /** Until when a page is loading, in milliseconds of `performance.now()`. */
  #loadingUntil = 0;
  readonly #transport: PageInterception["transport"];
  readonly #say: (text: string) => void;
  readonly #connected = new Set<Connected>();
  readonly #held = new Map<number, HeldAt>();
  /** Called when the first frame is held, and when the last one is released. */
  onHolding: (isHolding: boolean) => void = () => undefined;
  #isHolding = false;
  #rules: readonly PageRule[];
  /** The rules that every interceptor has applied. */
  #shown: readonly PageRule[];
  /** The number of `#rules`. */
  #number = 0;
  /** Called after each report that rules were applied. */
  readonly #applied = new Set<() => void>();
  #passedOver = 0;
  #letGo = 0;
  #last = 0;

  /**
   * @param rules breakpoints and faults of the command line
   * @param say prints a message if no page is open
   */
  constructor(
    transport: PageInterception["transport"],
    {
      breakpoints = [],
      faults = [],
    }: { readonly breakpoints?: readonly string[]; readonly faults?: readonly string[] },
    say: (text: string) => void,
  ) {
    this.#transport = transport;
    this.#say = say;
    this.#rules = [
      ...breakpoints.map((text) => ({ kind: "break", text, isOn: true }) as const),
      ...faults.map((text) => ({ kind: "fault", text, isOn: true }) as const),
    ];
    this.#shown = this.#rules;
  }

  /** The state, without the numbers of the frames that each rule was applied to. */
  get state(): PageInterception {
    const now = performance.now();
    return {
      transport: this.#transport,
      rules: this.#shown,
      held: [...this.#held].map(([key, { frame, at, until }]) => pageHeld(key, frame, at, until && until - now)),
      passedOver: this.#passedOver,
      letGo: this.#letGo,
    };
  }

  /** Connects an interceptor and sends it the rules. */
  connect(interceptor: Interceptor): InterceptorPort {
    // It gets the rules before its first frame.
    const connected: Connected = { interceptor, keys: new Map(), applied: this.#number };
    this.#connected.add(connected);
    interceptor.apply({ do: "watch", isWatched: this.#isWatched });
    interceptor.apply(this.#command);
    return {
      take: (report) => this.#take(report, connected),
      close: () => {
        this.#connected.delete(connected);
        for (const applied of this.#applied) applied();
        for (const key of connected.keys.values()) this.#held.delete(key);
        this.#changed();
      },
    };
  }

  /** Registers a page that is loading. A page that is loaded again is requested before its old connection closes. */
  load(): void {
    this.#loadingUntil = performance.now() + loadingTime;
    if (this.#leaving !== undefined) this.#leaveSoon();
  }

  /** Registers an open page; `changed` is called after each change. */
  enter(changed: () => void): void {
    this.#watchers.add(changed);
    this.#loadingUntil = 0;
    clearTimeout(this.#leaving);
    this.#leaving = undefined;
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#tellAll({ do: "watch", isWatched: true });
  }

  /** Unregisters a page. Soon after the last one, all held frames are released, unless a page is loading. */
  leave(changed: () => void): void {
    this.#watchers.delete(changed);
    if (this.#watchers.size === 0) this.#leaveSoon();
  }

  #leaveSoon(): void {
    clearTimeout(this.#leaving);
    const wait = Math.max(awayTime, this.#loadingUntil - performance.now());
    this.#leaving = setTimeout(() => this.#left(), wait).unref();
  }

  #left(): void {
    const held = this.#held.size;
    this.#leaving = undefined;
    this.#isWatched = false;
    this.#tellAll({ do: "watch", isWatched: false });
    if (held > 0) this.#say(`no page is open: ${count(held, "held message")} sent`);
  }

  /** Sets the rules. Resolves when every interceptor has applied them, and pages show them. @throws RpcError for an invalid rule */
  async set(rules: readonly PageRule[]): Promise<void> {
    for (const rule of rules) {
      const problem = this.#problemOf(rule);
      if (problem !== undefined) throw new RpcError(422, problem);
    }
    if (rules.length > mostRules) throw new RpcError(422, `More than ${mostRules} rules`);
    this.#rules = rules;
    this.#number += 1;
    const number = this.#number;
    this.#tellAll(this.#command);
    await this.#untilApplied(number);
    if (number === this.#number) this.#shown = rules;
    this.#changed();
  }

  /** A message that is sent now must not reach an interceptor before the rules do: they take another way. */
  #untilApplied(number: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#applied.delete(applied);
        resolve();
      };
      const applied = (): void => {
        if ([...this.#connected].every((each) => each.applied >= number)) end();
      };
      const timer = setTimeout(end, longestWait);
      this.#applied.add(applied);
      applied();
    });
  }

  #problemOf({ kind, text }: PageRule): string | undefined {
    if (kind === "break") {
      const parsed = parseFilter(text);
      return parsed.ok ? undefined : `The filter cannot be read: ${parsed.fault.says}`;
    }
    try {
      faultPlan({ fault: [text], seed: 1 }, this.#transport);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message.replace("--fault ", "") : String(error);
    }
  }

  /** The bytes of a held frame as text; undefined if they are not UTF-8. @throws RpcError if the frame is no longer held */
  textOf(key: number): string | undefined {
    return this.#heldAt(key).frame.text;
  }

  /** Releases a held frame. @throws RpcError if it is no longer held */
  release(key: number, fate: PageFate): void {
    const { at, frame } = this.#heldAt(key);
    if (fate.did === "answer" && !frame.isAnswerable)
      throw new RpcError(422, "Only a request can be answered, over HTTP one of the client");
    at.interceptor.apply({ do: "release", key: frame.key, fate });
  }

  get #command(): Parameters<Interceptor["apply"]>[0] {
    const on = (kind: PageRule["kind"]): readonly string[] => [
      ...new Set(this.#rules.filter((rule) => rule.kind === kind && rule.isOn).map(({ text }) => text)),
    ];
    return { do: "rules", number: this.#number, breakpoints: on("break"), faults: on("fault") };
  }

  #heldAt(key: number): HeldAt {
    const held = this.#held.get(key);
    if (held === undefined) throw new RpcError(404, "The message is not held any more");
    return held;
  }

  #take(report: FromInterceptor, at: Connected): void {
    if (report.is === "applied") {
      at.applied = report.number;
      for (const applied of this.#applied) applied();
      return;
    }
    if (report.is === "full") this.#passedOver += 1;
    else if (report.is === "held") {
      const { frame } = report;
      const known = at.keys.get(frame.key);
      if (known === undefined) this.#last += 1;
      const key = known ?? this.#last;
      at.keys.set(frame.key, key);
      this.#held.set(key, {
        at,
        frame,
        until: frame.limit === undefined ? undefined : performance.now() + frame.limit,
      });
    } else {
      const key = at.keys.get(report.key);
      at.keys.delete(report.key);
      if (key !== undefined) this.#held.delete(key);
      if (report.why === "time" || report.why === "page") this.#letGo += 1;
    }
    this.#changed();
  }

  #tellAll(command: Parameters<Interceptor["apply"]>[0]): void {
    for (const { interceptor } of this.#connected) interceptor.apply(command);
  }

  #changed(): void {
    const isHolding = this.#held.size > 0;
    if (isHolding !== this.#isHolding) this.onHolding(isHolding);
    this.#isHolding = isHolding;
    for (const changed of this.#watchers) changed();
  }
}

function pageHeld(key: number, frame: HeldFrame, { keys }: Connected, left: number | undefined): PageHeld {
  const { text, behind, limit: _, ...rest } = frame;
  return {
    ...rest,
    key,
    isText: text !== undefined,
    behind: behind === undefined ? undefined : keys.get(behind),
    left: left === undefined ? undefined : Math.max(0, left),
  };
}
