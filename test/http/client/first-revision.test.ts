import { connect } from "@parlance/mcp/client";
import { createFakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { errorOf, open } from "./opened.js";
import { type Asked, event, type PlayedServer, playServer, said, stream, success } from "./played-server.js";
import { patient, timers } from "./timers.js";

// HTTP+SSE: one stream for all that the server says, and POSTs whose answers say nothing.

const revision = "2024-11-05";

interface OldServer extends PlayedServer {
  /** Writes a message to the stream. */
  tell(message: unknown): void;
}

/** Opens conversations; what else is posted waits for the test. */
async function playOld(): Promise<OldServer> {
  let last: Asked | undefined;
  const tell = (message: unknown): void => void last?.response.write(event(message));
  const server = await playServer((asked) => {
    const { method, path, message, response } = asked;
    if (method === "GET") {
      last = asked;
      return stream(asked).write("event: endpoint\ndata: /messages\n\n");
    }
    if (path !== "/messages") return response.writeHead(405).end();
    if (message.method !== "initialize" && message.method !== "notifications/initialized") return false;
    response.writeHead(202).end("Accepted");
    const serverInfo = { name: "old", version: "1" };
    if (message.id !== undefined)
      tell(success(asked, { protocolVersion: revision, capabilities: { tools: {} }, serverInfo }));
    return true;
  });
  return { ...server, tell };
}

describe("a server of the first revision", () => {
  test("may accept a call when it is done, and ask and be asked meanwhile", async () => {
    await using server = await playOld();
    await using opened = await open(server, { revision, handlers: { roots: [{ uri: "file:///home" }] } });
    const slow = opened.client.tools.call("slow");
    const asked = await server.next();
    server.tell({ jsonrpc: "2.0", id: "q", method: "roots/list" });
    const answer = await server.next();
    expect(answer.message).toMatchObject({ id: "q", result: { roots: [{ uri: "file:///home" }] } });
    answer.response.writeHead(202).end();
    const quick = opened.client.tools.call("quick");
    const second = await server.next();
    second.response.writeHead(202).end();
    server.tell(success(second, said("quick")));
    expect((await quick).content).toEqual([{ type: "text", text: "quick" }]);
    server.tell(success(asked, said("slow")));
    asked.response.writeHead(202).end();
    expect((await slow).content).toEqual([{ type: "text", text: "slow" }]);
    expect(opened.reports).toEqual([]);
  });

  test("has accepted a call even if it does not say so to the end", async () => {
    await using server = await playOld();
    await using opened = await open(server, { revision });
    const call = opened.client.tools.call("a");
    const asked = await server.next();
    asked.response.writeHead(202, { "content-length": 100 }).write("Acc", () => asked.response.destroy());
    await asked.over;
    server.tell(success(asked, said("ok")));
    await call;
  });

  test("fails the one call whose request does not get there", async () => {
    await using server = await playOld();
    await using opened = await open(server, { revision });
    const running = opened.client.tools.call("a");
    const asked = await server.next();
    asked.response.writeHead(202).end();
    const lost = errorOf(opened.client.tools.call("b"));
    (await server.next()).response.destroy();
    expect(await lost).toMatchObject({ reason: "closed", message: expect.stringContaining("cannot be reached") });
    server.tell(success(asked, said("ok")));
    await running;
  });

  test("is given up if it does not say where to post", async () => {
    const clock = createFakeClock();
    await using server = await playServer((asked) =>
      asked.method === "GET" ? stream(asked).write(":\n\n") : asked.response.writeHead(405).end(),
    );
    const opening = errorOf(connect(server.url, { revision, clock, ...patient }));
    await timers(clock, 1);
    while (server.asked.length < 2) await new Promise(setImmediate);
    clock.advance(9_999);
    expect(clock.armed).toBe(1);
    clock.advance(1);
    expect(await opening).toMatchObject({ reason: "closed", message: expect.stringContaining("endpoint event") });
    await server.asked[1]?.over;
    expect(clock.armed).toBe(0);
  });

  test("keeps nothing when its client disconnects", async () => {
    const clock = createFakeClock();
    await using server = await playOld();
    const { client } = await open(server, { revision, clock, ...patient });
    const call = errorOf(client.tools.call("a"));
    const asked = await server.next();
    await client.close();
    expect(await call).toMatchObject({ reason: "closed" });
    await asked.over;
    await server.asked.find(({ method }) => method === "GET")?.over;
    expect(clock.armed).toBe(0);
  });
});
