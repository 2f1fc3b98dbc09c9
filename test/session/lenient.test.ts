import { connect } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { createServer } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { initialize, initializeResult, notification, parse, request, success } from "../testing/frames.js";
import { play, talkTo, turn } from "../testing/talks.js";

function slowServer(): ReturnType<typeof createServer> {
  const server = createServer({ name: "slow", version: "1" });
  server.tool(
    "wait",
    {},
    (_args, { signal }) => new Promise((_done, stop) => signal.addEventListener("abort", () => stop(signal.reason))),
  );
  return server;
}

/** Opens a client of 2025-11-25 with a server that is played. */
async function openClient(played: ReturnType<typeof play>, options: Parameters<typeof connect>[1]) {
  const opening = connect(played.dial, { revision: "2025-11-25", clock: played.clock, ...options });
  const server = await played.next();
  await server.next();
  server.send(initializeResult(1, "2025-11-25"));
  const client = await opening;
  await server.next();
  return { client, server };
}

describe("loose names, where somebody asks to be lenient", () => {
  test("open a conversation in the words of a tutorial, and cancel in those of an editor", async () => {
    await using talk = talkTo(slowServer(), { lenient: true });
    expect(parse(await talk.ask(initialize("0.1.0")))).toMatchObject({ result: { protocolVersion: "2024-11-05" } });
    talk.peer.send(notification("initialized"));
    talk.peer.send(request(1, "tools/call", { name: "wait" }));
    talk.peer.send(notification("$/cancelRequest", { id: 1 }));
    expect(await talk.ask(request(2, "ping"))).toBe(success(2, {}));
  });

  test("are accepted by a client, too, and never sent", async () => {
    await using played = play();
    const progress: number[] = [];
    const { client, server } = await openClient(played, { lenient: true });
    const call = client.tools.call("count", {}, { onProgress: (each) => progress.push(each.progress) });
    const token = 1;
    expect(await server.next()).toContain(`"progressToken":${token}`);
    server.send(notification("$/progress", { token, value: 5 }));
    server.send(success(2, { content: [] }));
    await call;
    expect(progress).toEqual([5]);
    expect(played.sent.join()).not.toContain("$/");
    await client.close();
  });
});

test("a client takes progress whose token is the text of its number, and reports it once for each call", async () => {
  await using played = play();
  const progress: number[] = [];
  const told: string[] = [];
  const reports: string[] = [];
  const { client, server } = await openClient(played, {
    onNotification: (method) => void told.push(method),
    report: (each) => void reports.push(describeReport(each)),
  });
  const call = client.tools.call("count", {}, { onProgress: (each) => progress.push(each.progress) });
  expect(await server.next()).toContain('"progressToken":1');
  for (const [index, progressToken] of ["1", "1", "01", "1.0", "2", 1].entries())
    server.send(notification("notifications/progress", { progressToken, progress: index }));
  server.send(success(2, { content: [] }));
  await call;
  expect(progress).toEqual([0, 1, 5]);
  expect(told).toHaveLength(3);
  expect(reports).toEqual([
    'accepted "notifications/progress": its token for tools/call must be the number 1, got the string "1"',
  ]);
  await client.close();
});

test("loose names are unknown to everybody else", async () => {
  await using talk = talkTo(slowServer());
  expect(parse(await talk.ask(initialize("0.1.0")))).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  talk.peer.send(notification("initialized"));
  await turn();
  await talk.ask(request(1, "tools/list"));
  expect(talk.reports).toEqual([expect.stringContaining("it came before notifications/initialized")]);
});
