import { LocalError, RpcError } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { JsonObject } from "../protocol/json.js";
import type { Implementation } from "../protocol/types/implementation.js";
import type { OperationCall, Servable } from "../server/servable.js";
import type { ChangeSource } from "../session/change-feed.js";
import type { Round } from "./held-calls.js";
import { translateError, translateServerCapabilities, unanswered } from "./translate.js";
import type { Downstream, Upstream, UpstreamSettings } from "./upstream.js";

/** A downstream client that calls the upstream server. */
export interface CallingDownstream extends Downstream {
  call(method: string, round: Round, upstream: Upstream): Promise<JsonObject>;
  /** Handles a notification of the client. */
  onNotification?(method: string, params: Params | undefined, upstream: Upstream): void;
}

/** Change notifications are forwarded from upstream, so the bridge has no changes of its own. */
export const noChanges: ChangeSource = { size: 0, listen: () => () => undefined };

/** The upstream server as served to one downstream client. */
export class BridgedServer implements Servable {
  readonly info: Implementation;
  readonly exactNumbers = true;
  readonly changes: ChangeSource = noChanges;
  /** The upstream server seals its own state; the bridge keeps held calls in memory. */
  readonly stateSeal = undefined;
  readonly #downstream: CallingDownstream;
  readonly #upstream: Upstream;
  readonly #settings: UpstreamSettings;

  constructor(downstream: CallingDownstream, upstream: Upstream, settings: UpstreamSettings) {
    this.info = upstream.server.info ?? settings.info;
    this.#downstream = downstream;
    this.#upstream = upstream;
    this.#settings = settings;
  }

  get instructions(): string | undefined {
    return this.#upstream.server.instructions;
  }

  capabilities(): ServerCapabilities {
    return translateServerCapabilities(this.#upstream.server, this.#upstream.revision, this.#downstream.revision);
  }

  /** The upstream server itself rejects unknown methods. */
  hasMethod(): boolean {
    return true;
  }

  /** The upstream transport mirrors params into headers; the bridge does not check those of its clients. */
  mirroredParams(): readonly [] {
    return [];
  }

  onNotification(method: string, params: Params | undefined): void {
    this.#downstream.onNotification?.(method, params, this.#upstream);
  }

  readonly run: OperationCall = async (method, params, operation) => {
    try {
      return await this.#downstream.call(method, { operation, params }, this.#upstream);
    } catch (thrown) {
      // If the client answered an input request with an error, the call fails with that error.
      const isRefusal = thrown instanceof LocalError && thrown.cause instanceof RpcError;
      const error = isRefusal ? thrown.cause : thrown;
      if (error instanceof RpcError) throw translateError({ method, params, error }, operation.revision);
      if (!(error instanceof LocalError) || operation.signal.aborted) throw error;
      this.#settings.report({ kind: "fault", method, error });
      throw unanswered(error, this.#settings.isCandid);
    }
  };
}
