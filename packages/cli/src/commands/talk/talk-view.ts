import type { Skipped } from "../../shared/client/exercise.js";
import type { Opening, Tally } from "../../shared/client/live-conversation.js";
import type { Observation } from "../../shared/client/observed-target.js";
import type { Failure } from "../../shared/failure.js";

/** The output of `parlance talk`. */
export interface TalkView {
  /** A conversation begins. */
  begin(revision: string | undefined): void;
  observe(observation: Observation): void;
  /** The tools that are not called. */
  skip(skipped: readonly Skipped[]): void;
  /** All calls have completed, and the conversation stays open. */
  stay(): void;
  /** A conversation is over. */
  end(outcome: TalkOutcome): void;
  /** All conversations have opened. */
  compare(outcomes: readonly TalkOutcome[]): void;
}

/** The outcome of one conversation. */
export interface TalkOutcome {
  /** The required revision. */
  readonly asked: string | undefined;
  /** The negotiated revision; undefined if there is none. */
  readonly spoken: string | undefined;
  readonly tally: Tally;
  readonly opening: Opening;
  /** Milliseconds. */
  readonly duration: number;
  /** How the server's process ended. */
  readonly ended: string | undefined;
  readonly failure: Failure | undefined;
}
