import type { Opening, Tally } from "../../shared/client/live-conversation.js";
import type { Failure } from "../../shared/failure.js";

/** One conversation, when it has had its say. */
export interface TalkOutcome {
  /** The revision that was insisted on. */
  readonly asked: string | undefined;
  /** The revision that was spoken; undefined if nothing was agreed. */
  readonly spoken: string | undefined;
  readonly tally: Tally;
  readonly opening: Opening;
  /** Milliseconds. */
  readonly duration: number;
  /** How the server's process ended. */
  readonly ended: string | undefined;
  readonly failure: Failure | undefined;
}
