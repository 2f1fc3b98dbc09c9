import { describeReport, type Limits, serverLimits } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { held, requestText, successText } from "../held.js";
import { expectAlive, overMemory, transports, turn } from "../transports.js";
import { bare, invalid, invalidRequest } from "../wire.js";

interface Bound {
  readonly limit: keyof Limits;
  /** A frame that has `size` of what is bounded. */
  readonly frame: (size: number) => string;
  /** The error for one more than allowed. */
  readonly reason: RegExp;
  /** The refusal cannot carry the id: that is what is too long, or it is not looked for in so long a head. */
  readonly withoutId?: true;
}

const bounds: readonly Bound[] = [
  {
    limit: "frameBytes",
    frame: (size) => padded((fill) => echo(`["${fill}"]`), size),
    reason: /4194305 (bytes|characters)|Content-Length 4194305/,
  },
  {
    limit: "depth",
    frame: (size) => echo(nested(size - 1)),
    reason: /nested deeper than 64 levels/,
  },
  {
    limit: "depth",
    frame: (size) => echo(`[${'{"a":'.repeat(size - 2)}1${"}".repeat(size - 2)},{},{}]`),
    reason: /nested deeper than 64 levels/,
  },
  {
    limit: "nodes",
    // The message, its three scalars and the array of params are values too.
    frame: (size) =>
      echo(
        `[${Array(size - 5)
          .fill(0)
          .join(",")}]`,
      ),
    reason: /more than 200000 values/,
  },
  {
    limit: "keys",
    frame: (size) => echo(`{${Array.from({ length: size }, (_, index) => `"${index}":0`).join(",")}}`),
    reason: /an object with 10001 members, at most 10000 are accepted/,
  },
  {
    limit: "batch",
    frame: (size) => `[${Array.from({ length: size }, (_, index) => requestText(`${index}`, "ping")).join(",")}]`,
    reason: /a batch of 101 messages, at most 100 are accepted/,
    withoutId: true,
  },
  {
    limit: "idBytes",
    frame: (size) => requestText(`"${"x".repeat(size)}"`, "ping"),
    reason: /id must be at most 256 bytes long, got 257/,
    withoutId: true,
  },
  {
    limit: "methodLength",
    frame: (size) => `{"jsonrpc":"2.0","id":1,"method":"${"m".repeat(size)}"}`,
    reason: /method must be at most 256 characters long, got 257/,
  },
];

describe.each(transports)("the limit over $name", ({ open }) => {
  // Whatever else is in the frame, it is the one bound that counts.
  const lifted = Object.fromEntries(Object.keys(serverLimits).map((limit) => [limit, Number.POSITIVE_INFINITY]));

  test.each(bounds)("$limit is kept: at it an answer, one more is refused, and the connection lives", async (bound) => {
    const { limit, frame, reason, withoutId } = bound;
    const size = serverLimits[limit];
    await using talk = open({
      handle: () => "pong",
      limits: { ...lifted, [limit]: size, frameBytes: frameBytes(limit) },
    });
    talk.peer.send(frame(size));
    expect(await talk.peer.next()).not.toContain('"error"');
    talk.peer.send(frame(size + 1));
    const refusal = await talk.peer.next();
    expect(bare(refusal)).toBe(withoutId ? invalidRequest : invalidRequest.replace("null", "1"));
    expect(refusal).toMatch(reason);
    await expectAlive(talk);
  });

  test.each(bounds)("$limit is lifted with Infinity", async ({ limit, frame }) => {
    await using talk = open({ handle: () => "pong", limits: { ...lifted, [limit]: Number.POSITIVE_INFINITY } });
    talk.peer.send(frame(serverLimits[limit] + 1));
    expect(await talk.peer.next()).not.toContain('"error"');
    await expectAlive(talk);
  });

  test("running holds requests back, waiting refuses them, and all that were taken are answered in turn", async () => {
    const { call, runs } = held();
    await using talk = open({ handle: call, limits: { running: 2, waiting: 3 } });
    for (const id of [1, 2, 3, 4, 5, 6]) talk.peer.send(requestText(`${id}`, `m${id}`));
    expect(bare(await talk.peer.next())).toBe(
      '{"jsonrpc":"2.0","id":6,"error":{"code":42900,"message":"Too many requests"}}',
    );
    expect(talk.connection.inFlight).toEqual({ outgoing: 0, incoming: 5, waiting: 3, running: 2 });
    for (let index = 0; index < 5; index += 1) {
      expect(runs.map(({ method }) => method)).toEqual(["m1", "m2", "m3", "m4", "m5"].slice(0, index + 2));
      runs[index]?.answer(index);
      expect(await talk.peer.next()).toBe(successText(`${index + 1}`, `${index}`));
    }
    await expectAlive(talk);
  });
});

