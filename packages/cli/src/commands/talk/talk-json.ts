import { ExactNumber, type Id } from "@parlance/mcp/jsonrpc";
import type { Observation } from "../../shared/client/observed-target.js";
import { partsOf } from "../../shared/output/conversation-rows.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import type { Part } from "../../shared/output/rows.js";
import type { Output } from "../../shared/output/terminal.js";
import type { TalkOutcome, TalkView } from "./talk-view.js";

/** Prints conversations as JSON, one object per line; `conversation` numbers them from 1. */
export function talkJson(output: Output): TalkView {
  let conversation = 0;
  let missed = 0;
  const print = (value: object): void => output.print(jsonLine({ conversation, ...value }));
  const tellMissed = (): void => {
    if (missed > 0) print({ kind: "gap", lost: missed });
    missed = 0;
  };
  return {
    begin() {
      conversation += 1;
    },
    observe(observation) {
      if (output.isBehind) {
        missed += 1;
        return;
      }
      tellMissed();
      for (const value of observationValues(observation)) print(value);
    },
    skip(skipped) {
      for (const { tool, why } of skipped) print({ kind: "skipped", tool, why });
    },
    stay: () => undefined,
    end(outcome) {
      tellMissed();
      print(outcomeValue(outcome));
    },
    compare: () => undefined,
  };
}

/** An observation as JSON objects. */
export function observationValues(observation: Observation): readonly object[] {
  if (observation.kind !== "frame")
    return [{ kind: observation.kind, at: micro(observation.at), text: observation.text }];
  const { row } = observation;
  const { at, from, kind, entry } = row;
  const parts = partsOf(row);
  const [only] = parts;
  const common = { n: entry.n, at: micro(at), from, bytes: entry.len };
  if (kind !== "batch" && only !== undefined) return [{ ...common, ...partValue(only), raw: entry.raw }];
  return [{ ...common, kind: "batch", messages: parts.map(partValue), raw: entry.raw }];
}

function partValue({ kind, id, pair, method, latency, isError, marks }: Part): object {
  // `undefined` members are not in the JSON.
  return {
    kind,
    id: idValue(id),
    pair,
    method,
    latency: latency === undefined ? undefined : micro(latency),
    isError,
    violation: marks.find(({ level }) => level === "must")?.text,
  };
}

/** An id that JSON.stringify would change is printed as text; `raw` has the original. */
function idValue(id: Id | undefined): unknown {
  return id instanceof ExactNumber ? id.text : id;
}

function outcomeValue({ asked, spoken, tally, opening, duration, ended, failure }: TalkOutcome): object {
  const { count, bytes, operation } = opening;
  return {
    kind: "summary",
    asked,
    revision: spoken,
    ...tally,
    duration: micro(duration),
    opening: { frames: count, bytes, until: operation === undefined ? undefined : micro(operation.at) },
    ended,
    failure: failure?.message,
  };
}

/** Milliseconds with three decimals. */
function micro(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
