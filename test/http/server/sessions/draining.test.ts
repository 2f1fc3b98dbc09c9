import { httpHandler } from "@parlance/mcp/http";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { notification, parse, ping, request, success, textOf } from "../../../testing/frames.js";
import { turn } from "../../../testing/talks.js";
import { type Asked, sessionGet, sessionPost, statelessPost, written } from "../asked.js";
import { openSession, requestOf } from "../handlers.js";
import { gist, obeyFrame, obeying, read } from "../obeying.js";
import { shop } from "../shop.js";
import { site, until, watchTools } from "../site.js";
import type { Answer } from "../wire.js";

/** A handler of `Request`s, whose answers are read to their end. */
function handling(server = shop(), clock: FakeClock = createFakeClock()) {
  const handler = httpHandler(server, { clock });
  const ask = async (asked: Asked): Promise<Answer> => {
    const response = await handler(requestOf(asked));
    return { status: response.status, headers: new Map(response.headers), body: await response.text() };
  };
  return { handler, clock, ask, running: watchTools(server) };
}

/** The content of a response, in a word, whether it is a stream or not. */
function said({ status, body }: Answer): string {
  const frame = body.startsWith("{") ? body : (/^data: (\{.*)$/m.exec(body)?.[1] ?? "");
  return frame === "" ? `${status}, nothing` : gist(frame);
}

const listen = statelessPost("subscriptions/listen", { notifications: { toolsListChanged: true } }, {}, { id: "l" });

describe("a server that drains", () => {
  test("finishes what runs, in both eras, and takes nothing new", async () => {
    const { server, calls } = obeying();
    const { handler, ask, clock } = handling(server);
    const session = await openSession({ ask });
    const idle = await openSession({ ask });
    const frame = JSON.parse(obeyFrame("modern", 2)) as { readonly params: object };
    const running = [
      ask(sessionPost(session, obeyFrame("session", 1))),
      ask(statelessPost("tools/call", frame.params)),
    ];
    await until(() => calls.size === 2);
    let isDrained = false;
    const drained = handler.drain(5_000).then(() => (isDrained = true));
    await turn();
    const refused = await ask(statelessPost("tools/list"));
    expect({ status: refused.status, retry: refused.headers.get("retry-after") }).toEqual({ status: 503, retry: "1" });
    expect((await ask({ body: request(0, "initialize", {}) })).status).toBe(503);
    for (const each of [idle, session]) {
      const { status, headers, body } = await ask(sessionPost(each, ping));
      expect({ status, wait: headers.get("retry-after") }).toEqual({ status: 503, wait: "1" });
      expect(body).toContain("the server is shutting down");
    }
    expect(isDrained).toBe(false);
    for (const call of calls.values()) call("end");
    expect((await Promise.all(running)).map(said)).toEqual(["session has ended", "modern has ended"]);
    await drained;
    expect(clock.armed).toBe(0);
  });

  test("still takes the answers to what it has asked", async () => {
    const { handler, ask } = handling();
    const session = await openSession({ ask }, "2025-11-25", {}, { elicitation: {} });
    const response = await handler(requestOf(sessionPost(session, request(1, "tools/call", { name: "ask" }))));
    const drained = handler.drain(5_000);
    const reader = (response.body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("elicitation/create")) text += (await reader.read()).value;
    const { id } = parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? "");
    expect((await ask(sessionPost(session, success(id ?? "", { action: "decline" })))).status).toBe(202);
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    expect(text).toContain('"text":"decline"');
    await drained;
  });

  test("ends its subscriptions with their result, and its streams", async () => {
    await using at = await site();
    const session = await openSession(at);
    using reader = await read(at, session);
    using listener = await at.open();
    listener.write(written(listen));
    await listener.head();
    expect(parse(await listener.message()).method).toBe("notifications/subscriptions/acknowledged");
    at.server.changed.list("tools");
    await at.http.drain(5_000);
    expect((await listener.messages()).map(parse)).toMatchObject([
      { method: "notifications/tools/list_changed" },
      { id: "l", result: { resultType: "complete" } },
    ]);
    expect(await reader.messages()).toEqual([notification("notifications/tools/list_changed")]);
  });

  test("ends what has not ended when the time is over", async () => {
    const { handler, ask, clock, running } = handling();
    const session = await openSession({ ask });
    const call = { name: "until-cancelled" };
    const asked = [ask(sessionPost(session, request(1, "tools/call", call))), ask(statelessPost("tools/call", call))];
    await until(() => running.has("until-cancelled"));
    await turn();
    const drained = handler.drain(5_000);
    await turn();
    clock.advance(5_000);
    await drained;
    const unfinished = expect.stringContaining("the call was not finished");
    expect((await Promise.all(asked)).map(said)).toEqual([unfinished, unfinished]);
    await until(() => running.size === 0);
    expect(clock.armed).toBe(0);
  });
});

describe("a server that closes", () => {
  test("ends everything at once, and waits for no call", async () => {
    const { handler, ask, clock, running } = handling();
    const session = await openSession({ ask });
    const call = { name: "until-cancelled" };
    const asked = [
      ask(sessionPost(session, request(1, "tools/call", call))),
      ask(statelessPost("tools/call", call)),
      ask(listen),
      ask(sessionGet(session)),
    ];
    await until(() => running.has("until-cancelled"));
    await turn();
    handler.close();
    const answers = (await Promise.all(asked)).map(said);
    expect(answers.slice(0, 2)).toEqual(["200, nothing", expect.stringContaining("the call was not finished")]);
    await until(() => running.size === 0);
    clock.advance(15_000);
    expect(clock.armed).toBe(0);
    expect((await ask(sessionPost(session, ping))).status).toBe(404);
    expect((await ask(statelessPost("tools/list"))).status).toBe(503);
    expect((await ask({ body: request(0, "initialize", {}) })).status).toBe(503);
  });

  test("breaks its sockets, and its port is free", async () => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const session = await openSession(at);
    using caller = await at.open();
    caller.write(written(sessionPost(session, obeyFrame("call", 1))));
    using idle = await at.open();
    expect(
      textOf((await idle.ask(written(statelessPost("tools/call", { name: "echo", arguments: { text: "hi" } })))).body),
    ).toBe("hi");
    await until(() => calls.has("call"));
    await at.http.close();
    await Promise.all([caller.closed(), idle.closed()]);
    await expect(at.open()).rejects.toThrow("ECONNREFUSED");
    await at.http.close();
  });
});
