import { type Call, describeReport, RawJson, type Report, RpcError } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { requestText, successText } from "../held.js";
import { expectAlive, overMemory, turn } from "../transports.js";

const secret = "secret path /etc/passwd";
const internalError = '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}';

/** Ways of a handler to fail, and what its log reads. None of them may show on the wire. */
const faults: readonly { name: string; run: () => unknown; log: RegExp }[] = [
  { name: "throws an Error", run: leak, log: /secret path/ },
  { name: "rejects with an Error", run: async () => leak(), log: /secret path/ },
  { name: "throws a string", run: () => thrown(secret), log: /secret path/ },
  { name: "rejects with undefined", run: () => Promise.reject(), log: /undefined/ },
  { name: "throws null", run: () => thrown(null), log: /null/ },
  { name: "throws an object that has no text", run: () => thrown(Object.create(null)), log: /no text/ },
  { name: "throws an RpcError whose toJSON throws", run: () => thrown(new Treacherous()), log: /secret path/ },
  { name: "returns a BigInt", run: () => 1n, log: /BigInt: give a string, or a number/ },
  { name: "resolves with a BigInt inside", run: async () => ({ large: [1n] }), log: /BigInt/ },
  { name: "returns a cycle", run: () => cycle(), log: /circular/i },
  { name: "returns a function", run: () => () => secret, log: /A function is not a JSON value/ },
  { name: "returns a symbol", run: () => Symbol(secret), log: /A symbol is not a JSON value/ },
  { name: "returns a value whose toJSON throws", run: () => ({ toJSON: leak }), log: /secret path/ },
  {
    name: "returns a value whose toJSON gives nothing",
    run: () => ({ toJSON: () => undefined }),
    log: /not a JSON value/,
  },
  { name: "returns a value with a member that throws", run: () => [withGetter("member")], log: /secret path/ },
  { name: "returns something 100,000 levels deep", run: () => deep(100_000), log: /call stack/ },
  { name: "resolves with something 100,000 levels deep", run: async () => deep(100_000), log: /call stack/ },
  { name: "returns a thenable that throws", run: () => thenable(leak), log: /secret path/ },
  { name: "returns a thenable that rejects", run: () => thenable((_, no) => no(secret)), log: /secret path/ },
  { name: "returns something whose then throws when read", run: () => withGetter("then"), log: /secret path/ },
];

describe("one Internal error, no leak, no crash, when a handler", () => {
  test.each(faults)("$name", async ({ run, log }) => {
    const reports: Report[] = [];
    await using talk = overMemory({ handle: handling(run), report: (each) => void reports.push(each) });
    talk.peer.send(requestText("1", "fail"));
    expect(await talk.peer.next()).toBe(internalError);
    await expectAlive(talk);
    expect(new Set(reports.map(({ kind }) => kind))).toEqual(new Set(["fault"]));
    expect(reports.map(describeReport).join("\n")).toMatch(log);
  });

  test.each(faults)("$name, in a batch where others succeed", async ({ run }) => {
    await using talk = overMemory({ handle: handling(run) });
    talk.peer.send(`[${requestText("1", "fail")},${requestText("2", "ping")}]`);
    const answers = (await talk.peer.next()).slice(1, -1);
    expect([
      `${internalError},${successText("2", '"pong"')}`,
      `${successText("2", '"pong"')},${internalError}`,
    ]).toContain(answers);
    await expectAlive(talk);
  });

  test.each(faults)("$name, for a notification: nothing at all", async ({ run }) => {
    await using talk = overMemory({ handle: handling(run) });
    talk.peer.send('{"jsonrpc":"2.0","method":"fail"}');
    talk.peer.send('[{"jsonrpc":"2.0","method":"fail"}]');
    await turn();
    await expectAlive(talk);
  });
});

