import type { Rule } from "../rule.js";

/** How responses go with requests. */
export const pairingRules: readonly Rule[] = [
  {
    id: "R-5",
    level: "bad",
    demands: "A response has the id of the request that it answers, type included, and a request has one response",
    page: "basic#responses",
    on: "message",
    *check({ context: { pairing }, id = "none" }) {
      if (pairing === undefined || pairing.is === "answer") return;
      const at = { pointer: "/id" };
      if (pairing.is === "unknown") yield { ...at, says: `no request has the id ${id}` };
      else if (pairing.is === "other type")
        yield {
          ...at,
          says: `the request in frame ${pairing.operation.request.frame.n} has the id ${pairing.operation.request.id}, which is not ${id}`,
        };
      else
        yield {
          ...at,
          says: `the request with the id ${id} was answered already, by frame ${pairing.operation.answer?.frame.n}`,
        };
    },
  },
];
