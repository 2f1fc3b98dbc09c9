import type { Skipped } from "../../shared/client/conversation.js";
import type { Observation } from "../../shared/client/observed-target.js";
import type { TalkOutcome } from "./talk-outcome.js";

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