test("a depth beyond a thousand is counted as exactly", async () => {
  await using talk = overMemory({ handle: () => "pong", limits: { depth: 1_000 } });
  for (const [levels, answer] of [
    [999, successText("1", '"pong"')],
    [1_000, invalid("1")],
  ] as const) {
    talk.peer.send(echo(nested(levels)));
    expect(bare(await talk.peer.next())).toBe(answer);
  }
});

function frameBytes(limit: keyof Limits): number {
  return limit === "frameBytes" ? serverLimits.frameBytes : Number.POSITIVE_INFINITY;
}

describe("running and waiting", () => {
  test("are 128 and 1,024", async () => {
    const { call, runs } = held();
    await using talk = overMemory({ handle: call });
    for (let id = 1; id <= 128 + 1_024 + 1; id += 1) talk.peer.send(requestText(`${id}`, "slow"));
    expect(await talk.peer.next()).toContain('"id":1153,"error":{"code":42900');
    expect(talk.connection.inFlight).toMatchObject({ running: 128, waiting: 1_024 });
    for (let done = 0; done < 1_152; done += 1) {
      runs[done]?.answer(0);
      expect(await talk.peer.next()).toBe(successText(`${done + 1}`, "0"));
    }
  });

  test("are lifted with Infinity", async () => {
    const { call, runs } = held();
    const limits = { running: Number.POSITIVE_INFINITY, waiting: 0 };
    await using talk = overMemory({ handle: call, limits });
    for (let id = 1; id <= 2_000; id += 1) talk.peer.send(requestText(`${id}`, "slow"));
    await turn();
    expect(talk.connection.inFlight).toMatchObject({ running: 2_000, waiting: 0 });
    for (const run of runs) run.answer(0);
    for (let id = 1; id <= 2_000; id += 1) expect(await talk.peer.next()).toBe(successText(`${id}`, "0"));
  });

  test("hold back handlers that answer at once too, without recursion", async () => {
    const { call, run } = held();
    await using talk = overMemory({ handle: call, limits: { running: 1, waiting: Number.POSITIVE_INFINITY } });
    talk.peer.send(requestText("0", "slow"));
    for (let id = 1; id <= 20_000; id += 1) talk.peer.send(requestText(`${id}`, "ping"));
    await turn();
    run("slow").answer(0);
    for (let id = 0; id <= 20_000; id += 1) expect(await talk.peer.next()).toContain(`"id":${id},`);
  });

  test("refuse the elements of a batch one by one", async () => {
    const { call, runs } = held();
    await using talk = overMemory({ handle: call, limits: { running: 1, waiting: 1 } });
    talk.peer.send(`[${requestText("1", "a")},${requestText("2", "b")},${requestText("3", "c")}]`);
    await turn();
    runs[0]?.answer("a");
    await turn();
    runs[1]?.answer("b");
    expect(bare(await talk.peer.next())).toBe(
      bare(
        `[${successText("1", '"a"')},${successText("2", '"b"')},` +
          '{"jsonrpc":"2.0","id":3,"error":{"code":42900,"message":"Too many requests"}}]',
      ),
    );
  });

  test("count notifications that a handler runs; one too many is dropped and reported", async () => {
    const { call, runs } = held();
    const reports: string[] = [];
    await using talk = overMemory({
      handle: call,
      limits: { running: 1, waiting: 0 },
      report: (each) => void reports.push(describeReport(each)),
    });
    talk.peer.send('{"jsonrpc":"2.0","method":"first"}');
    talk.peer.send('{"jsonrpc":"2.0","method":"second"}');
    await turn();
    expect(reports).toEqual(['dropped the notification "second": too many requests are running']);
    runs[0]?.answer(undefined);
    await turn();
    await expectAlive(talk);
  });
});

describe("a bound so small that not even the refusal's own shape keeps it", () => {
  test.each<[keyof Limits, number]>([
    ["frameBytes", 20],
    ["depth", 0],
    ["nodes", 1],
    ["keys", 1],
  ])("%s %i refuses every message, with its id", async (limit, size) => {
    await using talk = overMemory({ handle: () => "pong", limits: { [limit]: size } });
    talk.peer.send(requestText("1", "ping"));
    expect(bare(await talk.peer.next())).toBe(invalidRequest.replace("null", "1"));
  });
});

function echo(params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"echo","params":${params}}`;
}

/** Arrays so many levels deep, and more brackets than levels: one that only counts brackets would refuse it. */
function nested(levels: number): string {
  return `[[],[],${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}]`;
}

/** A text of exactly so many characters. */
function padded(fill: (text: string) => string, size: number): string {
  return fill("x".repeat(size - fill("").length));
}
