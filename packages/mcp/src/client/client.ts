import type { Closed, Connection } from "../jsonrpc/connection.js";
import type { NotificationListener } from "../jsonrpc/inbound.js";
import { type Dial, type OpenedOnChannel, openOnChannel } from "../lifecycle/open.js";
import type { OpenedCall, ServerDescription } from "../lifecycle/opened.js";
import type { CarrierOptions } from "../lifecycle/serve.js";
import type { Implementation } from "../protocol/implementation.js";
import { revisionOf, versions } from "../revisions/all.js";
import { ToolVerbs } from "./tools.js";

/** What can be set about a client. */
export interface ClientOptions extends CarrierOptions {
  /** What the client says of itself. Default: this library. */
  readonly info?: Implementation;
  /** A protocol revision to insist on, e.g. one of `versions`. Default: the newest that both sides speak. */
  readonly revision?: string;
  /**
   * Milliseconds to wait for an answer to the question which era the server speaks. Default: 5,000, or `timeout` if that
   * is shorter.
   */
  readonly probeTimeout?: number;
  /** Takes what the server tells outside of a call: log messages, changes. */
  readonly onNotification?: NotificationListener;
}

/** An open conversation with a server. `await using` closes it. */
export class Client implements AsyncDisposable {
  readonly tools: ToolVerbs;
  readonly #opened: OpenedOnChannel;

  /** Made by `connect`. */
  constructor(opened: OpenedOnChannel) {
    this.#opened = opened;
    this.tools = new ToolVerbs(opened.call);
  }

  /** The revision that is spoken. */
  get revision(): string {
    return this.#opened.revision.version;
  }

  /** What the server says of itself. */
  get server(): ServerDescription {
    return this.#opened.server;
  }

  /** Calls any method of the server, in the newest shape. */
  get call(): OpenedCall {
    return this.#opened.call;
  }

  /** The connection underneath: what is in flight, why it closed. */
  get connection(): Connection {
    return this.#opened.connection;
  }

  /** Resolves when the conversation is over. Never rejects. */
  get closed(): Promise<Closed> {
    return this.#opened.connection.closed;
  }

  /** Ends the conversation and waits until its carrier is gone; calls under way fail with `closed`. */
  close(): Promise<void> {
    return this.#opened.connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Opens a conversation over carriers that `dial` makes.
 * @throws RangeError for a revision that does not exist; RpcError or LocalError as the opening fails
 */
export async function openClient(dial: Dial, options: ClientOptions = {}): Promise<Client> {
  const { info = thisLibrary, revision: version, ...rest } = options;
  const revision = version === undefined ? undefined : revisionOf(version);
  if (version !== undefined && revision === undefined) {
    throw new RangeError(`There is no protocol revision ${JSON.stringify(version)}: one of ${versions.join(", ")} is`);
  }
  const identity = { info, capabilities: {} };
  return new Client(await openOnChannel(dial, { ...rest, identity, ...(revision === undefined ? {} : { revision }) }));
}

const thisLibrary: Implementation = { name: "parlance", version: "0.1.0" };
