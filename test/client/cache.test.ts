import { type ClientOptions, RpcError } from "@parlance/mcp/client";
import { describe, expect, test } from "vitest";
import { failure, modern, notification, parse, success } from "../testing/frames.js";
import { turn } from "../testing/talks.js";
import { errorOf, type Opened, openWith } from "./session/openings.js";

const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
};

interface Counted extends Opened {
  /** How many requests the server has had since the opening. */
  asked(): number;
}

/** A server that answers every request with `results` by method, and counts them. */
async function openCounting(
  results: Readonly<Record<string, object>>,
  options: ClientOptions = {},
  version = modern,
): Promise<Counted> {
  const open = await openWith(version, options, capabilities);
  const before = open.sent.length;
  void (async () => {
    for (;;) {
      const { id = "", method = "" } = parse(await open.peer.next());
      open.peer.send(success(id, { resultType: "complete", ...results[method] }));
    }
  })().catch(() => undefined); // The conversation is over.
  return { ...open, asked: () => open.sent.length - before };
}

const tools = { tools: [{ name: "t", inputSchema: { type: "object" } }], ttlMs: 1_000, cacheScope: "private" };
const contents = { contents: [{ uri: "a:b", text: "old" }], ttlMs: 1_000, cacheScope: "private" };

describe("an answer that holds for a while", () => {
  test("is not asked for again until it does not hold any more", async () => {
    await using open = await openCounting({ "tools/list": tools });
    await open.client.tools.list().all();
    open.clock.advance(999);
    expect(await open.client.tools.list().all()).toEqual(tools.tools);
    expect(open.asked()).toBe(1);
    open.clock.advance(1);
    await open.client.tools.list().all();
    expect(open.asked()).toBe(2);
  });

  test("cannot be altered by who has it for who gets it next", async () => {
    await using open = await openCounting({ "tools/list": tools });
    const [first] = await open.client.tools.list().all();
    Object.assign(first ?? {}, { name: "altered" });
    expect((await open.client.tools.list().all())[0]?.name).toBe("t");
  });

  test.each([
    ["says nothing", {}],
    ["holds for no time", { ttlMs: 0 }],
    ["holds since before", { ttlMs: -5 }],
    ["holds for a word", { ttlMs: "1000" }],
  ])("and one that %s is asked for each time", async (_, hint) => {
    await using open = await openCounting({ "tools/list": { tools: [], ...hint } });
    await open.client.tools.list().all();
    await open.client.tools.list().all();
    expect(open.asked()).toBe(2);
  });

  test("is one of those that may be kept: a tool is called each time", async () => {
    await using open = await openCounting({ "tools/call": { content: [], ttlMs: 1_000 } });
    await open.client.tools.call("t");
    await open.client.tools.call("t");
    expect(open.asked()).toBe(2);
  });

  test("belongs to its params", async () => {
    await using open = await openCounting({ "resources/read": contents });
    await open.client.resources.read("a:b");
    await open.client.resources.read("a:c");
    await open.client.resources.read("a:b", { onProgress: () => undefined });
    expect(open.asked()).toBe(2);
  });

  test("is not one that somebody had to answer a question for", async () => {
    const answers = { roots: [] };
    await using open = await openWith(modern, { handlers: answers }, capabilities);
    for (const _ of [1, 2]) {
      const reading = open.client.resources.read("a:b");
      const inputRequests = { where: { method: "roots/list" } };
      open.peer.send(success(parse(await open.peer.next()).id ?? "", { resultType: "input_required", inputRequests }));
      const again = parse(await open.peer.next());
      expect(again.params).toMatchObject({ inputResponses: { where: { roots: [] } } });
      open.peer.send(success(again.id ?? "", { resultType: "complete", ...contents }));
      expect((await reading).contents).toEqual(contents.contents);
    }
  });

  test("is not kept by a client whose cache is off", async () => {
    await using open = await openCounting({ "tools/list": tools }, { cache: false });
    await open.client.tools.list().all();
    await open.client.tools.list().all();
    expect(open.asked()).toBe(2);
  });

  test("is one of the stateless era: what a server of the other one adds means nothing", async () => {
    await using open = await openCounting({ "tools/list": tools }, {}, "2025-11-25");
    await open.client.tools.list().all();
    await open.client.tools.list().all();
    expect(open.asked()).toBe(2);
  });
});

