import { RpcError } from "@parlance/mcp/jsonrpc";
import type { PageFate, PageHeld, PageInterception, PageRule } from "@parlance/web/protocol";
import { parseFilter } from "@parlance/wire";
import { faultPlan } from "../../shared/faults/fault-option.js";
import type { FromInterceptor, HeldFrame, Interceptor } from "../../shared/intercept/interception.js";
import { count } from "../../shared/output/quantities.js";

/** The most rules of one kind; each is tested for every frame. */
const mostRules = 50;

/** Where the frames of an interceptor are. */
interface Connected {
  readonly interceptor: Interceptor;
  /** By the key of the interceptor: its own key for the page. */
  readonly keys: Map<number, number>;
}

interface HeldAt {
  readonly at: Connected;
  readonly frame: HeldFrame;
  /** When it is let go, in milliseconds of `performance.now()`. */
  readonly until: number | undefined;
}

/** The end of a page that an interceptor reports to. */
export interface InterceptorPort {
  take(report: FromInterceptor): void;
  /** The interceptor is gone, with all that it held. */
  close(): void;
}

/** Breakpoints and faults as pages set them, and the frames that interceptors hold for them. All pages of a command share it. */
export class Interception {
  /** Of each open page; called after each change. */
  readonly #watchers = new Set<() => void>();
  readonly #transport: PageInterception["transport"];
  readonly #say: (text: string) => void;
  readonly #connected = new Set<Connected>();
  readonly #held = new Map<number, HeldAt>();
  /** Called when the first frame is held, and when none is any more. */
  onHolding: (isHolding: boolean) => void = () => undefined;
  #isHolding = false;
  #rules: readonly PageRule[];
  #passedOver = 0;
  #letGo = 0;
  #last = 0;

  /**
   * @param rules breakpoints and faults of the command line
   * @param say prints what the page cannot show, because it is gone
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
  }

  /** The state, without the numbers of the frames that each rule was applied to. */
  get state(): PageInterception {
    const now = performance.now();
    return {
      transport: this.#transport,
      rules: this.#rules,
      held: [...this.#held].map(([key, { frame, at, until }]) => pageHeld(key, frame, at, until && until - now)),
      passedOver: this.#passedOver,
      letGo: this.#letGo,
    };
  }

  /** Connects an interceptor, and gives it the rules. */
  connect(interceptor: Interceptor): InterceptorPort {
    const connected: Connected = { interceptor, keys: new Map() };
    this.#connected.add(connected);
    interceptor.apply({ do: "watch", isWatched: this.#watchers.size > 0 });
    interceptor.apply(this.#command);
    return {
      take: (report) => this.#take(report, connected),
      close: () => {
        this.#connected.delete(connected);
        for (const key of connected.keys.values()) this.#held.delete(key);
        this.#changed();
      },
    };
  }

  /** A page is open from here on; called after each change. */
  enter(changed: () => void): void {
    this.#watchers.add(changed);
    if (this.#watchers.size === 1) this.#tellAll({ do: "watch", isWatched: true });
  }

  /** A page is closed. With the last one all that is held is let go. */
  leave(changed: () => void): void {
    this.#watchers.delete(changed);
    if (this.#watchers.size > 0) return;
    const held = this.#held.size;
    this.#tellAll({ do: "watch", isWatched: false });
    if (held > 0) this.#say(`no page is open: ${count(held, "held message")} let go`);
  }

  /** Sets the rules. @throws RpcError for one that cannot be read */
  set(rules: readonly PageRule[]): void {
    for (const rule of rules) {
      const problem = this.#problemOf(rule);
      if (problem !== undefined) throw new RpcError(422, problem);
    }
    if (rules.length > mostRules) throw new RpcError(422, `More than ${mostRules} rules`);
    this.#rules = rules;
    this.#tellAll(this.#command);
    this.#changed();
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

  /** The bytes of a held frame as text; undefined if they are not UTF-8. @throws RpcError for one that is gone */
  textOf(key: number): string | undefined {
    return this.#heldAt(key).frame.text;
  }

  /** Releases a held frame. @throws RpcError for one that is gone */
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
    return { do: "rules", breakpoints: on("break"), faults: on("fault") };
  }

  #heldAt(key: number): HeldAt {
    const held = this.#held.get(key);
    if (held === undefined) throw new RpcError(404, "The message is not held any more");
    return held;
  }

  #take(report: FromInterceptor, at: Connected): void {
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
