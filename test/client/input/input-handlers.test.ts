import { handshakeVersions, versions } from "@parlance/mcp";
import { connect, type InputHandlers, LocalError, userRejected } from "@parlance/mcp/client";
import { type CallOptions, describeReport, type Report } from "@parlance/mcp/jsonrpc";
import { revisionOf } from "@parlance/mcp/protocol";
import { createServer } from "@parlance/mcp/server";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { askingServer, type Effects } from "../../server/input/questions.js";
import { modern, notification, parse, request, success } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";
import { errorOf, openWith } from "../session/openings.js";

/** A person who travels, from somewhere, with a model. */
const traveller: InputHandlers = {
  // With two returns, each form leaves the field of the other one undefined.
  elicitation: ({ message }) => {
    if (message.startsWith("Who")) return { action: "accept", content: { name: "Ada" } };
    return { action: "accept", content: { sure: true } };
  },
  urlElicitation: ({ url }) => ({ action: url.startsWith("https://example.com/") ? "accept" : "decline" }),
  sampling: ({ messages }) => ({
    role: "assistant",
    model: `model of ${messages.length}`,
    content: { type: "text", text: "hi" },
  }),
  roots: [{ uri: "file:///home", name: "home" }],
};

const withForms = versions.filter((version) => revisionOf(version)?.facts.elicitation !== "none");
const withPages = versions.filter((version) => revisionOf(version)?.facts.elicitation.startsWith("form, url"));

/** The text of a tool, when this client responds to its requests. */
async function answered(revision: string, tool: string, answers: InputHandlers = traveller): Promise<string> {
  await using client = await connect(askingServer(), { revision, handlers: answers });
  const { content } = await client.tools.call(tool);
  await turn();
  assertNoLeaks(client.connection);
  const [block] = content;
  return block?.type === "text" ? block.text : JSON.stringify(block);
}

describe.each(withForms)("in %s, functions answer", (revision) => {
  test("two forms of one call, whose effect happens once", async () => {
    const effects: Effects = { booked: 0 };
    await using client = await connect(askingServer(effects), { revision, handlers: traveller });
    const { content } = await client.tools.call("book");
    expect(content).toEqual([{ type: "text", text: "ticket 1 for Ada: booked" }]);
    expect(effects.booked).toBe(1);
  });

  test("several questions at once", async () => {
    expect(await answered(revision, "at_once")).toBe("Ada in file:///home");
  });

  test("for a person who declines, or goes away", async () => {
    const declining: InputHandlers = { elicitation: () => ({ action: "decline" }) };
    expect(await answered(revision, "book", declining)).toBe("ticket 1: decline");
    const leaving: InputHandlers = { elicitation: () => ({ action: "cancel", content: { name: "unheard" } }) };
    expect(await answered(revision, "book", leaving)).toBe("ticket 1: cancel");
  });
});

test.each(withForms)(
  "in %s, a call fails whose form forbids what it is filled in with, and says why",
  async (revision) => {
    const hasty: InputHandlers = { elicitation: () => ({ action: "accept", content: { name: "A" } }) };
    expect(await errorOf(answered(revision, "book", hasty))).toMatchObject({
      message: expect.stringMatching(/the answer does not fit the form: \/name /) as unknown,
    });
  },
);

const withFormRequests = handshakeVersions.filter((version) => withForms.includes(version));

