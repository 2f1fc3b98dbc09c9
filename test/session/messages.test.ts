import { describe, expect, test } from "vitest";
import { failure, initialize, parse, ping, pong, request, stateless, success } from "../testing/frames.js";
import { echoServer, echoTool, gatedServer } from "../testing/servers.js";
import { conversationWith, expectAlive, talkTo, turn } from "../testing/talks.js";

const noBatches = failure(undefined, -32_600, "Invalid Request", {
  reason: "batches are not part of this protocol revision: send each message on its own",
  pointer: "",
});

describe("ids", () => {
  test.each(['"one"', '"1"', "1", "0", "-7", '""', '"1e400"', '"\\u0000"', "9007199254740993", "1e400"])(
    "are echoed as they came: %s",
    async (id) => {
      await using talk = talkTo(echoServer());
      expect(await talk.ask(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toBe(
        `{"jsonrpc":"2.0","id":${id},"result":{}}`,
      );
    },
  );

  test.each([
    ["null", "null"],
    ["1.5", "1.5"],
    ["true", "true"],
    ["{}", "an object"],
    ["[1]", "an array"],
  ])("of another kind are refused, and the answer has none: %s", async (id, got) => {
    await using talk = talkTo(echoServer());
    const refused = failure(undefined, -32_600, "Invalid Request", {
      reason: `id must be a string or an integer, got ${got}`,
      pointer: "/id",
    });
    expect(await talk.ask(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toBe(refused);
    await expectAlive(talk);
  });

  test("of requests in flight are refused; 1 and the text 1 are two of them", async () => {
    const { server, open } = gatedServer();
    await using talk = await conversationWith(server, "2025-11-25");
    talk.peer.send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}');
    talk.peer.send('{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"wait"}}');
    expect(await talk.ask(request(1, "ping"))).toBe(
      failure(1, -32_600, "Invalid Request", {
        reason: "id belongs to a request that is still in flight",
        pointer: "/id",
      }),
    );
    open("first");
    open("second");
    expect(await talk.peer.next()).toBe(success(1, { content: [{ type: "text", text: "first" }] }));
    expect(await talk.peer.next()).toBe(success("1", { content: [{ type: "text", text: "second" }] }));
  });
});

describe("an array", () => {
  const everywhere = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
  const batch = `[${ping},${request(1, "tools/list")}]`;

  test.each(["[]", batch, `[${initialize("2025-03-26")}]`, `[${stateless(1, "tools/list")}]`])(
    "is refused before a revision is agreed on: %s",
    async (frame) => {
      await using talk = talkTo(echoServer());
      expect(await talk.ask(frame)).toBe(noBatches);
      await expectAlive(talk);
    },
  );

  test.each(everywhere.filter((version) => version !== "2025-03-26"))("is refused in %s", async (version) => {
    await using talk = await conversationWith(echoServer(), version);
    expect(await talk.ask(batch)).toBe(noBatches);
    await expectAlive(talk);
  });

  test("is a batch in 2025-03-26: answered by one array, of answers alone", async () => {
    await using talk = await conversationWith(echoServer(), "2025-03-26");
    const frame = await talk.ask(
      `[${request(1, "tools/list")},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}},${request(2, "nope")},1]`,
    );
    const answers = (JSON.parse(frame) as unknown[]).map((each) => JSON.stringify(each));
    expect(answers.toSorted()).toEqual(
      [
        success(1, { tools: [echoTool] }),
        failure(2, -32_601, "Method not found", { method: "nope" }),
        failure(undefined, -32_600, "Invalid Request", {
          reason: "a message must be an object, got a number",
          pointer: "",
        }),
      ].toSorted(),
    );
  });

  test("of notifications is answered by nothing, an empty one by one error", async () => {
    await using talk = await conversationWith(echoServer(), "2025-03-26");
    talk.peer.send('[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]');
    expect(parse(await talk.ask("[]"))).toMatchObject({ error: { code: -32_600 } });
    await expectAlive(talk);
  });

  test("with initialize in it is answered, and opens the conversation anew", async () => {
    await using talk = await conversationWith(echoServer(), "2025-03-26");
    const [opened, alive] = JSON.parse(await talk.ask(`[${initialize("2025-03-26", 7)},${ping}]`)) as unknown[];
    expect(opened).toMatchObject({ id: 7, result: { protocolVersion: "2025-03-26" } });
    expect(alive).toEqual(JSON.parse(pong));
    expect(talk.reports).toEqual([expect.stringContaining('accepted "initialize"')]);
  });

  test("counts from the answer to initialize on, not from what follows it", async () => {
    await using talk = talkTo(echoServer());
    await talk.ask(initialize("2025-03-26"));
    expect(await talk.ask(`[${ping}]`)).toBe(`[${pong}]`);
  });
});

describe("logging/setLevel", () => {
  const setLevel = (level: unknown): string => request(5, "logging/setLevel", { level });

  test.each(["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"])(
    "takes %s",
    async (level) => {
      await using talk = await conversationWith(echoServer(), "2025-11-25");
      expect(await talk.ask(setLevel(level))).toBe('{"jsonrpc":"2.0","id":5,"result":{}}');
    },
  );

  test.each(["warn", "WARNING", "", 3, null, undefined, ["info"]])(
    "refuses %j and lists what it takes",
    async (level) => {
      await using talk = await conversationWith(echoServer(), "2025-11-25");
      const message = "must be one of debug, info, notice, warning, error, critical, alert, emergency";
      expect(await talk.ask(setLevel(level))).toBe(
        failure(5, -32_602, "Invalid params", { errors: [{ path: "/level", message }] }),
      );
    },
  );

  test("is no method of the stateless era", async () => {
    await using talk = talkTo(echoServer());
    expect(parse(await talk.ask(stateless(5, "logging/setLevel", { level: "info" }))).error?.code).toBe(-32_601);
  });
});

describe("notifications/cancelled", () => {
  test("stops a call: nothing more is said of it, and its id is free", async () => {
    const { server, open } = gatedServer();
    await using talk = await conversationWith(server, "2025-11-25");
    talk.peer.send(request(1, "tools/call", { name: "wait" }));
    talk.peer.send(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the user left"}}',
    );
    await expectAlive(talk);
    expect(talk.connection.inFlight).toEqual({ outgoing: 0, incoming: 0, waiting: 0, running: 1 });
    talk.peer.send(request(1, "tools/call", { name: "wait" }));
    await turn();
    open("for the first, whom nobody hears");
    open("for the second");
    expect(parse(await talk.peer.next()).result).toEqual({ content: [{ type: "text", text: "for the second" }] });
  });

  test("stops a call of the stateless era in the same way", async () => {
    const { server, open } = gatedServer();
    await using talk = talkTo(server);
    talk.peer.send(stateless(1, "tools/call", { name: "wait" }));
    talk.peer.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    await turn();
    open("nobody hears");
    await expectAlive(talk);
  });
});
