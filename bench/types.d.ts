/**
 * The demand of a case on a contestant: plain calls, batches, or calls of the stateless MCP revision. Over HTTP: an answer as
 * JSON, an event stream, or a call in a session.
 */
export type Kind = "call" | "batch" | "stateless" | HttpKind;

export type HttpKind = "json" | "sse" | "session";

/** One message and the answer it must get; the answers of a batch are in the order of their ids. */
export interface Sample {
  readonly text: string;
  readonly answer: unknown;
}

/** One piece of work. */
export interface Case {
  readonly name: string;
  readonly kind: Kind;
  /** How many different messages there are, so that no cache of strings or shapes sees the same one in a row. */
  readonly pool: number;
  /** How many messages are on their way at the same time, where they go to another process. */
  readonly inFlight?: number;
  /** The message with this id; the same one in every process. */
  sample(id: number): Sample;
}

/** The output of a contestant: text, or the bytes of it where it makes bytes itself. */
export type Output = string | Uint8Array;

/** A contestant that is ready to answer. */
export interface Door<Frame = string> {
  /** Turns a text into what the contestant takes, once, before the clock starts. Default: the text itself. */
  prepare?(text: string): Frame;
  /** Answers one frame. A promise is awaited; anything else is not. */
  answer(frame: Frame): Output | Promise<Output>;
}

/** One library, behind the same door as all the others. */
export interface Contestant<Frame = string> {
  /** The npm package; absent where there is none to install. */
  readonly package?: string;
  readonly kinds: readonly Kind[];
  /** Messages kept in flight. Default: 1. More only for a library that makes every message wait for the event loop. */
  readonly inFlight?: number;
  open(kind: Kind): Door<Frame> | Promise<Door<Frame>>;
}

/** One library as a server in a process of its own. */
export interface ServerContestant {
  /** The npm package; absent where there is none to install. */
  readonly package?: string;
  readonly kinds: readonly Kind[];
  /** Over HTTP: the newest revision that it speaks; what is in no session is of that. */
  readonly revision?: string;
  /** Serves from here on; resolves with the port where it serves on one. */
  serve(kind: Kind): Promise<number | undefined>;
}

/** The first that a server's process says. */
export interface Served {
  readonly package: string | undefined;
  /** False where the kind of message is none of the contestant's. */
  readonly serves: boolean;
  readonly revision?: string | undefined;
  readonly port?: number | undefined;
}

/** The cost of a server's process. */
export interface Cost {
  readonly microseconds: number;
  /** Resident memory. */
  readonly bytes: number;
}

/** A suite: its cases, who takes part, and the bars that the project set itself. */
export interface Suite {
  readonly name: string;
  readonly title: string;
  readonly cases: readonly Case[];
  /** The file in `bench/` that is a contestant's process: it gets suite, contestant and case, and answers with `Report`s. */
  readonly program: string;
  /** The program starts the contestant as a server on the last core, and asks it from the first. */
  readonly serves?: boolean;
  /** File names in `contestants/`; the first is the floor. */
  readonly contestants: readonly string[];
  /** Contestant → case → the highest ratio to the floor. */
  readonly bars: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The measure of memory, if it is reported: how, and the most that this project may take. */
  readonly memory?: MemoryMeasure;
}

/** How a suite speaks of memory. */
export interface MemoryMeasure {
  readonly title: string;
  readonly unit: "KB" | "MB";
  /** In that unit, given the floor's. */
  bar(floor: number): number;
}

/** The messages of a contestant's process to the runner: once whether it can, then a round each time it is sent `"run"`. */
export type Report =
  | { readonly kind: "ready"; readonly package?: string | undefined }
  | { readonly kind: "skipped"; readonly reason?: string }
  | ({ readonly kind: "round" } & Round);

/** The findings of one round. */
export interface Round {
  /** CPU per message. */
  readonly microseconds: number;
  /** Memory of a server behind the round. */
  readonly bytes?: number;
}

/** The rounds of one contestant on one case. */
export interface Entry {
  readonly case: string;
  readonly contestant: string;
  readonly package?: string | undefined;
  /** Empty where the contestant cannot do the case. */
  readonly rounds: readonly Round[];
  /** The failure, if there are no rounds for another reason. */
  readonly fault?: string | undefined;
}

/** One cell of the table. */
export interface Cell {
  readonly case: string;
  readonly contestant: string;
  readonly version?: string | undefined;
  readonly fault?: string | undefined;
  /** Microseconds of CPU per message. */
  readonly median?: number;
  readonly min?: number;
  /** Width of the middle half of the rounds, as a share of the median. */
  readonly spread?: number;
  /** Median, over the rounds, of this contestant's time over the floor's time in the same round. */
  readonly ratio?: number;
  readonly bar?: number | undefined;
  /** Behind the last round. */
  readonly bytes?: number | undefined;
}
