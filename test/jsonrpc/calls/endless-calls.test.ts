import type { Exchange } from "@parlance/mcp/jsonrpc";
import { ExactNumber, memoryChannels, openConnection } from "@parlance/mcp/jsonrpc";
import { createFakeClock, pair, rawPeer } from "@parlance/mcp/testing";
import { expect, test } from "vitest";
import { turn as nextTurn } from "../../testing/talks.js";

/** A call that has no end of its own: it lasts until the connection waits for it, or does not want it any more. */
function untilClosing({ closing, signal }: Exchange): Promise<string> {
  return new Promise((resolve) => {
    const end = (why: string) => (): void => resolve(why);
    closing?.addEventListener("abort", end("closing"));
    signal.addEventListener("abort", end("cancelled"));
  });
}

test("a drain ends a call that has no end of its own, and waits for nothing", async () => {
  await using ends = pair({ far: { handle: (_method, _params, exchange) => untilClosing(exchange) } });
  const called = ends.near.call("watch");
  await Promise.resolve();
  const drained = ends.far.drain(5_000);
  expect(await called).toBe("closing");
  await drained;
});

test("the end of the peer's input does as well", async () => {
  const clock = createFakeClock();
  const [near, far] = memoryChannels();
  const peer = rawPeer(near);
  const connection = openConnection(far, { clock, handle: (_method, _params, exchange) => untilClosing(exchange) });
  peer.send('{"jsonrpc":"2.0","id":1,"method":"watch"}');
  await peer.close();
  expect(await connection.closed).toEqual({ reason: "ended" });
  expect(clock.armed).toBe(0);
});

test("who looks only when the connection is closing sees that it is", async () => {
  let proceed: (() => void) | undefined;
  await using ends = pair({
    far: {
      async handle(_method, _params, exchange) {
        await new Promise<void>((resolve) => (proceed = resolve));
        return exchange.closing?.aborted;
      },
    },
  });
  const called = ends.near.call("watch");
  await nextTurn();
  const drained = ends.far.drain(5_000);
  proceed?.();
  expect(await called).toBe(true);
  await drained;
});

test("a handler gets the id of its request, unchanged", async () => {
  const ids: unknown[] = [];
  const [near, far] = memoryChannels();
  await using _connection = openConnection(far, { handle: (_method, _params, { id }) => void ids.push(id) });
  await using peer = rawPeer(near);
  for (const id of ["1", '"1"', "null", "12345678901234567890"]) {
    peer.send(`{"jsonrpc":"2.0","id":${id},"method":"a"}`);
    await peer.next();
  }
  expect(ids).toEqual([1, "1", null, new ExactNumber("12345678901234567890")]);
});