describe.each(withFormRequests)("in %s, while a person answers the request of a server,", (revision) => {
  const form = { message: "Who?", requestedSchema: { type: "object", properties: {} } };

  /** A call that the server has asked the user about; `decline` answers for the user. */
  async function asked(options: CallOptions) {
    let answer = (): void => undefined;
    const elicitation: InputHandlers["elicitation"] = () =>
      new Promise((resolve) => {
        answer = () => resolve({ action: "decline" });
      });
    const open = await openWith(revision, { handlers: { elicitation } });
    const call = open.client.tools.call("book", {}, options);
    const { id = "" } = parse(await open.peer.next());
    open.peer.send(request(7, "elicitation/create", form));
    await turn();
    const decline = async (): Promise<void> => {
      answer();
      expect(parse(await open.peer.next())).toMatchObject({ id: 7, result: { action: "decline" } });
    };
    const done = { content: [{ type: "text", text: "done" }] };
    return { open, call, answer: () => answer(), decline, finish: () => open.peer.send(success(id, done)) };
  }

  test("the time between two signs of the server does not run, and goes on after the answer", async () => {
    const { open, call, decline, finish } = await asked({ timeout: 1_000 });
    open.clock.advance(900);
    open.clock.advance(100_000);
    await decline();
    open.clock.advance(999);
    finish();
    expect(await call).toMatchObject({ content: [{ text: "done" }] });
    assertNoLeaks(open.client.connection);
    await open.client.close();
  });

  test("a server that is silent after the answer loses the call", async () => {
    const { open, call, decline } = await asked({ timeout: 1_000 });
    const failure = errorOf(call);
    open.clock.advance(5_000);
    await decline();
    open.clock.advance(1_000);
    expect(await failure).toEqual(
      new LocalError("timeout", "tools/call (id 2): no response or notification for 1000 ms"),
    );
    await open.client.close();
  });

  test("it runs for a call that was begun meanwhile, and again when the server withdraws its request", async () => {
    const { open, call, answer } = await asked({ timeout: 1_000 });
    const failure = errorOf(call);
    const later = errorOf(open.client.ping({ timeout: 1_000 }));
    expect(parse(await open.peer.next())).toMatchObject({ method: "ping" });
    open.clock.advance(1_000);
    expect(await later).toMatchObject({ reason: "timeout" });
    open.peer.send(notification("notifications/cancelled", { requestId: 7 }));
    await turn();
    open.clock.advance(1_000);
    expect(await failure).toMatchObject({ reason: "timeout" });
    answer(); // Of no use any more.
    await turn();
    await open.client.close();
  });

  test("responses without a wait do not extend it", async () => {
    await using open = await openWith(revision, { handlers: { roots: [{ uri: "file:///home" }] } });
    const failure = errorOf(open.client.tools.call("book", {}, { timeout: 1_000 }));
    await open.peer.next();
    for (let id = 1; id <= 3; id += 1) {
      open.peer.send(request(id, "roots/list"));
      expect(parse(await open.peer.next())).toMatchObject({ id, result: {} });
      open.clock.advance(400);
    }
    expect(await failure).toMatchObject({ reason: "timeout" });
    expect(parse(await open.peer.next())).toMatchObject({ method: "notifications/cancelled" });
  });

  test("the time of the call runs out", async () => {
    const { open, call, decline } = await asked({ timeout: 1_000, totalTimeout: 5_000 });
    const failure = errorOf(call);
    open.clock.advance(4_000);
    open.clock.advance(1_000);
    expect(await failure).toMatchObject({
      reason: "timeout",
      message: expect.stringContaining("no response within 5000 ms (totalTimeout)") as unknown,
    });
    expect(parse(await open.peer.next())).toMatchObject({ method: "notifications/cancelled" });
    await decline();
    await open.client.close();
  });
});

describe.each(withForms)("in %s, the value of once", (revision) => {
  const accepting: InputHandlers = { elicitation: () => ({ action: "accept" }) };

  /** The values that a handler gets from `once`, before and after its elicitation. */
  async function kept(value: unknown) {
    const seen: unknown[] = [];
    const server = createServer({ name: "keeping", version: "1" });
    server.tool("keep", {}, async (_args, ctx) => {
      const first = await ctx.once("it", () => value);
      const { action } = await ctx.elicit("Go on?", { type: "object" });
      seen.push(first, await ctx.once("it", () => "another"));
      return action;
    });
    const faults: string[] = [];
    const report = (each: Report): void => void (each.kind === "fault" && faults.push(describeReport(each)));
    await using client = await connect(server, { revision, handlers: accepting, report });
    const outcome = await client.tools.call("keep").catch((error: unknown) => error);
    return { seen, outcome, faults: faults.join("\n") };
  }

  test.each([[undefined], [null], [0], ["text"], [{ a: [1, { b: null }] }], [[]]])(
    "is %j in every round",
    async (value) => {
      expect((await kept(value)).seen).toEqual([value, value]);
    },
  );

  test.each<readonly [value: unknown, reason: string]>([
    [
      new Date(0),
      "its value must be JSON, got a Date, which would come back as another value: give date.toISOString()",
    ],
    [{ at: [new Date(0)] }, "/at/0 of its value must be JSON, got a Date"],
    [new Map(), "its value must be JSON, got a Map"],
    [
      new (class User {
        id = 1;
      })(),
      "its value must be JSON, got an User, which would come back as another value",
    ],
    [Number.NaN, "its value must be a finite number"],
    [1n, "its value must be JSON, got a bigint"],
  ])("cannot be %s", async (value, reason) => {
    const { outcome, faults } = await kept(value);
    expect(outcome).toMatchObject({ code: -32_603 });
    expect(faults).toContain(`ctx.once("it"): ${reason}`);
  });
});

test.each(withPages)("in %s, a person opens a URL", async (revision) => {
  expect(await answered(revision, "page")).toBe("accept");
});