describe("a result stands on the wire as JSON has it", () => {
  test.each<[name: string, run: () => unknown, result: string]>([
    ["undefined", () => undefined, "null"],
    ["a promise of undefined", async () => undefined, "null"],
    ["null", () => null, "null"],
    ["NaN", () => Number.NaN, "null"],
    ["a Date", () => new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["an undefined member", () => ({ a: undefined, b: [undefined] }), '{"b":[null]}'],
    ["4,000 levels", () => deep(4_000), `${"[".repeat(4_000)}${"]".repeat(4_000)}`],
    ["a thenable", () => thenable((yes) => yes("later")), '"later"'],
    ["a thenable that resolves twice", () => thenable((yes) => [yes(1), yes(2)]), "1"],
    ["text that is JSON already", () => new RawJson('{"as": "it is"}'), '{"as": "it is"}'],
    ["the same inside a result", () => ({ page: new RawJson('{"as": "it is"}') }), '{"page":{"as":"it is"}}'],
  ])("%s", async (_name, run, result) => {
    await using talk = overMemory({ handle: handling(run) });
    talk.peer.send(requestText("1", "give"));
    expect(await talk.peer.next()).toBe(successText("1", result));
  });
});

describe("an RpcError is what the peer reads", () => {
  test.each<[name: string, error: RpcError, member: string]>([
    ["a code and a message", new RpcError(7, "Out of stock"), '{"code":7,"message":"Out of stock"}'],
    ["data", new RpcError(7, "Out", { left: 0 }), '{"code":7,"message":"Out","data":{"left":0}}'],
    ["data null", new RpcError(7, "Out", null), '{"code":7,"message":"Out","data":null}'],
    ["data that is no JSON is left out", new RpcError(7, "Out", 1n), '{"code":7,"message":"Out"}'],
    ["its cause stays here", new RpcError(7, "Out", undefined, { cause: secret }), '{"code":7,"message":"Out"}'],
  ])("%s", async (_name, error, member) => {
    await using talk = overMemory({ handle: handling(() => thrown(error)) });
    talk.peer.send(requestText("1", "buy"));
    expect(await talk.peer.next()).toBe(`{"jsonrpc":"2.0","id":1,"error":${member}}`);
  });

  test("a code that is no integer cannot be made", () => {
    for (const code of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => new RpcError(code, "no")).toThrow(RangeError);
    }
  });
});

describe("mapError", () => {
  class NotFound extends Error {}

  test("turns an application's exception into an error for the wire", async () => {
    await using talk = overMemory({
      handle: handling(() => Promise.reject(new NotFound(secret))),
      mapError: (error) => (error instanceof NotFound ? new RpcError(404, "No such user") : undefined),
      report: () => expect.unreachable("a mapped exception is no fault"),
    });
    talk.peer.send(requestText("1", "user"));
    expect(await talk.peer.next()).toBe('{"jsonrpc":"2.0","id":1,"error":{"code":404,"message":"No such user"}}');
  });

  test("leaves what is not its own an Internal error", async () => {
    await using talk = overMemory({ handle: handling(leak), mapError: () => undefined });
    talk.peer.send(requestText("1", "user"));
    expect(await talk.peer.next()).toBe(internalError);
  });

  test("that throws itself is reported beside the exception", async () => {
    const faults: string[] = [];
    await using talk = overMemory({
      handle: handling(() => thrown(new Error("first"))),
      mapError: () => thrown(new Error("second")),
      report: (each) => void (each.kind === "fault" && faults.push(String(each.error))),
    });
    talk.peer.send(requestText("1", "user"));
    expect(await talk.peer.next()).toBe(internalError);
    expect(faults).toEqual(["Error: second", "Error: first"]);
  });
});

test("a listener and a report that throw do not end the conversation", async () => {
  await using talk = overMemory({
    handle: handling(leak),
    onNotification: leak,
    relatedTo: leak,
    report: leak,
  });
  talk.peer.send('{"jsonrpc":"2.0","method":"told"}');
  talk.peer.send(requestText("1", "fail"));
  expect(await talk.peer.next()).toBe(internalError);
  await expectAlive(talk);
});

test("handlers run side by side, and the first to end is answered first", async () => {
  const order: string[] = [];
  const handle: Call = async (method) => {
    order.push(method);
    if (method === "slow") await turn();
    return method;
  };
  await using talk = overMemory({ handle });
  talk.peer.send(requestText("1", "slow"));
  talk.peer.send(requestText("2", "fast"));
  expect(await talk.peer.next()).toBe(successText("2", '"fast"'));
  expect(await talk.peer.next()).toBe(successText("1", '"slow"'));
  expect(order).toEqual(["slow", "fast"]);
});

function handling(run: () => unknown): Call {
  return (method) => (method === "ping" ? "pong" : run());
}

function thrown(error: unknown): never {
  throw error;
}

function leak(): never {
  return thrown(new Error(secret));
}

function withGetter(key: string): object {
  return Object.defineProperty({}, key, { get: leak, enumerable: true });
}

function cycle(): unknown {
  const value: unknown[] = [];
  value.push({ value });
  return value;
}

function deep(levels: number): unknown {
  let value: unknown[] = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

/** An object with a `then`, which is no promise of the language's own. */
function thenable(settle: (yes: (value: unknown) => void, no: (error: unknown) => void) => unknown): object {
  // biome-ignore lint/suspicious/noThenProperty: what a handler returns may have one.
  return { then: settle };
}

class Treacherous extends RpcError {
  constructor() {
    super(7, "told");
  }

  override toJSON(): never {
    return leak();
  }
}
