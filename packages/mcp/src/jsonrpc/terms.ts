import { type Clock, systemClock } from "../base/clock.js";
import type { Problem } from "./check.js";
import { type Decoded, decode, encodeFailure, withExactNumbers } from "./codec.js";
import { codes, type ErrorMapper, explainCode } from "./errors.js";
import { type Limits, serverLimits } from "./limits.js";
import type { ErrorObject } from "./message.js";
import { baseProfile, type Profile } from "./profile.js";
import type { Reporter } from "./report.js";

/** What can be set about how messages are read and answered. */
export interface TermsOptions {
  /** Default: `baseProfile`, the specification. */
  readonly profile?: Profile;
  /** Bounds that differ from the defaults (`serverLimits`). */
  readonly limits?: Partial<Limits>;
  /** Turns exceptions of the application into errors that the peer may see. */
  readonly mapError?: ErrorMapper;
  /** Receives what no caller is told of. Default: nothing is reported. */
  readonly report?: Reporter;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /**
   * Whether a number that a double would write otherwise (`12345678901234567890`, `1.0`) comes as an `ExactNumber`, inside of
   * params, results and data of errors: for what passes them on. Default: false, every number is a double.
   */
  readonly exactNumbers?: boolean;
}

/** The settled terms of a conversation. The profile changes when the peers agree on a revision. */
export interface Terms {
  profile: Profile;
  readonly limits: Limits;
  readonly mapError: ErrorMapper | undefined;
  readonly report: Reporter;
  readonly clock: Clock;
  readonly exactNumbers: boolean;
}

export function termsOf(options: TermsOptions): Terms {
  const { report } = options;
  return {
    profile: options.profile ?? baseProfile,
    limits: { ...serverLimits, ...options.limits },
    mapError: options.mapError,
    report: report === undefined ? () => undefined : guarded(report),
    clock: options.clock ?? systemClock,
    exactNumbers: options.exactNumbers ?? false,
  };
}

/** Reads a frame on these terms. Never throws. */
export function decodeOn({ profile, limits, exactNumbers }: Terms, frame: string, spoken: Profile = profile): Decoded {
  const decoded = decode(frame, spoken, limits);
  return exactNumbers ? withExactNumbers(decoded, frame) : decoded;
}

/** A listener that throws must not end the conversation it listens to. */
function guarded(report: Reporter): Reporter {
  return (each) => {
    try {
      report(each);
    } catch {
      // There is nobody left to tell.
    }
  };
}

/** The answer to something that is not a message; undefined where the profile gives none. */
export function answerToProblem(problem: Problem, profile: Profile): string | undefined {
  if (problem.subject === "response") return undefined;
  if (problem.subject === "notification" && !isAnswerable(problem, profile)) return undefined;
  return encodeFailure(problem.id, problemError(problem), profile);
}

/** A notification is never answered; in plain JSON-RPC one with faulty params is an invalid request instead. */
function isAnswerable({ code }: Problem, profile: Profile): boolean {
  return profile.answersFaultyNotifications && code === codes.invalidRequest;
}

/** The spec's own message for the code; the reason and the place in `data`. */
export function problemError({ code, reason, pointer }: Problem): ErrorObject {
  const data = code === codes.parseError ? { reason } : { reason, pointer };
  return { code, message: explainCode(code).name, data };
}