describe.each(versions)("in %s, a model", (revision) => {
  test("answers", async () => {
    expect(await answered(revision, "model")).toBe("model of 1");
  });

  test("that is not there is missed by its name", async () => {
    await using client = await connect(askingServer(), { revision });
    expect(await errorOf(client.tools.call("model"))).toMatchObject({
      name: "RpcError",
      data: { requiredCapabilities: { sampling: {} } },
    });
  });
});

describe("what a client declares follows from its answers:", () => {
  const declared = async (version: string, answers: InputHandlers): Promise<unknown> => {
    await using open = await openWith(version, { handlers: answers });
    const { capabilities, _meta } = parse(open.sent[0] ?? "").params ?? {};
    return capabilities ?? (_meta as Record<string, unknown>)["io.modelcontextprotocol/clientCapabilities"];
  };

  test.each([
    ["2024-11-05", { roots: {}, sampling: {} }],
    ["2025-03-26", { roots: {}, sampling: {} }],
    ["2025-06-18", { roots: {}, sampling: {}, elicitation: {} }],
    ["2025-11-25", { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } }],
    ["2026-07-28", { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } }],
  ])("all of them, in %s", async (version, capabilities) => {
    expect(await declared(version, traveller)).toEqual(capabilities);
  });

  test("roots that can change, if the revision has a notification for that", async () => {
    const answers: InputHandlers = { roots: () => [] };
    expect(await declared("2025-11-25", answers)).toEqual({ roots: { listChanged: true } });
    expect(await declared(modern, answers)).toEqual({ roots: {} });
  });

  test("a model with tools, where there is such a thing", async () => {
    const { sampling } = traveller;
    if (sampling === undefined) throw new Error("there is no model");
    const answers: InputHandlers = { sampling, samplingFeatures: { tools: true, context: true } };
    expect(await declared("2025-06-18", answers)).toEqual({ sampling: {} });
    expect(await declared("2025-11-25", answers)).toEqual({ sampling: { context: {}, tools: {} } });
  });

  test("pages alone, and nothing where there are only forms", async () => {
    const answers: InputHandlers = { urlElicitation: () => ({ action: "cancel" }) };
    expect(await declared("2025-06-18", answers)).toEqual({});
    expect(await declared("2025-11-25", answers)).toEqual({ elicitation: { url: {} } });
  });
});

const form = {
  message: "Who?",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 2 },
      seats: { type: "integer", default: 1 },
      mail: { type: "string", format: "email" },
    },
    required: ["name"],
  },
};

