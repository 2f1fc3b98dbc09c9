import { latest, latestHandshake } from "@parlance/mcp";
import { type ClientOptions, connect, LocalError, type ServerHint } from "@parlance/mcp/client";
import { createServer } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { discoverResult, failure, initializeResult, modern, parse, success } from "../../testing/frames.js";
import { type Played, play } from "../../testing/talks.js";
import { answerWith, errorOf, info } from "./openings.js";

const unknown = (id: number): string => failure(id, -32_601, "Method not found");

/** The methods that the client has called. */
function asked(played: Played): readonly (string | undefined)[] {
  return played.sent.map((frame) => parse(frame).method);
}

async function open(
  played: Played,
  options: ClientOptions,
): Promise<AsyncDisposable & { readonly serverHint: ServerHint }> {
  return connect(played.dial, { info, clock: played.clock, ...options });
}

describe("an era can be insisted on:", () => {
  test("the handshake, and nothing is probed", async () => {
    await using played = play();
    const opening = open(played, { era: "handshake" });
    const peer = await answerWith(played, [initializeResult(1, "2024-11-05")]);
    await using _ = await opening;
    await peer.next();
    expect(asked(played)).toEqual(["initialize", "notifications/initialized"]);
  });

  test("the stateless one, and a server that does not speak it is not spoken to", async () => {
    await using played = play();
    const opening = errorOf(open(played, { era: "stateless" }));
    await answerWith(played, [unknown(1)]);
    expect(await opening).toMatchObject({
      reason: "protocol",
      message:
        'the server does not speak a revision of the stateless era: it answered server/discover with -32601 "Method not found"',
    });
    expect(asked(played)).toEqual(["server/discover"]);
  });

  test("and both are there", async () => {
    const server = createServer({ name: "both", version: "1" });
    await using old = await connect(server, { era: "handshake" });
    await using fresh = await connect(server, { era: "stateless" });
    expect([old.revision, fresh.revision]).toEqual([latestHandshake.version, latest.version]);
  });
});

describe("what was found out about a server saves asking the next time:", () => {
  test("one of the stateless era is asked nothing at all", async () => {
    const server = createServer({ name: "known", version: "1" });
    server.tool("t", {}, () => "done");
    await using first = await connect(server);
    const prior = JSON.parse(JSON.stringify(first.serverHint)) as ServerHint;
    await using played = play();
    await using client = await connect(played.dial, { info, clock: played.clock, serverHint: prior });
    expect([client.revision, client.server.info?.name]).toEqual([modern, "known"]);
    expect(played.sent).toEqual([]);
    const peer = await played.next();
    const call = client.tools.call("t");
    peer.send(success(parse(await peer.next()).id ?? "", { resultType: "complete", content: [] }));
    await call;
  });

  test("one of the handshake is not probed", async () => {
    await using played = play();
    const opening = open(played, { serverHint: { era: "handshake" } });
    const peer = await answerWith(played, [initializeResult(1, "2025-11-25")]);
    await using client = await opening;
    await peer.next();
    expect(client.serverHint).toEqual({ era: "handshake" });
    expect(asked(played)).toEqual(["initialize", "notifications/initialized"]);
  });

  test("one that has learnt the stateless era since is asked after all", async () => {
    await using played = play();
    const opening = open(played, { serverHint: { era: "handshake" } });
    await answerWith(played, [unknown(1), discoverResult(2)]);
    await using client = await opening;
    expect(client.serverHint).toMatchObject({ era: "stateless" });
  });

  test("one that has gone silent is not waited for twice", async () => {
    await using played = play();
    const opening = errorOf(open(played, { serverHint: { era: "handshake" }, timeout: 300 }));
    await answerWith(played, [""]);
    played.clock.advance(300);
    expect(await opening).toMatchObject({ reason: "timeout" });
  });

  test("but one that says nothing of what it speaks is asked", async () => {
    await using played = play();
    const opening = open(played, { serverHint: { era: "stateless" } });
    await answerWith(played, [discoverResult(1)]);
    await using client = await opening;
    expect(client.serverHint.discovered).toMatchObject({ supportedVersions: [modern] });
  });

  test("and what lists no versions means the handshake, as it does when it is asked", async () => {
    await using played = play();
    const opening = open(played, { serverHint: { era: "stateless", discovered: { supportedVersions: 5 } } });
    const peer = await answerWith(played, [initializeResult(1, "2025-11-25")]);
    await using client = await opening;
    await peer.next();
    expect(client.serverHint).toEqual({ era: "handshake" });
  });
});

describe("an opening can be given up", () => {
  test.each<[string, ClientOptions, readonly string[]]>([
    ["while the era is asked for", {}, [""]],
    ["while the handshake goes on", {}, [unknown(1), ""]],
    ["in a handshake", { era: "handshake" }, [""]],
  ])("%s, and no transport is left behind", async (_, options, answers) => {
    await using played = play();
    const giveUp = new AbortController();
    const opening = errorOf(open(played, { ...options, signal: giveUp.signal }));
    await answerWith(played, answers);
    giveUp.abort(new Error("the window was closed"));
    const cause = new Error("the window was closed");
    expect(await opening).toEqual(new LocalError("cancelled", "connect: cancelled by the caller", { cause }));
  });

  test.each([
    [{ probeTimeout: Number.NaN }, "connect: probeTimeout: expected a number, got NaN"],
    [{ info: { name: 1n as unknown as string, version: "1" } }, "connect: info: name: expected a string, got a bigint"],
  ])("by options of another kind, %o, before a transport is made", async (options, message) => {
    await using played = play();
    expect(await errorOf(open(played, options))).toEqual(new TypeError(message));
    expect(played.sent).toEqual([]);
  });

  test("before it begins, and no transport is made", async () => {
    await using played = play();
    expect(await errorOf(open(played, { signal: AbortSignal.abort() }))).toMatchObject({ reason: "cancelled" });
  });

  test("but not any more when it is open", async () => {
    const giveUp = new AbortController();
    await using client = await connect(createServer({ name: "s", version: "1" }), { signal: giveUp.signal });
    giveUp.abort();
    await client.ping();
  });
});
