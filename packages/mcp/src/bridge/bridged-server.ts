import { LocalError, RpcError } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import type { ChangeSource } from "../lifecycle/change-feed.js";
import type { OperationCall, Served } from "../lifecycle/served.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { Implementation } from "../protocol/implementation.js";
import type { JsonObject } from "../protocol/json.js";
import { crossedError, offeredAcross, unanswered } from "./crossing.js";
import type { FarEnd, FarEndHost, NearEnd } from "./far-end.js";
import type { Round } from "./held-calls.js";

/** A near end that makes calls on a far end. */
export interface CallingEnd extends NearEnd {
  call(method: string, round: Round, far: FarEnd): Promise<JsonObject>;
  /** Takes what the client tells outside of calls. */
  heard?(method: string, params: Params | undefined, far: FarEnd): void;
}

/** What is told of changes crosses as it comes, and not as a change of this server. */
export const noChanges: ChangeSource = { size: 0, listen: () => () => undefined };

/** The far server as one near end sees it. */
export class BridgedServer implements Served {
  readonly info: Implementation;
  readonly exactNumbers = true;
  readonly changes: ChangeSource = noChanges;
  /** The far server keeps its own, and what it needs of this side is kept with the calls. */
  readonly stateSeal = undefined;
  readonly #near: CallingEnd;
  readonly #far: FarEnd;
  readonly #host: FarEndHost;

  constructor(near: CallingEnd, far: FarEnd, host: FarEndHost) {
    this.info = far.server.info ?? host.info;
    this.#near = near;
    this.#far = far;
    this.#host = host;
  }

  get instructions(): string | undefined {
    return this.#far.server.instructions;
  }

  capabilities(): ServerCapabilities {
    return offeredAcross(this.#far.server, this.#far.revision, this.#near.revision);
  }

  /** What it does not know it says itself. */
  knows(): boolean {
    return true;
  }

  /** The far carrier mirrors what it has to; nothing behind this one reads headers. */
  mirroredParams(): readonly [] {
    return [];
  }

  hear(method: string, params: Params | undefined): void {
    this.#near.heard?.(method, params, this.#far);
  }

  readonly run: OperationCall = async (method, params, operation) => {
    try {
      return await this.#near.call(method, { operation, params }, this.#far);
    } catch (thrown) {
      // A client that does not answer says why, and its words are what the call comes to.
      const isRefusal = thrown instanceof LocalError && thrown.cause instanceof RpcError;
      const error = isRefusal ? thrown.cause : thrown;
      if (error instanceof RpcError) throw crossedError({ method, params, error }, operation.revision);
      if (!(error instanceof LocalError) || operation.signal.aborted) throw error;
      this.#host.report({ kind: "fault", method, error });
      throw unanswered(error, this.#host.isCandid);
    }
  };
}
