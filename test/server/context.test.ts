import { type Context, createServer, LocalError, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { deferred } from "../../packages/mcp/src/base/deferred.js";
import {
  initialize,
  initialized,
  notification,
  parse,
  request,
  stateless,
  success,
  textOf,
} from "../testing/frames.js";
import { conversationWith, expectAlive, talkTo, turn } from "../testing/talks.js";

const done = { content: [{ type: "text", text: "done" }] };
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** A server with one tool that does something with its context. */
function using(use: (context: Context) => unknown): Server {
  const server = createServer({ name: "context", version: "1.0.0" });
  server.tool("use", { inputSchema: { type: "object" } }, async (_args, context) => {
    await use(context);
    return "done";
  });
  return server;
}

/** A call of that tool, by either era's means. */
function call(meta: object = {}, id = 1): string {
  return request(id, "tools/call", { name: "use", _meta: meta });
}

const progress = (params: object): string => notification("notifications/progress", params);
const message = (level: string, data: unknown): string => notification("notifications/message", { level, data });

describe("progress", () => {
  const steps = (context: Context): void => {
    void context.progress(1, 3, "one");
    void context.progress(2.5);
    void context.progress(3, 3);
  };

  test.each([7, "seven", 0, "", -1])("goes out under the token of the call, before its result: %j", async (token) => {
    await using talk = await conversationWith(using(steps), "2025-11-25");
    talk.peer.send(call({ progressToken: token }));
    expect(await talk.peer.next()).toBe(progress({ progressToken: token, progress: 1, total: 3, message: "one" }));
    expect(await talk.peer.next()).toBe(progress({ progressToken: token, progress: 2.5 }));
    expect(await talk.peer.next()).toBe(progress({ progressToken: token, progress: 3, total: 3 }));
    expect(await talk.peer.next()).toBe(success(1, done));
  });

  test("goes out in the stateless era in the same way", async () => {
    await using talk = talkTo(using((context) => context.progress(1)));
    talk.peer.send(stateless(1, "tools/call", { name: "use" }, { progressToken: "t" }));
    expect(await talk.peer.next()).toBe(progress({ progressToken: "t", progress: 1 }));
    expect(parse(await talk.peer.next()).result).toMatchObject(done);
  });

  test.each([{}, { progressToken: null }, { progressToken: 1.5 }, { progressToken: {} }])(
    "is not sent if the client did not request it: %j",
    async (meta) => {
      await using talk = await conversationWith(using(steps), "2025-11-25");
      expect(await talk.ask(call(meta))).toBe(success(1, done));
    },
  );

  test("has no words in the revision that has none for it", async () => {
    await using talk = await conversationWith(
      using((context) => context.progress(1, 2, "one")),
      "2024-11-05",
    );
    expect(await talk.ask(call({ progressToken: 7 }))).toBe(progress({ progressToken: 7, progress: 1, total: 2 }));
    expect(await talk.peer.next()).toBe(success(1, done));
  });

  test("only ever grows, and is a number", async () => {
    const told = [-1, 2, 2, 1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2.5, 2.5, 3];
    await using talk = await conversationWith(
      using((context) => {
        for (const each of told) void context.progress(each, Number.POSITIVE_INFINITY);
      }),
      "2025-11-25",
    );
    talk.peer.send(call({ progressToken: 7 }));
    for (const each of [-1, 2, 2.5, 3]) {
      expect(await talk.peer.next()).toBe(progress({ progressToken: 7, progress: each }));
    }
    expect(await talk.peer.next()).toBe(success(1, done));
  });

  test("ends with the result, and with a cancel", async () => {
    const contexts: Context[] = [];
    const waits = deferred<void>();
    const server = using((context) => {
      contexts.push(context);
      return contexts.length === 1 ? undefined : waits.promise;
    });
    await using talk = await conversationWith(server, "2025-11-25");
    expect(await talk.ask(call({ progressToken: 1 }))).toBe(success(1, done));
    talk.peer.send(call({ progressToken: 2 }, 2));
    talk.peer.send(notification("notifications/cancelled", { requestId: 2 }));
    await turn();
    for (const context of contexts) {
      void context.progress(99);
      context.log("emergency", "nobody hears");
    }
    waits.resolve();
    await expectAlive(talk);
  });

  test("of calls that run side by side goes to each its own", async () => {
    await using talk = await conversationWith(
      using((context) => context.progress(1)),
      "2025-11-25",
    );
    talk.peer.send(call({ progressToken: "a" }, 1));
    talk.peer.send(call({ progressToken: "b" }, 2));
    const frames = [await talk.peer.next(), await talk.peer.next(), await talk.peer.next(), await talk.peer.next()];
    expect(frames.slice(0, 2)).toEqual([
      progress({ progressToken: "a", progress: 1 }),
      progress({ progressToken: "b", progress: 1 }),
    ]);
    expect(frames.slice(2).map((frame) => parse(frame).id)).toEqual([1, 2]);
  });
});

describe("log", () => {
  const all = (context: Context): void => {
    for (const level of levels) context.log(level, `it is ${level}`);
  };

  test.each(levels)("sends messages at least as severe as the level that was set: %s", async (level) => {
    await using talk = await conversationWith(using(all), "2025-11-25");
    await talk.ask(request("set", "logging/setLevel", { level }));
    talk.peer.send(call());
    for (const each of levels.slice(levels.indexOf(level))) {
      expect(await talk.peer.next()).toBe(message(each, `it is ${each}`));
    }
    expect(await talk.peer.next()).toBe(success(1, done));
  });

  test("sends info and above before a level is set", async () => {
    await using talk = await conversationWith(
      using((context) => {
        context.log("debug", 1);
        context.log("info", 2);
      }),
      "2024-11-05",
    );
    expect(await talk.ask(call())).toBe(message("info", 2));
    expect(await talk.peer.next()).toBe(success(1, done));
  });

  test("heeds a level that is set while the call runs", async () => {
    const waits = deferred<void>();
    const server = using(async (context) => {
      context.log("info", "before");
      await waits.promise;
      context.log("info", "behind");
    });
    await using talk = await conversationWith(server, "2025-11-25");
    expect(await talk.ask(call())).toBe(message("info", "before"));
    expect(await talk.ask(request(2, "logging/setLevel", { level: "error" }))).toBe(success(2, {}));
    waits.resolve();
    expect(await talk.peer.next()).toBe(success(1, done));
  });

  test.each(levels)("sends to a request of the stateless era the levels that it requested: %s", async (level) => {
    await using talk = talkTo(using(all));
    talk.peer.send(stateless(1, "tools/call", { name: "use" }, { "io.modelcontextprotocol/logLevel": level }));
    for (const each of levels.slice(levels.indexOf(level))) {
      expect(await talk.peer.next()).toBe(message(each, `it is ${each}`));
    }
    expect(parse(await talk.peer.next()).result).toMatchObject(done);
  });

  test("sends nothing to a request of the stateless era without a level, whatever level a session has set", async () => {
    await using talk = await conversationWith(using(all), "2025-11-25");
    await talk.ask(request(1, "logging/setLevel", { level: "debug" }));
    expect(parse(await talk.ask(stateless(2, "tools/call", { name: "use" }))).result).toMatchObject(done);
  });

  test.each<[unknown, unknown]>([
    ["words", "words"],
    [{ a: [1] }, { a: [1] }],
    [null, null],
    [undefined, null],
    [0, 0],
  ])("carries any JSON: %j", async (data, sent) => {
    await using talk = await conversationWith(
      using((context) => context.log("error", data)),
      "2025-11-25",
    );
    expect(await talk.ask(call())).toBe(message("error", sent));
    await talk.peer.next();
  });

  test("names a logger", async () => {
    await using talk = await conversationWith(
      using((context) => context.log("error", 1, "db")),
      "2025-11-25",
    );
    expect(await talk.ask(call())).toBe(
      notification("notifications/message", { level: "error", data: 1, logger: "db" }),
    );
    await talk.peer.next();
  });

  test("of what is no JSON is a fault of the server, and does not fail the call", async () => {
    await using talk = await conversationWith(
      using((context) => context.log("error", { n: 1n })),
      "2025-11-25",
    );
    expect(await talk.ask(call())).toBe(success(1, done));
    expect(talk.reports).toEqual([expect.stringMatching(/^"notifications\/message" failed: /)]);
  });
});

describe("the signal", () => {
  /** Waits until its signal aborts, and notes why. */
  function waiting(reasons: unknown[]): Server {
    return using(
      ({ signal }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            resolve();
          });
        }),
    );
  }

  test("aborts when the client cancels, with its reason", async () => {
    const reasons: unknown[] = [];
    await using talk = await conversationWith(waiting(reasons), "2025-11-25");
    talk.peer.send(call());
    talk.peer.send(notification("notifications/cancelled", { requestId: 1, reason: "the user left" }));
    await turn();
    expect(reasons).toEqual([new LocalError("cancelled", "the user left")]);
  });

  test("aborts when the connection is closed", async () => {
    const reasons: unknown[] = [];
    await using talk = talkTo(waiting(reasons));
    talk.peer.send(stateless(1, "tools/call", { name: "use" }));
    await turn();
    await talk.connection.close();
    expect(reasons).toEqual([new LocalError("closed", "the connection was closed")]);
  });
});

