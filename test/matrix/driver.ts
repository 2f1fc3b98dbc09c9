import type { LoggingLevel, ProgressParams, SubscriptionFilter } from "@parlance/mcp";
import type { Channel } from "@parlance/mcp/jsonrpc";
import type { ServerDescription } from "../../packages/mcp/src/client/session/client-session.js";
import type { LocalReason } from "../../packages/mcp/src/jsonrpc/errors.js";

/** A JSON object, as tests look into it. */
export type Fields = Readonly<Record<string, unknown>>;

/** How a call has ended: with an answer of the server, or on this side. */
export type Outcome =
  | { readonly result: Fields }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  | { readonly local: LocalReason };

/** Options of a call. */
export interface CallSettings {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ProgressParams) => void;
}

/** Something that the server asks. */
export interface Question {
  readonly method: string;
  readonly params: Fields;
}

/** Answers a question. */
export type Answering = (question: Question, signal: AbortSignal) => Fields | Promise<Fields>;

/** A notification that belongs to no call and no subscription. */
export interface Told {
  readonly method: string;
  readonly params: Fields;
}

/** Changes that a driver follows. */
export interface Following {
  /** The resources among what was asked for that the server tells of. */
  readonly resources: readonly string[];
  /** The next change: the name of a list, or a URI. */
  next(): Promise<string>;
  close(): Promise<void>;
}

const changed = /^notifications\/(tools|prompts|resources)\/list_changed$/;

/** The change that a notification tells of, as `Following` names it. */
export function changeOf({ method, params }: Told): string | undefined {
  if (method === "notifications/resources/updated") return params.uri as string;
  return changed.exec(method)?.[1];
}

/** One call of a batch. */
export type BatchedCall = readonly [method: string, params: Fields];

/**
 * A peer of the server under test, as behaviours drive it: they give everything in the newest shape, and what comes back
 * is as the revision has it.
 */
export interface Driver {
  readonly revision: string;
  /** The revision of the server, if it is another one: there is a bridge between. */
  readonly far?: string | undefined;
  /** Which of the two it is: some differences are theirs. */
  readonly kind: DriverKind;
  /** `serverInfo`, capabilities and instructions of the server. */
  readonly server: ServerDescription;
  /** Answers the server's questions. The signal is aborted when an answer is not wanted any more: then it rejects. */
  answering: Answering;
  call(method: string, params?: Fields, settings?: CallSettings): Promise<Outcome>;
  /** Every item of a list, over all pages. */
  list(method: ListMethod): Promise<readonly Fields[]>;
  /** Several calls in one frame. One outcome if the frame is refused as a whole. */
  batch(calls: readonly BatchedCall[]): Promise<readonly Outcome[]>;
  setLogLevel(level: LoggingLevel): Promise<Outcome>;
  follow(filter: SubscriptionFilter): Promise<Following>;
  /** Resolves when the server has given a sign of life. */
  ping(): Promise<void>;
  rootsChanged(): void;
  /** The notifications since the last read. */
  told(): readonly Told[];
  /** @throws Error for a call without its outcome, or a frame that nobody has read */
  assertAtRest(): void;
  close(): Promise<void>;
}

/** Who drives: the client of this library, or a peer that writes and reads frames by hand. */
export type DriverKind = "client" | "raw peer";

/** A server on HTTP, and how it is reached. */
export interface HttpTarget {
  readonly url: string;
  readonly fetch: (url: URL | string, init: RequestInit) => Promise<Response>;
}

/** The settings of a driver. */
export interface Opening {
  readonly revision: string;
  /** The revision of the server at the other end of a bridge. */
  readonly far?: string;
  readonly channel: Channel;
  /** Where the client of this library connects to, if that is not the channel. */
  readonly target?: HttpTarget | undefined;
  /** Whether it declares everything that a client can be asked, or nothing. */
  readonly capable: boolean;
}

/** The lists of a server, and the member of their results that holds the items. */
export const lists = {
  "tools/list": "tools",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
  "prompts/list": "prompts",
} as const;

/** A method that gives a list. */
export type ListMethod = keyof typeof lists;
