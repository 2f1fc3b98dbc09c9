import { type Channel, memoryChannels, type Report } from "@parlance/mcp/jsonrpc";

/** A function that an application can plug in, and a conversation that makes use of it. */
export interface Port {
  /** `Interface.member` of the public types. */
  readonly port: string;
  /** The name under which its failure shows. Default: the port. */
  readonly shown?: string;
  /** Whether the number of calls depends on the time that sockets take: the N-th may not come. Default: false. */
  readonly isTimed?: boolean;
  converse(plant: Plant): Promise<void>;
}

/** How a planted call of a hook fails. */
export type Mode = "throws" | "rejects";

/** The error of a planted call: it must not be mistaken for another one. */
class Planted extends Error {
  override readonly name = "Planted";
}

/** Fails the N-th call of a hook, and keeps what the conversation around it has come to. */
export class Plant {
  /** Calls of the hook so far. */
  calls = 0;
  readonly reports: Report[] = [];
  readonly outcomes: PromiseSettledResult<unknown>[] = [];
  readonly #nth: number;
  readonly #mode: Mode;
  #pending = 0;
  #conversations = 0;

  /** @param nth zero: none fails */
  constructor(nth = 0, mode: Mode = "throws") {
    this.#nth = nth;
    this.#mode = mode;
  }

  readonly report = (report: Report): void => void this.reports.push(report);

  /** The hook, with its N-th call failing. */
  hook<Given extends unknown[], Result>(run: (...given: Given) => Result): (...given: Given) => Result {
    return (...given) => {
      this.calls += 1;
      if (this.calls !== this.#nth) return run(...given);
      const error = new Planted(`call ${this.#nth} was to fail`);
      // As an async function of the same signature would do.
      if (this.#mode === "rejects") return Promise.reject(error) as Result;
      throw error;
    };
  }

  /** Notes the outcome of a call; never rejects. */
  async outcome(call: Promise<unknown>): Promise<void> {
    this.#pending += 1;
    const [settled] = await Promise.allSettled([call]);
    this.#pending -= 1;
    if (settled !== undefined) this.outcomes.push(settled);
  }

  /** Calls without an outcome. */
  get pending(): number {
    return this.#pending;
  }

  /** Two ends in memory. Every request on them must be answered at most once: `answers` counts by id. */
  channels(): readonly [Channel, Channel] {
    const [near, far] = memoryChannels();
    this.#conversations += 1;
    const conversation = this.#conversations;
    const note = (frame: string): void => {
      const { id, method } = JSON.parse(frame) as { id?: unknown; method?: unknown };
      if (id === undefined || method !== undefined) return;
      const key = `${JSON.stringify(id)} in conversation ${conversation}`;
      this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
    };
    return [
      near,
      overridden(far, {
        send(frame, relatedTo, isAnswer) {
          note(frame);
          return far.send(frame, relatedTo, isAnswer);
        },
      }),
    ];
  }

  readonly answers = new Map<string, number>();

  /** Whether what failed shows: in a report under that name, or in an error that a call came to. */
  shows(name: string): boolean {
    const isReported = this.reports.some(
      (each) => each.kind === "fault" && (each.method === name ? isPlanted(each.error) : names(each.error, name)),
    );
    // A document of a stranger that cannot be fetched is a request that was refused.
    const isRefusal = this.reports.some(
      (each) => each.kind === "unauthorized" && [name, "was to fail"].every((text) => each.reason.includes(text)),
    );
    return (
      isReported || isRefusal || this.outcomes.some((each) => each.status === "rejected" && names(each.reason, name))
    );
  }
}

/** An error whose own words, or those of its causes, name the hook, and that comes from the planted one. */
function names(error: unknown, name: string): boolean {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error; at = at.cause) chain.push(at);
  return chain.some(({ message }) => message.includes(name)) && chain.some(isPlanted);
}

/** A planted error, or one that has its text and not itself: errors of a sign-in are for people. */
function isOfPlant(error: unknown): boolean {
  return error instanceof Planted || (error instanceof Error && /call \d+ was to fail/.test(error.message));
}

/** A promise where a value must be is an error itself, whatever it comes to. */
function isPlanted(error: unknown): boolean {
  return isOfPlant(error) || (error instanceof TypeError && error.message.includes("has returned a promise"));
}

/** A channel with other methods. */
export function overridden(channel: Channel, methods: Partial<Channel>): Channel {
  return {
    open: (receiver) => channel.open(receiver),
    send: (frame, relatedTo, isAnswer) => channel.send(frame, relatedTo, isAnswer),
    close: () => channel.close(),
    pause: () => channel.pause?.(),
    resume: () => channel.resume?.(),
    unanswered: (request) => channel.unanswered?.(request),
    failed: (request, thrown) => channel.failed?.(request, thrown),
    ...methods,
  };
}
