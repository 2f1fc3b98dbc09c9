import { connect, LocalError, RpcError } from "@parlance/mcp/client";
import { memoryChannels } from "@parlance/mcp/jsonrpc";
import { assertNoLeaks, createFakeClock, rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { discoverResult, failure, initialized, initializeResult, success } from "../../testing/frames.js";
import { play, turn } from "../../testing/talks.js";
import { answerWith, discover, errorOf, greeting, info, unsupported } from "./openings.js";

describe("a server that answers server/discover is spoken to in its era:", () => {
  test("two frames open the session", async () => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock });
    await answerWith(played, [
      success(1, {
        resultType: "complete",
        supportedVersions: ["2026-07-28", "2025-11-25"],
        capabilities: { tools: {} },
        instructions: "Be gentle.",
        ttlMs: 0,
        cacheScope: "public",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "theirs", version: "7" } },
      }),
    ]);
    await using client = await opening;
    expect(played.sent).toEqual([discover(1)]);
    expect(client.revision).toBe("2026-07-28");
    expect(client.server).toEqual({
      info: { name: "theirs", version: "7" },
      capabilities: { tools: {} },
      instructions: "Be gentle.",
    });
    assertNoLeaks(client.connection);
  });

  test("one that forgets resultType, name and capabilities is understood", async () => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock });
    await answerWith(played, [success(1, { supportedVersions: ["2026-07-28"], capabilities: "many", _meta: [] })]);
    await using client = await opening;
    expect(client.server).toEqual({ info: undefined, capabilities: {}, instructions: undefined });
  });

  test("one that answers without our version among its own is not", async () => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock }));
    await answerWith(played, [discoverResult(1, ["2099-01-01", "\u001b[2J"])]);
    expect(await opening).toEqual(
      new LocalError(
        "protocol",
        'no common protocol version with the server: it speaks "2099-01-01, \\u001b[2J", this side 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05',
      ),
    );
  });
});

describe("a server that refuses the version (-32022)", () => {
  test("and offers it all the same is asked once more", async () => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock });
    await answerWith(played, [unsupported(1, ["2026-07-28", "2025-06-18"]), discoverResult(2)]);
    await using client = await opening;
    expect(client.revision).toBe("2026-07-28");
    expect(played.sent).toEqual([discover(1), discover(2)]);
  });

  test("and repeats itself is asked no third time", async () => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock }));
    await answerWith(played, [unsupported(1, ["2026-07-28"]), unsupported(2, ["2026-07-28"])]);
    expect(await opening).toEqual(
      new LocalError("protocol", "the server offers protocol version 2026-07-28, and refuses it"),
    );
    expect(played.sent).toHaveLength(2);
  });

  test("and offers only the other era gets initialize on the same transport", async () => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock });
    await answerWith(played, [unsupported(1, ["2025-06-18", "2024-11-05"]), initializeResult(2, "2025-06-18"), ""]);
    await using client = await opening;
    expect(client.revision).toBe("2025-06-18");
    expect(played.sent).toEqual([discover(1), greeting(2), initialized]);
  });

  test.each([
    ["none that we know", ["1.0.0"], '"1.0.0"'],
    ["none at all", [], "none"],
    ["more than fits in a line", Array<string>(1_000).fill("v".repeat(99)), `"${"v".repeat(99)}, ${"v".repeat(19)}…"`],
  ])("and offers %s is named as such", async (_name, supported, named) => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock }));
    await answerWith(played, [unsupported(1, supported)]);
    expect((await opening).message).toBe(
      `no common protocol version with the server: it speaks ${named}, this side 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05`,
    );
  });
});

