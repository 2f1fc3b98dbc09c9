import type { RawTraffic } from "./exchange.js";
import type { SendView } from "./view.js";

/** How something is sent, whatever the carrier. */
export interface SendOptions {
  /** The version of the handshake that comes first, if one does. */
  readonly opening: string | undefined;
  /** Milliseconds to listen; undefined: until it is quiet. */
  readonly wait: number | undefined;
  /** Milliseconds to wait for an answer. */
  readonly timeout: number;
  readonly stop: AbortSignal;
  readonly view: SendView;
  readonly traffic: RawTraffic;
}
