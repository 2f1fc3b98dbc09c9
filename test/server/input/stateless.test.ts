import { describe, expect, test } from "vitest";
import { claim, parse, request } from "../../testing/frames.js";
import { type Talk, talkTo } from "../../testing/talks.js";
import { answerOf, askingServer, type Effects } from "./questions.js";

const capable = {
  ...claim,
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} }, roots: {}, sampling: {} },
};
let lastId = 0;

interface Round {
  readonly [member: string]: unknown;
  readonly resultType: string;
  readonly requestState: string;
  readonly inputRequests: Readonly<
    Record<string, { readonly method: string; readonly params: { readonly message: string } }>
  >;
  readonly content: readonly { readonly text: string }[];
}

function call(name: string, more: object = {}, meta: object = capable): string {
  lastId += 1;
  return request(lastId, "tools/call", { name, _meta: meta, ...more });
}

async function round(talk: Talk, frame: string): Promise<Round> {
  return parse(await talk.ask(frame)).result as unknown as Round;
}

/** Answers every question of a round, and makes the call again. */
function again(name: string, { inputRequests, requestState }: Round): string {
  const answers = Object.entries(inputRequests).map(([key, { method, params }]) => [
    key,
    method === "roots/list" ? { roots: [{ uri: "file:///home" }] } : answerOf(params.message),
  ]);
  return call(name, { inputResponses: Object.fromEntries(answers), requestState });
}

async function failure(talk: Talk, frame: string): Promise<{ code: number; message: string; data?: unknown }> {
  return parse(await talk.ask(frame)).error as { code: number; message: string; data?: unknown };
}

test("a handler with two questions runs in three rounds, and its effect happens once", async () => {
  const effects: Effects = { booked: 0 };
  await using talk = talkTo(askingServer(effects));
  const first = await round(talk, call("book"));
  expect(first).toMatchObject({
    resultType: "input_required",
    inputRequests: {
      "question-1": {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "Who travels?",
          requestedSchema: {
            type: "object",
            properties: { name: { type: "string", minLength: 2 } },
            required: ["name"],
          },
        },
      },
    },
  });
  const second = await round(talk, again("book", first));
  expect(Object.keys(second.inputRequests)).toEqual(["question-2"]);
  const third = await round(talk, again("book", second));
  expect(third).toMatchObject({ resultType: "complete", content: [{ text: "ticket 1 for Ada: booked" }] });
  expect(effects.booked).toBe(1);
});

test("several questions at once are one round, and keep their keys", async () => {
  await using talk = talkTo(askingServer());
  const first = await round(talk, call("at_once"));
  expect(Object.keys(first.inputRequests)).toEqual(["who", "where"]);
  expect(first.inputRequests.where).toEqual({ method: "roots/list", params: {} });
  expect((await round(talk, again("at_once", first))).content[0]?.text).toBe("Ada in file:///home");
});

test("a handler that returns its questions gets the answers and its own state", async () => {
  await using talk = talkTo(askingServer());
  const first = await round(talk, call("returning"));
  expect((await round(talk, again("returning", first))).content[0]?.text).toBe(
    '{"action":"accept","content":{"name":"Ada"}} {"asked":1}',
  );
});

test("a question comes first even if the handler swallows what is thrown at it", async () => {
  await using talk = talkTo(askingServer());
  const first = await round(talk, call("swallows"));
  expect(first.resultType).toBe("input_required");
  expect((await round(talk, again("swallows", first))).content[0]?.text).toBe("Ada");
});

test("a missing input response is requested again, and one that was not requested is ignored", async () => {
  await using talk = talkTo(askingServer());
  const first = await round(talk, call("at_once"));
  const { requestState } = first;
  const half = { who: answerOf("Who?"), stranger: { action: "accept" } };
  const second = await round(talk, call("at_once", { requestState, inputResponses: half }));
  expect(Object.keys(second.inputRequests)).toEqual(["where"]);
  expect((await round(talk, again("at_once", second))).content[0]?.text).toBe("Ada in file:///home");
});

test("answers without a state count for nothing", async () => {
  await using talk = talkTo(askingServer());
  const first = await round(talk, call("book", { inputResponses: { "question-1": answerOf("Who?") } }));
  expect(Object.keys(first.inputRequests)).toEqual(["question-1"]);
});