describe("a server's request", () => {
  /** The response of a client with these handlers to a request. */
  const replied = async (method: string, params: object, answers: InputHandlers = traveller): Promise<unknown> => {
    await using open = await openWith("2025-11-25", { handlers: answers });
    open.peer.send(request("q", method, params));
    const { result, error } = parse(await open.peer.next());
    return result ?? error;
  };
  const sample = {
    maxTokens: 5,
    messages: [{ role: "user", content: { type: "text", text: "hi" } }],
  };

  test("for a form is completed with its defaults", async () => {
    expect(await replied("elicitation/create", form)).toEqual({
      action: "accept",
      content: { name: "Ada", seats: 1 },
    });
  });

  test("whose answer its form forbids is not answered with it", async () => {
    const elicit = (): never => ({ action: "accept", content: { name: "A", mail: "nowhere" } }) as never;
    expect(await replied("elicitation/create", form, { elicitation: elicit })).toEqual({
      code: -32_603,
      message: expect.stringMatching(/^the answer does not fit the form: \/name .*; \/mail /) as unknown,
    });
  });

  test.each([["name"], [["name"]], [5]])(
    "whose answer is no form at all is not answered with it: %j",
    async (content) => {
      const elicit = (): never => ({ action: "accept", content }) as never;
      const open = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
      expect(await replied("elicitation/create", open, { elicitation: elicit })).toEqual({
        code: -32_603,
        message: "Internal error",
      });
    },
  );

  test.each([
    ["without a message", { ...form, message: undefined }, "/message"],
    ["without a form", { message: "Who?" }, "/requestedSchema"],
    ["with a form of no fields", { message: "Who?", requestedSchema: { type: "object" } }, "/requestedSchema"],
    ["in an unknown mode", { ...form, mode: "phone" }, "/mode"],
    ["for a page that is a script", { mode: "url", message: "Go", url: "javascript:alert(1)" }, "/url"],
    ["for a page that is a file", { mode: "url", message: "Go", url: "file:///etc/passwd" }, "/url"],
    ["for a page that is nowhere", { mode: "url", message: "Go", url: "there" }, "/url"],
  ])("%s calls no handler", async (_, params, path) => {
    const bothered = (): never => {
      throw new Error("somebody was bothered");
    };
    expect(
      await replied("elicitation/create", params, { elicitation: bothered, urlElicitation: bothered }),
    ).toMatchObject({
      code: -32_602,
      data: { errors: [{ path }] },
    });
  });

  test.each([
    ["no messages", { maxTokens: 5 }, "/messages"],
    ["no bound", { messages: sample.messages }, "/maxTokens"],
    ["an unknown role", { ...sample, messages: [{ role: "system", content: {} }] }, "/messages/0"],
    ["tools, though none were offered", { ...sample, tools: [] }, "/tools"],
    [
      "a tool's result among other things",
      {
        ...sample,
        messages: [
          { role: "assistant", content: [{ type: "tool_use", id: "1", name: "t", input: {} }] },
          {
            role: "user",
            content: [
              { type: "tool_result", toolUseId: "1", content: [] },
              { type: "text", text: "and" },
            ],
          },
        ],
      },
      "/messages/1",
    ],
    [
      "a tool's use without its result",
      { ...sample, messages: [{ role: "assistant", content: [{ type: "tool_use", id: "1", name: "t", input: {} }] }] },
      "/messages/0",
    ],
  ])("for a model with %s bothers no model", async (_, params, path) => {
    expect(await replied("sampling/createMessage", params)).toMatchObject({
      code: -32_602,
      data: { errors: [{ path }] },
    });
  });

  test("for a model that a person declines is refused by name", async () => {
    const refusing: InputHandlers = {
      sampling: () => {
        throw userRejected();
      },
    };
    expect(await replied("sampling/createMessage", sample, refusing)).toEqual({
      code: -1,
      message: "User rejected sampling request",
    });
  });

  test.each([
    ["elicitation/create", form],
    ["sampling/createMessage", sample],
    ["roots/list", {}],
  ])("for what was not declared is unknown: %s", async (method, params) => {
    expect(await replied(method, params, {})).toMatchObject({ code: -32_601 });
  });

  test.each([["tools/list"], ["initialize"], ["nowhere"]])("that no server has is unknown: %s", async (method) => {
    expect(await replied(method, {})).toMatchObject({ code: -32_601 });
  });

  test("for roots that are no files is a fault of this side", async () => {
    expect(await replied("roots/list", {}, { roots: [{ uri: "https://example.com" }] })).toMatchObject({
      code: -32_603,
    });
  });

  test("that is cancelled aborts the signal of who answers", async () => {
    let seen: AbortSignal | undefined;
    const elicit: InputHandlers["elicitation"] = (_params, { signal }) =>
      new Promise((resolve) => {
        seen = signal;
        signal.addEventListener("abort", () => resolve({ action: "cancel" }));
      });
    await using open = await openWith("2025-11-25", { handlers: { elicitation: elicit } });
    open.peer.send(request("q", "elicitation/create", form));
    await turn();
    expect(seen?.aborted).toBe(false);
    open.peer.send(notification("notifications/cancelled", { requestId: "q" }));
    await turn();
    expect(seen?.aborted).toBe(true);
  });

  test("in the stateless era is reported and not answered, sound or not: a client writes no responses", async () => {
    const reports: string[] = [];
    const report = (each: Report): void => void reports.push(describeReport(each));
    await using open = await openWith(modern, { handlers: traveller, report });
    open.peer.send(request("q", "elicitation/create", form));
    open.peer.send(request(1, "ping"));
    open.peer.send('{"jsonrpc":"2.0","id":2,"method":"ping","params":5}');
    open.peer.send("[]");
    await turn();
    expect(open.sent).toHaveLength(1);
    expect(reports.slice(0, 2)).toEqual([
      'received the request "elicitation/create" (id "q"), but this side answers none',
      'received the request "ping" (id 1), but this side answers none',
    ]);
    expect(reports).toHaveLength(4);
  });
});

describe("roots that have changed", () => {
  const answers: InputHandlers = { roots: () => [{ uri: "file:///home" }] };

  test.each(handshakeVersions)("are told in %s", async (version) => {
    await using open = await openWith(version, { handlers: answers });
    open.client.rootsChanged();
    expect(await open.peer.next()).toBe(notification("notifications/roots/list_changed"));
  });

  test("are not told where every call asks for them anew", async () => {
    await using open = await openWith(modern, { handlers: answers });
    open.client.rootsChanged();
    await turn();
    expect(open.sent).toHaveLength(1);
  });

  test("cannot be those of a client that has none, or has a list of them", async () => {
    await using open = await openWith("2025-11-25", { handlers: { roots: [] } });
    expect(() => open.client.rootsChanged()).toThrow(LocalError);
  });
});
