import type { Skipped } from "../../shared/client/exercise.js";
import type { Opening, Tally } from "../../shared/client/live-conversation.js";
import type { Observation } from "../../shared/client/observed-target.js";
import type { Failure } from "../../shared/failure.js";

/** Where `parlance talk` shows what happens. */
export interface TalkView {
  /** A conversation begins. */
  begin(revision: string | undefined): void;
  observe(observation: Observation): void;
  /** The tools that are not called. */
  skip(skipped: readonly Skipped[]): void;
  /** Everything is done, and the conversation stays open. */
  stay(): void;
  /** A conversation is over. */
  end(outcome: TalkOutcome): void;
  /** All conversations have opened. */
  compare(outcomes: readonly TalkOutcome[]): void;
}

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
