import type { Clock } from "../base/clock.js";
import { isObject, kindOf } from "../base/json.js";
import type { MaybePromise } from "../base/later.js";
import type { Exchange, RemoteCall } from "../jsonrpc/call.js";
import type { ErrorObject, Params } from "../jsonrpc/message.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import type { Implementation } from "../protocol/implementation.js";
import type { JsonObject } from "../protocol/json.js";
import type { LoggingLevel } from "../protocol/logging.js";
import type { MirroredParam } from "../protocol/mirrored-params.js";
import type { Revision } from "../revisions/revision.js";
import type { ChangeSource } from "./change-feed.js";
import type { Input } from "./input.js";
import type { Answers } from "./question.js";
import type { StateSeal } from "./state-seal.js";

/** What is known of the client that an operation is for. For display and capability checks; it is not proven. */
export interface ClientDescription {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

/** What outlives a call: the conversation that it belongs to. */
export interface OpenConversation {
  readonly clock: Clock;
  /** Aborted when the conversation is over. */
  readonly ended: AbortSignal;
  /** Sends the client a request that belongs to no call of its own. */
  readonly callback: RemoteCall;
  /** Does nothing once the connection is closed. Never throws. */
  notify(method: string, params?: Params): void;
  /** Resolves when the channel can take more. */
  drained(): Promise<void>;
  /** What the peer may see of anything that a call of `method` has thrown; the rest is reported. */
  failure(method: string, thrown: unknown, params?: Params): ErrorObject;
  /** Closes the connection. */
  close(): void;
}

/** A client that wants to be served, as far as it is known before anything is answered. */
export interface Newcomer extends ClientDescription {
  readonly revision: Revision;
  /** Whom the carrier has authenticated. */
  readonly principal: string | undefined;
  /** What its limits are counted by, as in `Exchange`. */
  readonly peer: string | undefined;
  /** Undefined in the stateless era: there it is who makes one call. */
  readonly conversation: OpenConversation | undefined;
}

/** The surroundings of one operation on a server: the exchange, and what the lifecycle knows of the caller. */
export interface Operation extends Exchange {
  /**
   * Tells the caller what its revision has a notification for, and of log messages those that it wants.
   * @throws TypeError for a `_meta` whose keys do not have the form that the specification asks for
   */
  notify(method: string, params?: Params): void;
  /** Asks the client only what it has declared and its revision has; in the stateless era there is no way back. */
  readonly callback?: RemoteCall | undefined;
  /** The revision that this operation speaks. Results are given in the newest shape all the same. */
  readonly revision: Revision;
  readonly client: ClientDescription;
  /** The least severe log message that the caller wants; undefined for none. */
  readonly logLevel: LoggingLevel | undefined;
  /** How to ask the client; undefined where the method, the carrier or the revision lets nobody ask. */
  readonly input: Input | undefined;
  /** The answers to questions that a handler asked by returning `inputRequired`, and what it kept for itself. */
  readonly returned: { readonly answers: Answers; readonly state: unknown };
  /** Undefined in the stateless era, where nothing outlives a call. */
  readonly conversation?: OpenConversation | undefined;
}

/**
 * @param what the function that was called
 * @throws TypeError for what is no server, with what to give instead
 */
export function requireServed(what: string, served: unknown): asserts served is Served {
  if (isObject(served) && typeof served.run === "function" && typeof served.capabilities === "function") return;
  if (isOfficial(served)) throw new TypeError(`${what} was given a server of the official SDK: ${officialRemedy}`);
  const remedy = "give it what createServer of @parlance/mcp/server returns";
  throw new TypeError(`${what} needs a server, got ${kindOf(served)}: ${remedy}`);
}

/** What is to be done with a server of the official SDK. */
export const officialRemedy =
  "make one with createServer of @parlance/mcp/server, or let the SDK serve it on a transport of its own";

/** Whether it is a `McpServer` or `Server` of the official SDK. */
export function isOfficial(value: unknown): boolean {
  if (!isObject(value) || typeof value.connect !== "function") return false;
  return typeof value.registerTool === "function" || typeof value.setRequestHandler === "function";
}

/** Runs an operation. Params and result have the newest shape; a result is an object, or undefined for an empty one. */
export type OperationCall = (method: string, params: JsonObject, operation: Operation) => unknown;

/** What a lifecycle needs of a server: the same for every carrier and every revision. */
export interface Served {
  readonly info: Implementation;
  /** A hint for the model. */
  readonly instructions: string | undefined;
  capabilities(): ServerCapabilities;
  /** Whether `run` has the method at all. */
  knows(method: string): boolean;
  /** The arguments of a tool that HTTP carries in headers too; none for what is no tool. */
  mirroredParams(tool: unknown): readonly MirroredParam[];
  readonly run: OperationCall;
  /** Tells of changes. A conversation listens while it is open, and must stop when it is over. */
  readonly changes: ChangeSource;
  /**
   * Keeps what calls have to remember while their clients answer questions. Undefined for a server that does so itself:
   * then the answers and the state of a call come to `run` as they are.
   */
  readonly stateSeal: StateSeal | undefined;
  /** Whether params come with their numbers as they were written, for what passes them on. Default: false. */
  readonly exactNumbers?: boolean;
  /**
   * Another server for each client, where this one only stands before it; asked before the client is answered.
   * @throws RpcError what the client is answered instead
   */
  meet?(newcomer: Newcomer): MaybePromise<Served>;
  /** Takes what a client tells outside of its calls, in the order in which it does. */
  hear?(method: string, params: Params | undefined): void;
}
