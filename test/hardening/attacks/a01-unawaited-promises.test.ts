import { fileURLToPath } from "node:url";
import { type Client, connect, type InputHandlers } from "@parlance/mcp/client";
import { type Channel, openConnection, tapChannel } from "@parlance/mcp/jsonrpc";
import { type ChildChannel, childChannel } from "@parlance/mcp/node";
import { describe, expect, test } from "vitest";
import { deferred } from "../../../packages/mcp/src/base/deferred.js";
import { errorOf } from "../../client/session/openings.js";

// The servers are processes of their own, which run what was built: an unhandled rejection ends them, and is seen as it is
// in the field.
const server = fileURLToPath(new URL("../../fixtures/forgetful-server.js", import.meta.url));
const service = fileURLToPath(new URL("../../fixtures/forgetful-service.js", import.meta.url));

const eras = ["2025-11-25", "2026-07-28"] as const;

interface Served extends AsyncDisposable {
  readonly client: Client;
  /** The requests to the client, in order. */
  readonly asked: readonly string[];
  /** The `inputRequests` of every result that asked. */
  readonly rounds: readonly object[];
  readonly stderr: () => string;
}

/** A client of the process. Closing it fails if the process has ended by itself, or has said that something went wrong. */
async function serve(revision: string, kinds: readonly (keyof InputHandlers)[]): Promise<Served> {
  const asked: string[] = [];
  const rounds: object[] = [];
  const child = childChannel({ command: process.execPath, args: [server] });
  const noted = <Answer>(kind: string, answer: Answer): Answer => {
    asked.push(kind);
    return answer;
  };
  const said = { role: "assistant", model: "m", content: { type: "text", text: "hi" } } as const;
  const all: InputHandlers = {
    elicitation: () => noted("elicitation", { action: "accept", content: { name: "Ada" } }),
    urlElicitation: () => noted("urlElicitation", { action: "accept" }),
    sampling: () => noted("sampling", said),
    roots: () => noted("roots", [{ uri: "file:///home" }]),
  };
  const answers: InputHandlers = Object.fromEntries(kinds.map((kind) => [kind, all[kind]]));
  const client = await connect(noting(child, rounds), { revision, handlers: answers });
  return {
    client,
    asked,
    rounds,
    stderr: () => child.stderr,
    async [Symbol.asyncDispose]() {
      await client.ping();
      expect(child.exit, "the process has ended by itself").toBeUndefined();
      expect(child.stderr).not.toContain("UnhandledPromiseRejection");
      await client.close();
    },
  };
}

function noting(child: ChildChannel, rounds: object[]): Channel {
  return tapChannel(child, (each) => {
    if (each.kind !== "received" || !each.frame.includes('"inputRequests"')) return;
    rounds.push((JSON.parse(each.frame) as { result: { inputRequests: object } }).result.inputRequests);
  });
}

const everything = ["elicitation", "urlElicitation", "sampling", "roots"] as const;

describe.each(eras)("A1: what a handler does not await, in %s", (revision) => {
  test.each<[string, readonly (keyof InputHandlers)[]]>([
    ["that can be asked everything", everything],
    ["that can be asked nothing", []],
    ["that can be asked for forms alone", ["elicitation"]],
  ])("leaves the process alive for a client %s", async (_, kinds) => {
    await using served = await serve(revision, kinds);
    const { content } = await served.client.tools.call("forget");
    expect(content).toEqual([{ type: "text", text: "forgotten" }]);
    expect(await served.client.call("acme/forget")).toMatchObject({ forgotten: true });
    await served.client.ping();
  });

  test("a middleware may answer without awaiting the handler, whose failure is reported", async () => {
    await using served = await serve(revision, []);
    const { content } = await served.client.tools.call("fails_later");
    expect(content).toEqual([{ type: "text", text: "answered before" }]);
    await served.client.ping();
    await expect.poll(served.stderr).toContain("this tool fails");
  });

  test.each(["one_after_the_other", "together"])("two questions at once are both answered: %s", async (tool) => {
    await using served = await serve(revision, ["elicitation", "roots"]);
    const { content } = await served.client.tools.call(tool);
    expect(content).toEqual([{ type: "text", text: "Ada in file:///home" }]);
    expect([...served.asked].sort()).toEqual(["elicitation", "roots"]);
    const round = { "question-1": { method: "elicitation/create" }, "question-2": { method: "roots/list" } };
    expect(served.rounds).toMatchObject(revision === "2026-07-28" ? [round] : []);
  });

  test.each(["one_after_the_other", "together"])(
    "one question of two that the client cannot answer fails the call by its name: %s",
    async (tool) => {
      await using served = await serve(revision, ["elicitation"]);
      expect(await errorOf(served.client.tools.call(tool))).toMatchObject({
        code: revision === "2026-07-28" ? -32_021 : -32_600,
        data: { requiredCapabilities: { roots: {} } },
      });
    },
  );

  test("a handler that copes with a question that cannot be asked gets the answer to the other one", async () => {
    await using served = await serve(revision, ["elicitation"]);
    const { content } = await served.client.tools.call("without_roots");
    expect(content).toEqual([{ type: "text", text: "Ada in somewhere" }]);
    expect(served.asked).toEqual(["elicitation"]);
  });
});

describe("A1: what a handler does not await, elsewhere", () => {
  test("leaves the process alive in a task", async () => {
    await using served = await serve("2025-11-25", []);
    const { taskId } = await served.client.tools.start("forget_as_task");
    expect(await served.client.tasks.result(taskId)).toMatchObject({ content: [{ text: "forgotten" }] });
  });

  test("a question that is refused at once does not bother a person for the other one", async () => {
    await using served = await serve("2026-07-28", ["elicitation"]);
    await errorOf(served.client.tools.call("together"));
    expect(served.asked).toEqual([]);
  });

  test("leaves the process of a plain service alive when its caller refuses or does not answer", async () => {
    const child = childChannel({ command: process.execPath, args: [service] });
    const over = deferred<void>();
    const peer = openConnection(child, {
      handle(method) {
        if (method === "slow") return over.promise;
        throw new Error("refused");
      },
      report: () => undefined,
    });
    expect(await peer.call("forget")).toBe("forgotten");
    expect(await peer.call("alive")).toBe(true);
    expect(child.exit).toBeUndefined();
    over.resolve();
    await peer.close();
  });
});
