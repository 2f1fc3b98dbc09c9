import { ByteBudget, processBudget } from "../base/byte-budget.js";
import type { MembersOf } from "../base/check-members.js";
import type { Clock } from "../base/clock.js";
import { escapeControls } from "../base/escape-controls.js";
import { type Decoded, decode, Problem } from "./codec/decode.js";
import { encodeFailure } from "./codec/encode.js";
import type { ResponseTolerance } from "./codec/misspelt-responses.js";
import { duplicateMemberIn } from "./codec/scan.js";
import { codes, type ErrorMapper, explainCode } from "./errors.js";
import { answered, reporterOf } from "./hooks.js";
import { type Limits, limitsMembers, serverLimits } from "./limits.js";
import type { ErrorObject, Id, Params } from "./message.js";
import { baseProfile, type Profile } from "./profile.js";
import type { Reporter } from "./report.js";
import { steadyClock } from "./steady-clock.js";

/** Options for reading and answering messages. */
export interface PeerOptions {
  /** Default: `baseProfile`, the specification. */
  readonly profile?: Profile;
  /** Bounds that differ from the defaults (`serverLimits`). */
  readonly limits?: Partial<Limits>;
  /**
   * Bounds the bytes that are kept for the peer; several connections of one peer can share it. Default: one of its own, of
   * `limits.peerBytes`.
   */
  readonly budget?: ByteBudget | undefined;
  /**
   * Turns exceptions of the application into errors that the peer may see. Default: anything but an `RpcError` becomes −32603.
   */
  readonly mapError?: ErrorMapper;
  /** Receives events that no caller sees. Default: faults but for an `RpcError`, and peers that do not read, are written to the console (stderr); the rest is dropped. */
  readonly report?: Reporter;
  /** The name that a request refers to, e.g. of a tool, for fault reports. Default: reports name only the method. */
  readonly nameOf?: (method: string, params: Params | undefined) => string | undefined;
  /** The clock of timeouts. Where it fails, the machine's takes its place, and `report` receives the fault. Default: the machine's. */
  readonly clock?: Clock;
  /**
   * Whether a number that a double would write otherwise (`12345678901234567890`, `1.0`) comes as an `ExactNumber`, inside of
   * params, results and data of errors: for what passes them on. Default: false, every number is a double.
   */
  readonly exactNumbers?: boolean;
  /** How to treat invalid responses. Default: as JSON-RPC does, so that the call may run into its timeout. */
  readonly tolerance?: ResponseTolerance;
}

/** The members of `PeerOptions`, for the check of options. */
export const peerMembers: MembersOf<PeerOptions> = {
  profile: ["object"],
  limits: limitsMembers,
  budget: ["object"],
  mapError: ["function", "onError"],
  report: ["function", "reporter", "logger", "log"],
  nameOf: ["function"],
  clock: ["object"],
  exactNumbers: ["boolean"],
  tolerance: ["string"],
};

/** The settled settings of a conversation. The profile changes when the peers agree on a revision. */
export interface PeerSettings {
  /** The rules of JSON-RPC that the peer is held to. It changes when a revision is negotiated. */
  profile: Profile;
  /** The limits on what the peer sends. */
  readonly limits: Limits;
  /** The budget that bytes kept for the peer are charged to. */
  readonly budget: ByteBudget;
  /** Converts errors of handlers to error objects; undefined for the default conversion. */
  readonly mapError: ErrorMapper | undefined;
  /** Receives what no response can say. */
  readonly report: Reporter;
  /** The name of what a request concerns, for reports: that of a tool, for example. */
  readonly nameOf: PeerOptions["nameOf"];
  /** The clock of timeouts. */
  readonly clock: Clock;
  /** Whether numbers that a double cannot hold are kept as `ExactNumber`. */
  readonly exactNumbers: boolean;
  /** Deviations of responses that are accepted; undefined for none. */
  readonly tolerance: ResponseTolerance | undefined;
}

export function peerSettings(options: PeerOptions): PeerSettings {
  const report = reporterOf(options.report);
  const { nameOf } = options;
  const limits = options.limits === undefined ? serverLimits : { ...serverLimits, ...options.limits };
  return {
    profile: options.profile ?? baseProfile,
    limits,
    budget: options.budget?.child() ?? budgetOf(limits),
    mapError: options.mapError,
    report,
    nameOf: nameOf && ((method, params) => answered("nameOf", () => nameOf(method, params), report)),
    clock: steadyClock(options.clock, report),
    exactNumbers: options.exactNumbers ?? false,
    tolerance: options.tolerance,
  };
}

/** A budget for one peer. */
export function budgetOf({ peerBytes, processBytes }: Limits): ByteBudget {
  return new ByteBudget(peerBytes, processBudget, processBytes);
}

/**
 * Decodes the body of a POST, and refuses one with a duplicate member: a gateway that checks bodies may read the other one.
 * On other transports no gateway reads the frames, and `JSON.parse` takes the last of the two.
 */
export function decodeBody(settings: PeerSettings, body: string, profile: Profile = settings.profile): Decoded {
  const decoded = decode(body, profile, settings.limits, settings.exactNumbers);
  const pointer = decoded instanceof Problem ? undefined : duplicateMemberIn(body, decoded);
  if (pointer === undefined) return decoded;
  const { id, method } = decoded as { readonly id?: Id; readonly method?: string }; // Those of a batch are in its elements.
  const single = method === undefined ? "response" : id === undefined ? "notification" : "request";
  const subject = Array.isArray(decoded) ? "unknown" : single;
  const reason = `${escapeControls(shorten(pointer))} is there twice: send each member once`;
  return new Problem(codes.invalidRequest, reason, pointer, pointer === "/id" ? undefined : id, subject);
}

/** A name of a peer as it may stand in a message. */
function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 99)}…`;
}

/** The answer to something that is not a message; undefined where the profile gives none. */
export function responseToProblem(problem: Problem, profile: Profile): string | undefined {
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
