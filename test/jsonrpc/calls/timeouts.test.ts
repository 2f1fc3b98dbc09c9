import { LocalError } from "@parlance/mcp/jsonrpc";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { requestText, successText } from "../held.js";
import { overMemory, transports, turn } from "../transports.js";

const cancellation = { method: "$/cancelRequest", idMember: "id" };

/** A peer's notification `$/progress` belongs to the call whose tag it carries. */
function relatedTo(method: string, params: unknown): string | undefined {
  return method === "$/progress" ? (params as { token: string }).token : undefined;
}

const progress = '{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","done":1}}';

test.each(transports)(
  "without a message of the peer a call fails, and the peer is notified: $name",
  async ({ open }) => {
    await using talk = open({ cancellation, timeout: 1_000 });
    const call = talk.connection.call("get");
    const failed = expect(call).rejects.toThrow(
      new LocalError("timeout", "get (id 1): no response or notification for 1000 ms"),
    );
    expect(await talk.peer.next()).toBe(requestText("1", "get"));
    talk.clock.advance(999);
    await turn();
    expect(talk.connection.inFlight.outgoing).toBe(1);
    talk.clock.advance(1);
    await failed;
    expect(await talk.peer.next()).toBe(
      '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"reason":"timeout"}}',
    );
    talk.peer.send(successText("1", '"late"'));
  },
);

describe("how long a call may take", () => {
  test.each<[name: string, connection: object, call: object, milliseconds: number]>([
    ["is a minute unless something else is said", {}, {}, 60_000],
    ["is set for a connection", { timeout: 5 }, {}, 5],
    ["is set for a call", { timeout: 5 }, { timeout: 7 }, 7],
    ["is at most the total of the connection", { timeout: 50, totalTimeout: 9 }, {}, 9],
    ["is at most the total of the call", { totalTimeout: 9 }, { timeout: 50, totalTimeout: 11 }, 11],
    ["is ten minutes when silence does not count", { timeout: Number.POSITIVE_INFINITY }, {}, 600_000],
    ["may be longer than a timer of the runtime", { timeout: 2 ** 33, totalTimeout: 2 ** 33 }, {}, 2 ** 33],
    ["may be nothing", { timeout: 0 }, {}, 0],
  ])("%s", async (_name, connection, options, milliseconds) => {
    await using talk = overMemory(connection);
    const outcomes: unknown[] = [];
    void talk.connection.call("get", undefined, options).catch((error: unknown) => outcomes.push(error));
    await talk.peer.next();
    talk.clock.advance(Math.max(0, milliseconds - 1));
    await turn();
    if (milliseconds > 0) expect(outcomes).toEqual([]);
    talk.clock.advance(1);
    await turn();
    expect(outcomes).toEqual([expect.objectContaining({ reason: "timeout" })]);
  });

  test.each<[string, connection: object, call: object, got: string]>([
    ["timeout of a call", {}, { timeout: -0.5 }, "-0.5 and 600000"],
    ["totalTimeout of a call", {}, { totalTimeout: -1 }, "60000 and -1"],
    ["timeout of a connection", { timeout: -5 }, {}, "-5 and 600000"],
    ["totalTimeout of a connection", { totalTimeout: -1 }, {}, "60000 and -1"],
  ])("must not be below zero: %s", async (_name, connection, options, got) => {
    await using talk = overMemory(connection);
    await expect(talk.connection.call("get", undefined, options)).rejects.toThrow(
      new LocalError("refused", `get (id 1): timeout and totalTimeout must be 0 ms or more, got ${got}`),
    );
  });

  test("must be a number: no other would ever end a call", async () => {
    expect(() => overMemory({ totalTimeout: Number.NaN })).toThrow("totalTimeout: expected a number, got NaN");
    await using talk = overMemory();
    const given = { timeout: "5000" as unknown as number };
    await expect(talk.connection.call("get", undefined, given)).rejects.toThrow(
      'get: timeout: expected a number, got "5000": write Number(value)',
    );
  });

  test("is for ever when both are lifted", async () => {
    await using talk = overMemory();
    const patient = { timeout: Number.POSITIVE_INFINITY, totalTimeout: Number.POSITIVE_INFINITY };
    const call = talk.connection.call("get", undefined, patient);
    await talk.peer.next();
    talk.clock.advance(2 ** 50);
    talk.peer.send(successText("1", "1"));
    expect(await call).toBe(1);
  });

  test("is counted for each call on its own", async () => {
    await using talk = overMemory({ timeout: 100 });
    const order: number[] = [];
    const call = (timeout: number): Promise<unknown> =>
      talk.connection.call("get", undefined, { timeout }).catch(() => order.push(timeout));
    const calls = [call(30), call(10), call(20)];
    for (const _ of calls) await talk.peer.next();
    for (let time = 0; time < 30; time += 1) {
      talk.clock.advance(1);
      await turn();
    }
    await Promise.all(calls);
    expect(order).toEqual([10, 20, 30]);
  });
});

