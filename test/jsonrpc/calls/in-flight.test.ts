import fc from "fast-check";
import { expect, test } from "vitest";
import { InFlight } from "../../../packages/mcp/src/jsonrpc/calls/in-flight.js";

type Received = Parameters<InFlight["run"]>[0];
type Called = Parameters<InFlight["call"]>[0];

test("an id is in flight from its request to its response or cancellation, in whatever order calls end", () => {
  const ids = [0, 1, 2, 3];
  const step = fc.record({ id: fc.constantFrom(...ids), isCancelled: fc.boolean(), outlives: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const inFlight = new InFlight();
      const open = new Map<number, Received>();
      let outliving: Received[] = []; // Handlers of cancelled calls, whose ids may be in use again.
      for (const { id, isCancelled, outlives } of steps) {
        const call = open.get(id);
        if (call === undefined) {
          const received = { key: id, isLongLived: false, over: false };
          open.set(id, received);
          inFlight.run(received);
        } else {
          open.delete(id);
          if (isCancelled) inFlight.cancel(call);
          if (isCancelled && outlives) outliving.push(call);
          else inFlight.settle(call);
        }
        expect(ids.map((each) => inFlight.incoming(each))).toEqual(ids.map((each) => open.get(each)));
        expect(new Set(inFlight.incomingCalls())).toEqual(new Set(open.values()));
        expect(inFlight.counts.running).toBe(open.size + outliving.length);
        if (outlives) {
          for (const each of outliving) inFlight.settle(each);
          outliving = [];
        }
      }
    }),
  );
});

test("a call has its own outcome, in whatever order responses come", () => {
  const ids = [0, 1, 2, 3];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...ids), { maxLength: 40 }), (steps) => {
      const inFlight = new InFlight();
      const open = new Map<number, Called>();
      for (const id of steps) {
        const call = open.get(id) ?? { id, options: {} };
        if (open.delete(id)) inFlight.outcome(call);
        else {
          open.set(id, call);
          inFlight.call(call);
        }
        expect(ids.map((each) => inFlight.outgoing(each))).toEqual(ids.map((each) => open.get(each)));
        expect(new Set(inFlight.outgoingCalls())).toEqual(new Set(open.values()));
        expect(inFlight.calling).toBe(open.size);
      }
    }),
  );
});