describe("a handler knows", () => {
  const tell = createServer({ name: "tell", version: "1" });
  tell.tool("use", {}, (_args, { revision, client, meta }) => JSON.stringify({ revision, client, meta }));

  test("the client of a session", async () => {
    await using talk = talkTo(tell);
    await talk.ask(initialize("2025-06-18"));
    talk.peer.send(initialized);
    expect(JSON.parse(textOf(await talk.ask(call({ "x/y": 1 }))))).toEqual({
      revision: "2025-06-18",
      client: { info: { name: "raw", version: "1" }, capabilities: {} },
      meta: { "x/y": 1 },
    });
  });

  test("the client without a session", async () => {
    await using talk = talkTo(tell);
    const meta = {
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "2" },
      "io.modelcontextprotocol/clientCapabilities": { roots: {} },
    };
    expect(JSON.parse(textOf(await talk.ask(stateless(1, "tools/call", { name: "use" }, meta))))).toEqual({
      revision: "2026-07-28",
      client: { info: { name: "raw", version: "2" }, capabilities: { roots: {} } },
      meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", ...meta },
    });
  });

  test.each([undefined, null, [], "text"])("no _meta where there is none: %j", async (meta) => {
    await using talk = await conversationWith(tell, "2025-11-25");
    const frame = request(1, "tools/call", { name: "use", _meta: meta });
    expect(JSON.parse(textOf(await talk.ask(frame))).meta).toEqual({});
  });
});
