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

/** A downstream client that calls the upstream server. */
export interface CallingEnd extends NearEnd {
  call(method: string, round: Round, far: FarEnd): Promise<JsonObject>;
  /** Handles a notification from the client. */
  heard?(method: string, params: Params | undefined, far: FarEnd): void;
}

/** Change notifications are forwarded from upstream, so the bridge has no changes of its own. */
export const noChanges: ChangeSource = { size: 0, listen: () => () => undefined };

/** The upstream server as served to one downstream client. */
export class BridgedServer implements Served {
  readonly info: Implementation;
  readonly exactNumbers = true;
  readonly changes: ChangeSource = noChanges;
  /** The upstream server seals its own state; the bridge keeps held calls in memory. */
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

  /** The upstream server itself rejects unknown methods. */
  knows(): boolean {
    return true;
  }

  /** The upstream transport mirrors params into headers; the bridge does not check those of its clients. */
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
      // If the client answered an input request with an error, the call fails with that error.
      const isRefusal = thrown instanceof LocalError && thrown.cause instanceof RpcError;
      const error = isRefusal ? thrown.cause : thrown;
      if (error instanceof RpcError) throw crossedError({ method, params, error }, operation.revision);
      if (!(error instanceof LocalError) || operation.signal.aborted) throw error;
      this.#host.report({ kind: "fault", method, error });
      throw unanswered(error, this.#host.isCandid);
    }
  };
}
