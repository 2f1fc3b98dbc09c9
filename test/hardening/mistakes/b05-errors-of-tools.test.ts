import { versions } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { createServer, RpcError, type Server, ToolError } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { ToolErrors } from "../../../packages/mcp/src/server/features/tool-definitions.js";
import { recordingFiles } from "../../cli/recording-files.js";
import { openAsked } from "../../server/input/open.js";
import { speak } from "../../server/speak.js";
import { parse } from "../../testing/frames.js";
import { conversationWith } from "../../testing/talks.js";
import { recordingText } from "../../wire/recording/example-recording.js";
import { header, opening, recorded } from "../../wire/recording/recorded.js";

const info = { name: "failing", version: "1.0.0" };
const internal = { code: -32_603, message: "Internal error" };

/** A server with one tool that does that. */
function doing(run: () => unknown, toolErrors?: ToolErrors): Server {
  const server = createServer({ ...info, ...(toolErrors && { toolErrors }) });
  server.tool("do", {}, run as () => string);
  return server;
}

const failing = (error: unknown) => (): never => {
  throw error;
};
const isError = (text: string): object => ({ content: [{ type: "text", text }], isError: true });

describe.each(versions)("B5: an Error thrown by a tool, in %s", (version) => {
  test.each<[string, ToolErrors | undefined]>([
    ["by default", undefined],
    ["where it is said", "internal"],
  ])("%s the model gets no word of it, and the operator all", async (_when, toolErrors) => {
    await using peer = await speak(doing(failing(new Error("password is hunter2")), toolErrors), version);
    expect(await peer.error("tools/call", { name: "do" })).toEqual(internal);
    expect(peer.talk.reports.join()).toMatch(/do.*password is hunter2[\s\S]*\n {4}at /);
  });

  test.each<[string, () => unknown]>([
    ["at once", failing(new Error("no such city"))],
    ["later", async () => failing(new Error("no such city"))()],
  ])('with toolErrors: "message" the model gets the message, and the operator all: %s', async (_when, run) => {
    await using peer = await speak(doing(run, "message"), version);
    expect(await peer.result("tools/call", { name: "do" })).toEqual(isError("no such city"));
    expect(peer.talk.reports).toHaveLength(1);
    expect(peer.talk.reports[0]).toMatch(/do.*no such city[\s\S]*\n {4}at /);
  });

  test.each<[string, unknown, string]>([
    ["a text", "only words", "only words"],
    ["an error without a message", Object.assign(new TypeError("x"), { message: "" }), "TypeError"],
    ["nothing", undefined, "undefined"],
    ["what cannot be a text", Object.create(null), "something that has no text was thrown"],
  ])('with toolErrors: "message" what is thrown may be %s', async (_what, thrown, text) => {
    await using peer = await speak(doing(failing(thrown), "message"), version);
    expect(await peer.result("tools/call", { name: "do" })).toEqual(isError(text));
    expect(peer.talk.reports).toHaveLength(1);
  });

  test('with toolErrors: "message" what cannot be sent says why', async () => {
    await using peer = await speak(
      doing(() => new Map(), "message"),
      version,
    );
    const { content } = await peer.result("tools/call", { name: "do" });
    expect(JSON.stringify(content)).toContain("/structuredContent must be JSON, got a Map");
    expect(peer.talk.reports).toHaveLength(1);
  });

  test('with toolErrors: "message" an RpcError and a ToolError are what they were, and nothing is reported', async () => {
    const error = new RpcError(4_711, "Out of stock", { item: "shoes" });
    await using peer = await speak(doing(failing(error), "message"), version);
    expect(await peer.error("tools/call", { name: "do" })).toEqual({
      code: 4_711,
      message: "Out of stock",
      data: { item: "shoes" },
    });
    await using other = await speak(doing(failing(new ToolError("words")), "message"), version);
    expect(await other.result("tools/call", { name: "do" })).toEqual(isError("words"));
    expect([...peer.talk.reports, ...other.talk.reports]).toEqual([]);
  });
});

test('B5: with toolErrors: "message" a question that ends a round is no failure', async () => {
  const server = createServer({ ...info, toolErrors: "message" });
  server.tool("do", {}, async (_args, ctx) => (await ctx.elicit("Who?", z.object({ name: z.string() }))).action);
  await using client = await openAsked(server, { version: "2026-07-28", isStateless: true }, { elicitation: {} });
  const frame = parse(await client.ask("tools/call", { name: "do" }));
  expect(frame.result).toMatchObject({ resultType: "input_required" });
  expect(client.talk.reports).toEqual([]);
});

test("B5: ToolError.from shows one error, with everything else as its cause", async () => {
  const cause = new Error("no such city");
  const error = ToolError.from(cause);
  expect(error).toBeInstanceOf(ToolError);
  expect(error.message).toBe("no such city");
  expect(error.cause).toBe(cause);
  expect(ToolError.from(error)).toBe(error);
  const client = await connect(doing(failing(error)));
  expect(await client.tools.call("do")).toMatchObject(isError("no such city"));
  await client.close();
});

test("B5: parlance check explains the error, and has nothing against a result that shows the message", async ({
  onTestFinished,
}) => {
  const files = await recordingFiles(onTestFinished);
  const check = async (toolErrors: ToolErrors): Promise<string> => {
    await using talk = await conversationWith(doing(failing(new Error("no such city")), toolErrors), "2025-11-25");
    const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"do"}}';
    const said = recorded(
      ...opening("2025-11-25", { server: { tools: {} } }),
      `→ ${call}`,
      `← ${await talk.ask(call)}`,
    );
    await files.write(`${toolErrors}.parlance.jsonl`, recordingText([header, ...said]));
    return (await files.run("check", toolErrors)).stdout;
  };
  expect(await check("internal")).toContain(
    "the model does not learn why the tool has failed: throw a ToolError with a message for the model",
  );
  expect(await check("message")).toMatch(/^✔ no violations/);
});

test("B5: another word for toolErrors is refused when the server is made", () => {
  expect(() => createServer({ ...info, toolErrors: "messages" as "message" })).toThrow(
    /toolErrors must be "internal" or "message"/,
  );
});
