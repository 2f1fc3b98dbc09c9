import { connect, LocalError, RpcError } from "@parlance/mcp/client";
import { describe, expect, test } from "vitest";
import { discoverResult, failure, initializeResult, success } from "../../testing/frames.js";
import { play } from "../../testing/talks.js";
import { answerWith, discover, errorOf, greeting, info, unsupported } from "./openings.js";

describe("a client that insists on a revision", () => {
  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "of the handshake era asks for %s, and nothing before",
    async (revision) => {
      await using played = play();
      const opening = connect(played.dial, { info, clock: played.clock, revision });
      await answerWith(played, [initializeResult(1, revision), ""]);
      await using client = await opening;
      expect(client.revision).toBe(revision);
      expect(played.sent[0]).toBe(greeting(1, revision));
    },
  );

  test("fails where the server settles on another", async () => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock, revision: "2025-11-25" }));
    await answerWith(played, [initializeResult(1, "2025-06-18"), ""]);
    expect(await opening).toEqual(
      new LocalError("protocol", "the server does not speak 2025-11-25: it offers 2025-06-18"),
    );
  });

  test.each<[string, string, string]>([
    [
      "does not know the question",
      failure(1, -32_601, "Method\nnot found"),
      'it answered server/discover with -32601 "Method\\nnot found"',
    ],
    ["refuses it, and offers others", unsupported(1, ["2025-11-25"]), 'it speaks "2025-11-25"'],
    ["knows the question, but not the version", discoverResult(1, ["2025-06-18"]), 'it speaks "2025-06-18"'],
    ["answers something else", success(1, {}), "its answer to server/discover lists no versions"],
    ["answers no object", success(1, 1), "server/discover: the result is not an object"],
  ])("of the stateless era says so where the server %s", async (_name, answer, why) => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock, revision: "2026-07-28" }));
    await answerWith(played, [answer]);
    expect(await opening).toMatchObject({
      name: "LocalError",
      reason: "protocol",
      message: `the server does not speak 2026-07-28: ${why}`,
    });
    expect(played.sent).toEqual([discover(1)]);
  });

  test("of the stateless era makes no second transport for a server that is silent", async () => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock, revision: "2026-07-28" }));
    await answerWith(played, [""]);
    played.clock.advance(60_000);
    expect(await opening).toMatchObject({
      reason: "timeout",
      message: "server/discover (id 1): no response or notification for 60000 ms",
    });
  });

  test.each(["2025-11-24", "", "latest", "__proto__"])(
    "that does not exist makes no transport at all: %j",
    async (revision) => {
      await using played = play();
      expect(await errorOf(connect(played.dial, { revision }))).toEqual(
        new RangeError(
          `Unknown protocol revision ${JSON.stringify(revision)}: use one of 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05`,
        ),
      );
    },
  );
});

describe("a server that settles on a version which this side does not speak is left:", () => {
  test.each([
    ["1.0.0", '"1.0.0"'],
    ["2026-07-28", '"2026-07-28"'],
    ["", '""'],
    ["\u001b[2J", '"\\u001b[2J"'],
    ["v".repeat(9_000), `"${"v".repeat(120)}…"`],
    [20_251_125, "a number"],
    [undefined, "nothing"],
    [null, "null"],
  ])("%j", async (protocolVersion, named) => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock, revision: "2025-11-25" }));
    await answerWith(played, [success(1, { protocolVersion, capabilities: { tools: {} }, serverInfo: info })]);
    expect(await opening).toEqual(
      new LocalError(
        "protocol",
        `initialize: the server speaks ${named}, this side 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05`,
      ),
    );
    expect(played.sent).toEqual([greeting(1)]);
  });

  test("one that refuses initialize is left as well", async () => {
    await using played = play();
    const opening = errorOf(connect(played.dial, { info, clock: played.clock, revision: "2025-11-25" }));
    await answerWith(played, [failure(1, -32_602, "Unsupported protocol version", { supported: [] })]);
    expect(await opening).toEqual(new RpcError(-32_602, "Unsupported protocol version", { supported: [] }));
  });
});