describe("anything else that a server answers means the handshake, on the same transport:", () => {
  test.each<[string, string]>([
    ["-32601", failure(1, -32_601, "Method not found")],
    ["-32602", failure(1, -32_602, "Invalid request parameters")],
    ["-32600", failure(1, -32_600, "Server not initialized")],
    ["-32000", failure(1, -32_000, "Bad Request")],
    ["-32001", failure(1, -32_001, "Session not found")],
    ["-32020, which is about HTTP", failure(1, -32_020, "Header mismatch")],
    ["-32021 without what it needs", failure(1, -32_021, "Missing required client capability")],
    ["-32022 without a list", failure(1, -32_022, "Unsupported protocol version")],
    ["-32022 with a list of something else", unsupported(1, ["2026-07-28", 5])],
    ["0", failure(1, 0, "")],
    ["1", failure(1, 1, "no")],
    ["a result that is no object", '{"jsonrpc":"2.0","id":1,"result":null}'],
    ["a result that is an array", '{"jsonrpc":"2.0","id":1,"result":[]}'],
    ["a result that lists no versions", success(1, { tools: [] })],
    ["a list of versions that are none", success(1, { supportedVersions: [1] })],
    ["versions of the other era alone", discoverResult(1, ["2025-03-26"])],
    ["a resultType that we did not offer", success(1, { resultType: "input_required", supportedVersions: [] })],
    ["something that is no response", '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'],
    ["an error without a code", '{"jsonrpc":"2.0","id":1,"error":"unknown method"}'],
  ])("%s", async (_name, answer) => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock });
    await answerWith(played, [answer, initializeResult(2, "2025-03-26"), ""]);
    await using client = await opening;
    expect(client.revision).toBe("2025-03-26");
    expect(played.sent).toContain(greeting(2));
    expect(played.sent.at(-1)).toBe(initialized);
  });

  test("but not an error of the stateless era that says what is missing", async () => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock }));
    const data = { requiredCapabilities: { sampling: {} } };
    await answerWith(played, [failure(1, -32_021, "Missing required client capability", data)]);
    expect(await opening).toEqual(new RpcError(-32_021, "Missing required client capability", data));
  });
});

describe("a server that does not take the question", () => {
  test("and stays silent gets initialize on the same channel, when the time is over", async () => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock });
    const peer = await answerWith(played, [""]);
    played.clock.advance(4_999);
    await turn();
    expect(played.sent).toEqual([discover(1)]);
    played.clock.advance(1);
    expect(await peer.next()).toBe(greeting(2));
    peer.send(initializeResult(2, "2024-11-05"));
    await using client = await opening;
    expect(client.revision).toBe("2024-11-05");
    expect(await peer.next()).toBe(initialized);
    expect(played.sent).toEqual([discover(1), greeting(2), initialized]);
    assertNoLeaks(client.connection);
  });

  test.each([
    [{ probeTimeout: 10 }, 10],
    [{ timeout: 300 }, 300],
    [{ timeout: 300, probeTimeout: 1_000 }, 1_000],
    [{ timeout: 60_000 }, 5_000],
  ])("%j: is given that much time", async (options, milliseconds) => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock, ...options });
    const peer = await answerWith(played, [""]);
    played.clock.advance(milliseconds - 1);
    await turn();
    expect(played.sent).toHaveLength(1);
    played.clock.advance(1);
    await peer.next();
    peer.send(initializeResult(2, "2025-11-25"));
    await using _ = await opening;
    await peer.next();
  });

  test("and goes away gets initialize on a fresh transport at once", async () => {
    await using played = play();
    const opening = connect(played.dial, { info, clock: played.clock });
    const first = await played.next();
    await first.next();
    await first.close();
    await answerWith(played, [initializeResult(1, "2025-11-25"), ""]);
    await using client = await opening;
    expect(client.revision).toBe("2025-11-25");
  });

  test("nor the handshake fails the opening in its time, with what it said instead", async () => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock, timeout: 300 }));
    const peer = await answerWith(played, [""]);
    played.clock.advance(300);
    await peer.next();
    peer.send("Listening on port 3000");
    await turn();
    played.clock.advance(300);
    expect(await opening).toMatchObject({
      name: "LocalError",
      reason: "timeout",
      message: expect.stringMatching(
        /^initialize \(id 2\): no response or notification for 300 ms; before that, this side received "Listening on port 3000"/,
      ),
    });
  });

  test("and goes away is out of reach for a client that was given a channel, not a way to make one", async () => {
    const clock = createFakeClock();
    const [near, far] = memoryChannels();
    await using peer = rawPeer(far);
    const opening = errorOf(connect(near, { info, clock }));
    await peer.next();
    await peer.close();
    expect(await opening).toMatchObject({
      reason: "closed",
      message:
        "server/discover (id 1): the peer closed the connection; initialize needs a fresh channel: give a function that makes channels, or require a revision of the handshake era",
    });
    expect(clock.armed).toBe(0);
  });
});
