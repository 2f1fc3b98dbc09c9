import { expect, test } from "vitest";
import { readBody } from "../../../packages/mcp/src/http/client/body.js";

/** A body that does not end, as a program's own `fetch` may give one: its signal knows nothing of it. */
function unended(chunks: number): { readonly response: Response; readonly cancelled: Promise<unknown> } {
  let cancel: (reason: unknown) => void = () => undefined;
  const cancelled = new Promise<unknown>((resolve) => {
    cancel = resolve;
  });
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    for (let count = 0; count < chunks; count += 1) controller.enqueue(new Uint8Array(10));
  };
  return { response: new Response(new ReadableStream<Uint8Array>({ start, cancel })), cancelled };
}

test("a body is read up to its bound, and the rest is let go", async () => {
  const { response, cancelled } = unended(4);
  const { bytes, isWhole } = await readBody(response, 25, new AbortController().signal);
  expect([bytes.length, isWhole]).toEqual([25, false]);
  await cancelled;
});

test("a body that is no longer needed is cancelled, of whatever kind it is", async () => {
  const { response, cancelled } = unended(1);
  const stop = new AbortController();
  const reading = readBody(response, 100, stop.signal);
  stop.abort();
  await cancelled;
  await reading;
});