describe("what is kept is dropped", () => {
  test.each([
    ["notifications/tools/list_changed", {}, "tools/list"],
    ["notifications/resources/list_changed", {}, "resources/list"],
    ["notifications/resources/list_changed", {}, "resources/templates/list"],
    ["notifications/prompts/list_changed", {}, "prompts/list"],
    ["notifications/resources/updated", { uri: "a:b" }, "resources/read"],
    ["notifications/resources/updated", { uri: "a:b/part" }, "resources/read"],
  ])("by %s %j: %s", async (told, params, method) => {
    const all = { ...tools, ...contents, resources: [], resourceTemplates: [], prompts: [] };
    await using open = await openCounting({ [method]: all });
    const ask = (): Promise<unknown> => open.client.call(method, method === "resources/read" ? { uri: "a:b" } : {});
    await ask();
    await ask();
    expect(open.asked()).toBe(1);
    open.peer.send(notification(told, params));
    await turn();
    await ask();
    expect(open.asked()).toBe(2);
  });

  test("by what is about it, and nothing else", async () => {
    await using open = await openCounting({ "tools/list": tools, "resources/read": contents });
    await open.client.tools.list().all();
    await open.client.resources.read("a:b");
    open.peer.send(notification("notifications/prompts/list_changed"));
    open.peer.send(notification("notifications/resources/updated", { uri: "a:bc" }));
    await turn();
    await open.client.tools.list().all();
    await open.client.resources.read("a:b");
    expect(open.asked()).toBe(2);
  });

  test("before the listener of the program is called", async () => {
    const read: Promise<unknown>[] = [];
    const options: ClientOptions = {
      onNotification: () => void read.push(client.tools.list().all()),
    };
    await using open = await openCounting({ "tools/list": tools }, options);
    const { client } = open;
    await client.tools.list().all();
    open.peer.send(notification("notifications/tools/list_changed"));
    await turn();
    await Promise.all(read);
    expect(open.asked()).toBe(2);
  });

  test("when the change comes while it is asked for", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const list = open.client.tools.list().all();
    const { id = "" } = parse(await open.peer.next());
    open.peer.send(notification("notifications/tools/list_changed"));
    open.peer.send(success(id, { resultType: "complete", ...tools }));
    await list;
    const again = open.client.tools.list().all();
    const asked = parse(await open.peer.next());
    open.peer.send(success(asked.id ?? "", { resultType: "complete", tools: [] }));
    expect(await again).toEqual([]);
  });

  test("with all pages of a list whose cursor the server has forgotten", async () => {
    await using open = await openWith(modern, {}, capabilities);
    const reply = async (result: object): Promise<void> => {
      const { id = "" } = parse(await open.peer.next());
      open.peer.send(success(id, { resultType: "complete", ...tools, ...result }));
    };
    const list = open.client.tools.list().all();
    await reply({ nextCursor: "2" });
    const { id = "" } = parse(await open.peer.next());
    open.peer.send(failure(id, -32_602, "Unknown cursor"));
    await reply({});
    expect(await list).toEqual(tools.tools);
  });
});

describe("what is private to one", () => {
  const openAs = async (cacheScope: string | undefined): Promise<Counted & { as(name: string): void }> => {
    let principal = "Ada";
    const options: ClientOptions = { cache: { principal: () => principal } };
    const open = await openCounting({ "tools/list": { ...tools, cacheScope } }, options);
    return { ...open, as: (name) => (principal = name) };
  };

  test.each(["private", undefined, "everybody"])("is not given to another: %s", async (scope) => {
    await using open = await openAs(scope);
    await open.client.tools.list().all();
    open.as("Bob");
    await open.client.tools.list().all();
    expect(open.asked()).toBe(2);
    open.as("Ada");
    await open.client.tools.list().all();
    expect(open.asked()).toBe(2);
  });

  test("is not what is public", async () => {
    await using open = await openAs("public");
    await open.client.tools.list().all();
    open.as("Bob");
    await open.client.tools.list().all();
    expect(open.asked()).toBe(1);
  });
});

describe("a server cannot fill the memory of a client", () => {
  test("with many answers", async () => {
    await using open = await openCounting({ "resources/read": contents }, { cache: { entries: 2 } });
    for (const uri of ["a:1", "a:2", "a:1", "a:3", "a:1", "a:2"]) await open.client.resources.read(uri);
    expect(open.asked()).toBe(4); // The second one made room for the third: it was not used for longest.
  });

  test("with large ones", async () => {
    await using open = await openCounting({ "resources/read": contents }, { cache: { characters: 100 } });
    await open.client.resources.read("a:1");
    await open.client.resources.read("a:1");
    expect(open.asked()).toBe(2);
  });
});

test("an error is not kept", async () => {
  await using open = await openWith(modern, {}, capabilities);
  const fails = errorOf(open.client.resources.read("a:b"));
  const { id = "" } = parse(await open.peer.next());
  open.peer.send(failure(id, -32_602, "Resource not found", { uri: "a:b" }));
  expect(await fails).toBeInstanceOf(RpcError);
  const again = open.client.resources.read("a:b");
  const asked = parse(await open.peer.next());
  open.peer.send(success(asked.id ?? "", { resultType: "complete", ...contents }));
  expect(await again).toMatchObject({ contents: contents.contents });
});
