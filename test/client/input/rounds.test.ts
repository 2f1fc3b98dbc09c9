import { type InputHandlers, LocalError } from "@parlance/mcp/client";
import { describe, expect, test } from "vitest";
import { type Frame, modern, notification, parse, success } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";
import { errorOf, type Opened, openWith } from "../session/openings.js";

const done = { resultType: "complete", content: [{ type: "text", text: "done" }] };
const who = {
  method: "elicitation/create",
  params: { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
};
const answers: InputHandlers = {
  elicitation: () => ({ action: "accept", content: { name: "Ada" } }),
  roots: [{ uri: "file:///home" }],
};

/** The params that a program has given, without what the client says of itself. */
function given({ params = {} }: Frame): object {
  const { _meta, ...rest } = params;
  return rest;
}

/** The server reads the next request, and answers it. */
async function answer({ peer }: Opened, result: object): Promise<Frame> {
  const asked = parse(await peer.next());
  peer.send(success(asked.id ?? "", result));
  return asked;
}

describe("a result that asks for input", () => {
  test("is answered, and the call made again, until it is complete", async () => {
    await using open = await openWith(modern, { handlers: answers });
    const call = open.client.tools.call("book", { seat: 1 });
    await answer(open, { resultType: "input_required", inputRequests: { who }, requestState: "one" });
    const second = await answer(open, {
      resultType: "input_required",
      inputRequests: { where: { method: "roots/list" } },
      requestState: "two",
    });
    const third = await answer(open, done);
    expect(await call).toEqual(done);
    const asked = { name: "book", arguments: { seat: 1 } };
    expect(given(second)).toEqual({
      ...asked,
      inputResponses: { who: { action: "accept", content: { name: "Ada" } } },
      requestState: "one",
    });
    expect(given(third)).toEqual({
      ...asked,
      inputResponses: { where: { roots: [{ uri: "file:///home" }] } },
      requestState: "two",
    });
    expect(new Set([second.id, third.id]).size).toBe(2);
  });

  test("may give no state, and then none goes back", async () => {
    await using open = await openWith(modern, { handlers: answers });
    const call = open.client.tools.call("book");
    await answer(open, { resultType: "input_required", inputRequests: { who } });
    expect(given(await answer(open, done))).not.toHaveProperty("requestState");
    await call;
  });

  test("without questions is asked again after a while, with its state alone", async () => {
    await using open = await openWith(modern, { handlers: answers });
    const call = open.client.tools.call("book");
    await answer(open, { resultType: "input_required", requestState: "later" });
    await turn();
    expect(open.sent).toHaveLength(2);
    open.clock.advance(100);
    expect(given(await answer(open, done))).toEqual({ name: "book", arguments: {}, requestState: "later" });
    await call;
  });

  test("leaves its answers and its state with no other call", async () => {
    await using open = await openWith(modern, { handlers: answers });
    const call = open.client.tools.call("book");
    await answer(open, { resultType: "input_required", inputRequests: { who }, requestState: "one" });
    await answer(open, done);
    await call;
    const other = open.client.tools.call("book");
    expect(given(await answer(open, done))).toEqual({ name: "book", arguments: {} });
    await other;
  });

  test.each([
    ["prompts/get", (open: Opened) => open.client.prompts.get("p"), { messages: [] }],
    ["resources/read", (open: Opened) => open.client.resources.read("a:b"), { contents: [] }],
  ])("may be that of %s", async (_, call, result) => {
    await using open = await openWith(modern, { handlers: answers }, { prompts: {}, resources: {} });
    const outcome = call(open);
    await answer(open, { resultType: "input_required", inputRequests: { who } });
    await answer(open, { resultType: "complete", ...result });
    expect(await outcome).toMatchObject(result);
  });

  test("may not be that of a list", async () => {
    await using open = await openWith(modern, { handlers: answers });
    const list = errorOf(open.client.tools.list().all());
    await answer(open, { resultType: "input_required", inputRequests: { who } });
    expect(await list).toMatchObject({ reason: "protocol" });
  });

  test.each<[string, object, RegExp]>([
    ["nothing at all", {}, /neither inputRequests nor requestState/],
    ["with an invalid state", { requestState: 5 }, /requestState is not a string/],
    ["in no object", { inputRequests: [] }, /inputRequests is not an object/],
    ["without a method", { inputRequests: { who: {} } }, /names no method/],
    ["with params that are none", { inputRequests: { who: { method: "roots/list", params: 1 } } }, /params/],
    [
      "for what no server may ask",
      { inputRequests: { who: { method: "tools/list" } } },
      /"tools\/list" is no input request/,
    ],
    ["for what was not offered", { inputRequests: { who: { method: "sampling/createMessage" } } }, /cannot handle/],
    ["with an invalid form", { inputRequests: { who: { method: who.method, params: {} } } }, /\/message/],
    [
      "too much",
      { inputRequests: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`q${at}`, who])) },
      /more than 100/,
    ],
  ])("that asks %s is invalid, and calls no handler", async (_, required, why) => {
    const bothered: InputHandlers = {
      elicitation: () => {
        throw new Error("somebody was bothered");
      },
    };
    await using open = await openWith(modern, { handlers: bothered });
    const call = errorOf(open.client.tools.call("book"));
    await answer(open, { resultType: "input_required", ...required });
    const error = await call;
    expect(error).toMatchObject({ name: "LocalError", reason: "protocol" });
    expect(error.message).toMatch(why);
  });

  test("ten times is one that does not end", async () => {
    await using open = await openWith(modern, { handlers: answers });
    const call = errorOf(open.client.tools.call("book"));
    for (let round = 1; round <= 10; round += 1) {
      await answer(open, { resultType: "input_required", inputRequests: { who } });
    }
    expect(await call).toEqual(new LocalError("protocol", "tools/call: the server still requests input in round 10"));
  });

  test("and that has no handler fails the call, with the name of the input request", async () => {
    const throwing: InputHandlers = {
      elicitation: () => {
        throw new Error("the window is gone");
      },
    };
    await using open = await openWith(modern, { handlers: throwing });
    const call = errorOf(open.client.tools.call("book"));
    await answer(open, { resultType: "input_required", inputRequests: { who } });
    expect(await call).toMatchObject({
      reason: "refused",
      message:
        'tools/call: its input request "who" (elicitation/create) was not answered: handlers.elicitation failed: Error: the window is gone',
    });
  });
});

