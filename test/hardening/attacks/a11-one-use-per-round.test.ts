import { connect } from "@parlance/mcp/client";
import { createServer, memoryRequestStates, type RequestStateStore, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { type Frame, parse, stateless } from "../../testing/frames.js";
import { talkTo } from "../../testing/talks.js";

const forms = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
const yes = { type: "object", properties: { yes: { type: "boolean" } }, required: ["yes"] } as const;
const accepted = { action: "accept", content: { yes: true } };
const spent = { code: -32_602, data: { errors: [{ path: "/requestState" }] } };
const secrets = ["a secret that is long enough"];

/** A server whose tool charges a card between two questions. */
function shop(charges: string[], store?: RequestStateStore): Server {
  const requestState = { secrets, ...(store === undefined ? {} : { store }) };
  const server = createServer({ name: "shop", version: "1", requestState });
  server.tool("buy", {}, async (_args, ctx) => {
    await ctx.elicit("Buy?", yes);
    await ctx.once("charge", () => charges.push("charged"));
    await ctx.elicit("Gift wrap?", yes);
    return "bought";
  });
  return server;
}

let lastId = 0;

/** A call, or a further round of one with the answer to its question. */
function buy(requestState?: unknown, question = "question-1", answer: object = accepted): string {
  lastId += 1;
  const round = requestState === undefined ? {} : { requestState, inputResponses: { [question]: answer } };
  return stateless(lastId, "tools/call", { name: "buy", ...round }, forms);
}

async function stateOf(frame: Promise<string>): Promise<unknown> {
  const { result } = parse(await frame);
  expect(result).toMatchObject({ resultType: "input_required" });
  return result?.requestState;
}

describe("A11: a state of a call that asks", () => {
  test("is used once, so that work of one round is done once", async () => {
    const charges: string[] = [];
    await using talk = talkTo(shop(charges));
    const first = await stateOf(talk.ask(buy()));
    const second = await stateOf(talk.ask(buy(first)));
    expect(parse(await talk.ask(buy(first))).error).toMatchObject(spent);
    expect(parse(await talk.ask(buy(second, "question-2"))).result).toMatchObject({ content: [{ text: "bought" }] });
    expect(parse(await talk.ask(buy(second, "question-2"))).error).toMatchObject(spent);
    expect(charges).toEqual(["charged"]);
  });

  test("is used once by requests that come at the same time", async () => {
    const charges: string[] = [];
    await using talk = talkTo(shop(charges));
    const first = await stateOf(talk.ask(buy()));
    for (let copy = 0; copy < 10; copy += 1) talk.peer.send(buy(first));
    const answers: Frame[] = [];
    for (let copy = 0; copy < 10; copy += 1) answers.push(parse(await talk.peer.next()));
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect(charges).toEqual(["charged"]);
  });

  test("is used up by an answer that does not fit: the error of the next attempt names the remedy", async () => {
    await using talk = talkTo(shop([]));
    const first = await stateOf(talk.ask(buy()));
    expect(parse(await talk.ask(buy(first, "question-1", { action: "maybe" }))).error).toMatchObject({ code: -32_602 });
    expect(JSON.stringify(parse(await talk.ask(buy(first))).error)).toContain("make the call again without it");
  });

  test("lets work that runs beside a question come to its end, so that the next round does not begin it again", async () => {
    let charges = 0;
    const server = createServer({ name: "shop", version: "1" });
    server.tool("buy", {}, async (_args, ctx) => {
      const charging = ctx.once("charge", async () => {
        charges += 1;
        await new Promise((resolve) => setImmediate(resolve));
        return `charge ${charges}`;
      });
      await ctx.elicit("Gift wrap?", yes);
      return charging;
    });
    await using client = await connect(server, { handlers: { elicitation: () => accepted as never } });
    expect((await client.tools.call("buy")).content).toEqual([{ type: "text", text: "charge 1" }]);
    expect(charges).toBe(1);
  });
});

describe("A11: a store of used states", () => {
  test("is shared by servers that share their secrets; without one, each server takes a state once", async () => {
    for (const [store, expected] of [
      [memoryRequestStates(), 1],
      [undefined, 2],
    ] as const) {
      const charges: string[] = [];
      await using here = talkTo(shop(charges, store));
      await using there = talkTo(shop(charges, store));
      const first = await stateOf(here.ask(buy()));
      const answers = [parse(await here.ask(buy(first))), parse(await there.ask(buy(first)))];
      expect(answers.filter(({ error }) => error === undefined)).toHaveLength(expected);
      expect(charges).toHaveLength(expected);
    }
  });

  test("is asked for states that open, by an id of their own and the time of their end, and for no others", async () => {
    const used: [string, number][] = [];
    const store: RequestStateStore = {
      async use(id, expires) {
        used.push([id, expires]);
        return true;
      },
    };
    await using talk = talkTo(shop([], store));
    const before = Date.now();
    const first = await stateOf(talk.ask(buy()));
    expect(parse(await talk.ask(buy(`${String(first)}A`))).error).toMatchObject(spent);
    expect(parse(await talk.ask(buy("v1.AAAA"))).error).toMatchObject(spent);
    expect(used).toEqual([]);
    const second = await stateOf(talk.ask(buy(first)));
    await stateOf(talk.ask(buy(first)));
    await talk.ask(buy(second, "question-2"));
    expect(used).toHaveLength(3);
    expect(new Set(used.map(([id]) => id)).size).toBe(2);
    for (const [id, expires] of used) {
      expect(id).toMatch(/^[A-Za-z0-9_-]{16}$/);
      expect(expires).toBeGreaterThanOrEqual(before + 600_000);
    }
  });

  test.each<[string, () => unknown]>([
    ["throws", () => raise(new Error("no connection"))],
    ["rejects", () => Promise.reject(new Error("no connection"))],
  ])("fails closed when it %s: the handler is not run, and the fault has its name", async (_, use) => {
    const charges: string[] = [];
    await using talk = talkTo(shop(charges, { use } as RequestStateStore));
    const first = await stateOf(talk.ask(buy()));
    expect(parse(await talk.ask(buy(first))).error).toEqual({ code: -32_603, message: "Internal error" });
    expect(talk.reports.join()).toContain("requestState.store.use failed");
    expect(charges).toEqual([]);
  });

  test.each([undefined, null, 0, "OK", 1])("fails closed when it answers %j, which is not true", async (answer) => {
    const charges: string[] = [];
    await using talk = talkTo(shop(charges, { use: () => answer } as unknown as RequestStateStore));
    const first = await stateOf(talk.ask(buy()));
    expect(parse(await talk.ask(buy(first))).error).toMatchObject(spent);
    expect(charges).toEqual([]);
  });

  test("must have a method use", () => {
    const requestState = { store: {} as RequestStateStore };
    expect(() => createServer({ name: "shop", version: "1", requestState })).toThrow(
      new TypeError("requestState.store needs a method use(id, expires)"),
    );
  });
});

describe("A11: the store in memory", () => {
  test("forgets what has expired", async () => {
    let now = 0;
    const store = memoryRequestStates({ now: () => now });
    for (let round = 0; round < 100; round += 1) {
      expect(await store.use(`state ${round}`, now + 20)).toBe(true);
      expect(await store.use(`state ${round}`, now + 20)).toBe(false);
      expect(store.size).toBeLessThanOrEqual(2);
      now += 10;
    }
  });

  test("is bounded, and when it is full it takes nothing for unused that it may have forgotten", async () => {
    const store = memoryRequestStates({ max: 3, now: () => 0 });
    for (const at of [1, 2, 3, 4, 5]) expect(await store.use(`state ${at}`, at)).toBe(true);
    for (const at of [1, 2, 3, 4, 5]) expect(await store.use(`state ${at}`, at)).toBe(false);
    expect(await store.use("as old as one that was dropped", 2)).toBe(false);
    expect(await store.use("younger than all that were dropped", 3)).toBe(true);
    expect(store.size).toBe(3);
  });

  test.each([0, -1, 1.5, Number.NaN])("refuses a bound that makes no sense: %d", (max) => {
    expect(() => memoryRequestStates({ max })).toThrow(RangeError);
  });
});

function raise(error: Error): never {
  throw error;
}