describe("a notification for a call", () => {
  test("is handed to it in order, before its result, and puts its timeout off", async () => {
    await using talk = overMemory({ timeout: 1_000, relatedTo });
    const seen: unknown[] = [];
    const call = talk.connection.call("get", undefined, {
      tag: "t",
      notify: (method, params) => void seen.push([method, params]),
    });
    await talk.peer.next();
    for (let turns = 0; turns < 5; turns += 1) {
      talk.clock.advance(999);
      talk.peer.send(progress);
      await turn();
    }
    talk.peer.send(progress);
    talk.peer.send(successText("1", '"done"'));
    expect(await call).toBe("done");
    expect(seen).toEqual(Array.from({ length: 6 }, () => ["$/progress", { token: "t", done: 1 }]));
  });

  test("does not put its total timeout off", async () => {
    await using talk = overMemory({ timeout: 1_000, totalTimeout: 2_500, relatedTo });
    const call = talk.connection.call("get", undefined, { tag: "t" });
    const failed = expect(call).rejects.toThrow(
      new LocalError("timeout", "get (id 1): no response within 2500 ms (totalTimeout)"),
    );
    await talk.peer.next();
    for (let turns = 0; turns < 5; turns += 1) {
      talk.peer.send(progress);
      await turn();
      talk.clock.advance(500);
    }
    await failed;
  });

  test("puts off no other call", async () => {
    await using talk = overMemory({ timeout: 1_000, relatedTo });
    const told = talk.connection.call("told", undefined, { tag: "t" });
    const silent = talk.connection.call("silent", undefined, { tag: "u" });
    const failed = expect(silent).rejects.toMatchObject({ reason: "timeout" });
    await talk.peer.next();
    await talk.peer.next();
    talk.clock.advance(600);
    talk.peer.send(progress);
    await turn();
    talk.clock.advance(600);
    await failed;
    talk.peer.send(successText("1", "1"));
    expect(await told).toBe(1);
  });

  test("that comes when its call is over goes to the listener, like one that belongs to none", async () => {
    const told: unknown[] = [];
    await using talk = overMemory({ relatedTo, onNotification: (method) => told.push(method) });
    const call = talk.connection.call("get", undefined, { tag: "t", notify: () => told.push("the call") });
    await talk.peer.next();
    talk.peer.send(successText("1", "1"));
    talk.peer.send(progress);
    expect(await call).toBe(1);
    await turn();
    expect(told).toEqual(["$/progress"]);
  });

  test("whose listener throws is reported, and the call goes on", async () => {
    const kinds: string[] = [];
    await using talk = overMemory({ relatedTo, report: ({ kind }) => void kinds.push(kind) });
    const call = talk.connection.call("get", undefined, {
      tag: "t",
      notify: () => {
        throw new Error("no");
      },
    });
    await talk.peer.next();
    talk.peer.send(progress);
    talk.peer.send(successText("1", "1"));
    expect(await call).toBe(1);
    expect(kinds).toEqual(["fault"]);
  });
});

describe("the error of a call without an answer names what the peer sent instead", () => {
  test.each([
    [
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
      'received an error without an id: -32700 "Parse error"',
    ],
    [successText('"1"', "1"), 'received a result to id "1", which no call waits for'],
    ["Listening on \u001b[1mport 3000", '"Listening on \\u001b[1mport 3000": a frame must be JSON'],
  ])("%j", async (sent, shows) => {
    await using talk = overMemory({ timeout: 1_000, answersUnreadable: false });
    const call = talk.connection.call("get").catch((error: unknown) => error);
    await talk.peer.next();
    talk.peer.send(sent);
    await turn();
    talk.clock.advance(1_000);
    const { message } = (await call) as LocalError;
    expect(message).toContain("get (id 1): no response or notification for 1000 ms; before that, this side received");
    expect(message).toContain(shows);
  });
});

describe("the timer of a connection", () => {
  test("is never longer than the runtime takes, and a long wait is armed again", async () => {
    const { clock, armed } = watchedClock();
    await using talk = overMemory({ clock, timeout: 2 ** 33, totalTimeout: 2 ** 34 });
    const call = talk.connection.call("get").catch(({ reason }: LocalError) => reason);
    await talk.peer.next();
    clock.advance(2 ** 33);
    expect(await call).toBe("timeout");
    await talk.connection.drain(Number.POSITIVE_INFINITY);
    expect(armed.map(({ milliseconds }) => milliseconds).every((each) => each >= 0 && each < 2 ** 31)).toBe(true);
    expect(armed.length).toBeGreaterThan(4);
    expect(clock.armed).toBe(0);
  });

  test("keeps the process alive only while a call waits", async () => {
    const { clock, armed } = watchedClock();
    await using talk = overMemory({ clock });
    for (const id of ["1", "2"]) {
      const call = talk.connection.call("get");
      expect(armed.map(({ holds }) => holds)).toEqual([true]);
      await talk.peer.next();
      talk.peer.send(successText(id, "1"));
      await call;
      expect(armed.map(({ holds }) => holds)).toEqual([false]);
    }
  });
});

test("params that are not JSON fail the call alone, and nothing is written", async () => {
  await using talk = overMemory();
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const textless = { toJSON: () => thrown(Object.create(null)) };
  for (const params of [{ large: 1n }, cyclic, textless, [() => undefined, 1n]]) {
    await expect(talk.connection.call("get", params)).rejects.toMatchObject({
      reason: "refused",
      message: expect.stringMatching(/^get \(id \d\): params are not JSON: /),
    });
  }
  expect(() => talk.connection.notify("told", { large: 1n })).toThrow(/^told: params are not JSON: TypeError/);
});

interface Armed {
  readonly milliseconds: number;
  /** Would keep a process alive. */
  holds: boolean;
}

/** A fake clock that remembers every timer it was asked for. */
function watchedClock(): { clock: FakeClock; armed: readonly Armed[] } {
  const clock = createFakeClock();
  const armed: Armed[] = [];
  return {
    armed,
    clock: {
      now: clock.now,
      advance: clock.advance,
      clearTimer: clock.clearTimer,
      get armed() {
        return clock.armed;
      },
      setTimer(fire, milliseconds) {
        const each: Armed = { milliseconds, holds: true };
        armed.push(each);
        const hold = (holds: boolean) => () => {
          each.holds = holds;
        };
        return Object.assign(clock.setTimer(fire, milliseconds), { ref: hold(true), unref: hold(false) });
      },
    },
  };
}

function thrown(error: unknown): never {
  throw error;
}