describe("while a person answers,", () => {
  const slow = (seen: AbortSignal[]): InputHandlers => ({
    elicitation: (_params, { signal }) => {
      seen.push(signal);
      return new Promise(() => undefined);
    },
  });
  const ask = async (open: Opened): Promise<void> => {
    await answer(open, { resultType: "input_required", inputRequests: { who } });
    await turn();
  };

  test("the call can be cancelled, which aborts the signal of the dialog", async () => {
    const seen: AbortSignal[] = [];
    await using open = await openWith(modern, { handlers: slow(seen) });
    const cancel = new AbortController();
    const call = errorOf(open.client.tools.call("book", {}, { signal: cancel.signal }));
    await ask(open);
    cancel.abort();
    expect(await call).toMatchObject({ reason: "cancelled" });
    expect(seen[0]?.aborted).toBe(true);
  });

  test("the time of the call runs out", async () => {
    const seen: AbortSignal[] = [];
    await using open = await openWith(modern, { handlers: slow(seen) });
    const call = errorOf(open.client.tools.call("book", {}, { totalTimeout: 5_000 }));
    await ask(open);
    open.clock.advance(5_000);
    expect(await call).toEqual(new LocalError("timeout", "tools/call: no response within 5000 ms (totalTimeout)"));
    expect(seen[0]?.aborted).toBe(true);
  });

  test("the time between two signs of the server does not run", async () => {
    const resolved: (() => void)[] = [];
    const elicit: InputHandlers["elicitation"] = () =>
      new Promise((resolve) => resolved.push(() => resolve({ action: "decline" })));
    await using open = await openWith(modern, { handlers: { elicitation: elicit } });
    const call = open.client.tools.call("book", {}, { timeout: 1_000 });
    await ask(open);
    open.clock.advance(100_000);
    resolved[0]?.();
    expect(given(await answer(open, done))).toMatchObject({ inputResponses: { who: { action: "decline" } } });
    await call;
  });

  test("the server can go away", async () => {
    const seen: AbortSignal[] = [];
    await using open = await openWith(modern, { handlers: slow(seen) });
    const call = errorOf(open.client.tools.call("book"));
    await ask(open);
    await open.peer.close();
    expect(await call).toMatchObject({ reason: "closed" });
    expect(seen[0]?.aborted).toBe(true);
  });
});

test("progress of every round reaches the caller", async () => {
  const progress: number[] = [];
  await using open = await openWith(modern, { handlers: answers });
  const call = open.client.tools.call("book", {}, { onProgress: (each) => void progress.push(each.progress) });
  for (const result of [{ resultType: "input_required", inputRequests: { who } }, done]) {
    const asked = parse(await open.peer.next());
    const meta = asked.params?._meta as { readonly progressToken: number } | undefined;
    open.peer.send(notification("notifications/progress", { ...meta, progress: progress.length + 1 }));
    open.peer.send(success(asked.id ?? "", result));
  }
  await call;
  expect(progress).toEqual([1, 2]);
});

test("a server of a handshake that seems to ask in its result does not ask", async () => {
  await using open = await openWith("2025-11-25", { handlers: { roots: [] } });
  const call = open.client.call("acme/do");
  const result = { resultType: "input_required", requestState: "state" };
  open.peer.send(success(parse(await open.peer.next()).id ?? "", result));
  expect(await call).toEqual(result);
});
