import { describe, expect, test } from "vitest";
import { failure, initialize, initialized, parse, ping, pong, request, success } from "../../testing/frames.js";
import { echoServer, echoTool } from "../../testing/servers.js";
import { conversationWith, expectAlive, talkTo } from "../../testing/talks.js";

const handshakes = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const list = request(1, "tools/list");

describe.each(handshakes)("the three steps that open a conversation in %s", (version) => {
  test("initialize, its answer, notifications/initialized: then tools are listed", async () => {
    await using talk = talkTo(echoServer());
    talk.peer.send(
      `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"${version}","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`,
    );
    expect(await talk.peer.next()).toBe(
      `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"${version}","capabilities":{"logging":{},"tools":{"listChanged":true}},"serverInfo":{"name":"echo","version":"1.0.0"}}}`,
    );
    talk.peer.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    expect(await talk.ask(list)).toBe(success(1, { tools: [echoTool] }));
  });

  test("a request before the first is refused, and says what to send", async () => {
    await using talk = talkTo(echoServer());
    const reason =
      "tools/list came before initialize: open the conversation with it, or name a stateless revision in params._meta";
    expect(await talk.ask(list)).toBe(failure(1, -32_600, "Invalid Request", { reason }));
    expect(parse(await talk.ask(initialize(version))).result?.protocolVersion).toBe(version);
  });

  test("an unknown method before the first is refused as out of order, like any other", async () => {
    await using talk = talkTo(echoServer());
    expect(parse(await talk.ask(request(1, "no/such"))).error?.code).toBe(-32_600);
    await talk.ask(initialize(version));
    expect(parse(await talk.ask(request(1, "no/such"))).error?.code).toBe(-32_601);
  });

  test("a second initialize that cannot be answered changes nothing", async () => {
    await using talk = await conversationWith(echoServer(), version);
    expect(parse(await talk.ask(request(9, "initialize", {}))).error?.code).toBe(-32_602);
    expect(parse(await talk.ask(list)).result).toEqual({ tools: [echoTool] });
    expect(talk.reports).toEqual([]);
  });

  test("ping is answered at every step", async () => {
    await using talk = talkTo(echoServer());
    expect(await talk.ask(ping)).toBe(pong);
    await talk.ask(initialize(version));
    expect(await talk.ask(ping)).toBe(pong);
    talk.peer.send(initialized);
    expect(await talk.ask(ping)).toBe(pong);
  });

  test("notifications/initialized before initialize opens nothing", async () => {
    await using talk = talkTo(echoServer());
    talk.peer.send(initialized);
    expect(parse(await talk.ask(list)).error?.code).toBe(-32_600);
    expect(parse(await talk.ask(initialize(version))).result?.protocolVersion).toBe(version);
    expect(talk.reports).toEqual([]);
  });

  test("notifications/initialized a second time does nothing", async () => {
    await using talk = await conversationWith(echoServer(), version);
    talk.peer.send(initialized);
    await expectAlive(talk);
    expect(parse(await talk.ask(list)).result).toEqual({ tools: [echoTool] });
  });

  test("the three steps in one go are three steps", async () => {
    await using talk = talkTo(echoServer());
    for (const frame of [initialize(version), initialized, list]) talk.peer.send(frame);
    expect(parse(await talk.peer.next()).result?.protocolVersion).toBe(version);
    expect(parse(await talk.peer.next()).result).toEqual({ tools: [echoTool] });
  });

  test("instructions are given with the answer", async () => {
    const server = { ...echoServer(), instructions: "Say something to hear it again." };
    await using talk = talkTo(server);
    expect(parse(await talk.ask(initialize(version))).result?.instructions).toBe("Say something to hear it again.");
  });
});

test("two clients of one server open their conversations each for itself", async () => {
  const server = echoServer();
  await using first = await conversationWith(server, "2024-11-05");
  await using second = talkTo(server);
  expect(parse(await second.ask(list)).error?.code).toBe(-32_600);
  expect(parse(await first.ask(list)).result).toEqual({ tools: [echoTool] });
});
