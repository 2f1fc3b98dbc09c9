import { type CheckReport, latencyOf, pairOf, type Row, type Verdict, type WireMessage } from "@parlance/wire";
import { milliseconds } from "../monotonic.js";

type Pending = CheckReport["pending"][number]["pending"];

/** A row as JSON: the entry, with the messages, pairs and verdicts of the conversation. */
export function rowValue(row: Row): object {
  const { kind, n, at, from, session, messages, verdicts, unjudged, entry } = row;
  const [only] = messages;
  // `undefined` members are not in the JSON.
  return {
    n,
    at: milliseconds(at),
    from,
    kind,
    session: session?.name,
    ...(messages.length === 1 && only !== undefined ? messageValue(only) : {}),
    messages: messages.length > 1 ? messages.map(messageValue) : undefined,
    verdicts: verdicts.map(verdictValue),
    unjudged,
    entry,
  };
}

function messageValue(message: WireMessage): object {
  const latency = latencyOf(message);
  return {
    kind: message.kind,
    /** The literal, so that no digit is lost. */
    id: message.id,
    method: message.method ?? message.concerns?.request.method,
    names: message.concerns?.request.names ?? message.names,
    pair: pairOf(message),
    latency: latency === undefined ? undefined : milliseconds(latency),
  };
}

/** A verdict as JSON. */
type VerdictValue = Omit<Verdict, "rule"> & {
  /** The id of the rule. */
  readonly rule: string;
  readonly demands: string;
};

/** The JSON of a verdict. */
export function verdictValue(verdict: Verdict): VerdictValue {
  const { rule, level, party, n, pointer, range, header, says, version, sentence, doubt, spec } = verdict;
  const { id, demands } = rule;
  return { rule: id, level, party, n, pointer, range, header, says, demands, version, sentence, doubt, spec };
}

/** A request without a response as JSON. */
export function pendingValue({ operation, session, waited, over, state, reason }: Pending): object {
  const { frame, id, method } = operation.request;
  return { n: frame.n, session: session.name, id, method, waited: milliseconds(waited), over, state, reason };
}