test("an answer that does not fit its question is an error that names the place", async () => {
  await using talk = talkTo(askingServer());
  const { requestState } = await round(talk, call("book"));
  const answer = { "question-1": { action: "accept", content: { name: "A" } } };
  expect(await failure(talk, call("book", { requestState, inputResponses: answer }))).toMatchObject({
    code: -32602,
    data: { errors: [{ path: "/inputResponses/question-1/content/name" }] },
  });
  const ill = { "question-1": { action: "maybe" } };
  const next = await round(talk, call("book"));
  expect(await failure(talk, call("book", { requestState: next.requestState, inputResponses: ill }))).toMatchObject({
    data: { errors: [{ path: "/inputResponses/question-1/action", message: "must be accept, decline or cancel" }] },
  });
  expect(await failure(talk, call("book", { requestState, inputResponses: [] }))).toMatchObject({
    code: -32602,
    data: { errors: [{ path: "/inputResponses", message: "must be an object" }] },
  });
});

describe("a state opens only for the call that it was made for", () => {
  const refused = { code: -32602, data: { errors: [{ path: "/requestState" }] } };

  test("not when it was altered, wherever", async () => {
    await using talk = talkTo(askingServer());
    const { requestState } = await round(talk, call("book"));
    for (const at of [0, 3, 10, Math.floor(requestState.length / 2), requestState.length - 2]) {
      const other = requestState[at] === "A" ? "B" : "A";
      const altered = requestState.slice(0, at) + other + requestState.slice(at + 1);
      expect(
        await failure(talk, call("book", { requestState: altered, inputResponses: {} })),
        `at ${at}`,
      ).toMatchObject(refused);
    }
  });

  test.each(["", "v1.", "v2.AAAA", "v1.AAAA", "x".repeat(100_000), 7, null, {}])(
    "not when it is %j",
    async (requestState) => {
      await using talk = talkTo(askingServer());
      expect(await failure(talk, call("book", { requestState }))).toMatchObject(refused);
    },
  );

  test("not for another tool, nor for other arguments", async () => {
    await using talk = talkTo(askingServer());
    const { requestState } = await round(talk, call("book"));
    expect(await failure(talk, call("at_once", { requestState }))).toMatchObject(refused);
    expect(await failure(talk, call("book", { requestState, arguments: { other: 1 } }))).toMatchObject(refused);
  });

  test("but on another server object with the same secret, in whatever order the params come", async () => {
    await using here = talkTo(askingServer());
    await using there = talkTo(askingServer());
    const { requestState } = await round(here, call("book"));
    const inputResponses = { "question-1": answerOf("Who?") };
    lastId += 1;
    const frame = request(lastId, "tools/call", { requestState, inputResponses, _meta: capable, name: "book" });
    expect((await round(there, frame)).resultType).toBe("input_required");
  });
});

test("a question that a client cannot answer is refused by the name of the capability", async () => {
  await using talk = talkTo(askingServer());
  const bare = (capabilities: object): object => ({
    ...claim,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  });
  expect(await failure(talk, call("book", {}, bare({})))).toEqual({
    code: -32021,
    message: "Missing required client capability: elicitation.form",
    data: { requiredCapabilities: { elicitation: { form: {} } } },
  });
  expect(await failure(talk, call("page", {}, bare({ elicitation: {} })))).toMatchObject({
    data: { requiredCapabilities: { elicitation: { url: {} } } },
  });
  expect(await failure(talk, call("model", {}, bare({ elicitation: {} })))).toMatchObject({
    data: { requiredCapabilities: { sampling: {} } },
  });
  expect((await round(talk, call("book", {}, bare({ elicitation: {} })))).resultType).toBe("input_required");
});

test("a handler that asks something else when it is run again is a bug, and says so in the log only", async () => {
  await using talk = talkTo(askingServer());
  const first = await round(talk, call("fickle"));
  expect(await failure(talk, again("fickle", first))).toEqual({ code: -32603, message: "Internal error" });
  expect(talk.reports.join()).toContain("must make the same requests");
});

test("a call asks in at most ten rounds", async () => {
  await using talk = talkTo(askingServer());
  let frame = call("endless");
  for (let asked = 1; asked < 10; asked += 1) {
    const next = await round(talk, frame);
    expect(next.resultType).toBe("input_required");
    frame = again("endless", next);
  }
  expect(await failure(talk, frame)).toEqual({ code: -32603, message: "Internal error" });
});
