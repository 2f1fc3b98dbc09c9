import { versions } from "@parlance/mcp";
import { describe, expect, test } from "vitest";
import { hasSchemas, problems } from "../../protocol/revisions/published.js";
import { parse } from "../../testing/frames.js";
import { everything } from "../everything.js";
import { speak } from "../speak.js";

const asks = [
  ["resources/list", {}, "ListResourcesResult"],
  ["resources/templates/list", {}, "ListResourceTemplatesResult"],
  ["resources/read", { uri: "a:text" }, "ReadResourceResult"],
  ["resources/read", { uri: "b:one" }, "ReadResourceResult"],
  ["prompts/list", {}, "ListPromptsResult"],
  ["prompts/get", { name: "ask", arguments: { topic: "tea" } }, "GetPromptResult"],
  [
    "completion/complete",
    { ref: { type: "ref/prompt", name: "ask" }, argument: { name: "topic", value: "t" } },
    "CompleteResult",
  ],
] as const;

describe.skipIf(!hasSchemas)("the published schema, where ../shared/schemas has it,", () => {
  describe.each(versions)("of %s", (version) => {
    test.each(asks)("accepts the answer to %s %j", async (method, params, definition) => {
      await using peer = await speak(everything(), version);
      const { result } = await peer.ask(method, params);
      expect(result).toBeDefined();
      expect(problems(version, definition, result)).toEqual([]);
    });
  });

  test.each(versions.slice(1))("of %s accepts the notifications of a session", async (version) => {
    const server = everything();
    await using peer = await speak(server, version);
    await peer.result("resources/subscribe", { uri: "a:text" });
    const notifications = [
      ["ResourceUpdatedNotification", () => server.changed.resource("a:text")],
      ["ResourceListChangedNotification", () => server.changed.list("resources")],
      ["PromptListChangedNotification", () => server.changed.list("prompts")],
      ["ToolListChangedNotification", () => server.changed.list("tools")],
    ] as const;
    for (const [definition, change] of notifications) {
      change();
      expect(problems(version, definition, parse(await peer.talk.peer.next()))).toEqual([]);
    }
  });

  test("of the newest accepts all that a subscription says", async () => {
    const server = everything();
    const [version = ""] = versions;
    await using peer = await speak(server, version);
    const filter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    const notifications = { ...filter, resourceSubscriptions: ["a:text"] };
    const acknowledged = await peer.ask("subscriptions/listen", { notifications });
    expect(problems(version, "SubscriptionsAcknowledgedNotification", acknowledged)).toEqual([]);
    for (const list of ["tools", "prompts", "resources"] as const) server.changed.list(list);
    server.changed.resource("a:text");
    for (const definition of [
      "ToolListChangedNotification",
      "PromptListChangedNotification",
      "ResourceListChangedNotification",
      "ResourceUpdatedNotification",
    ]) {
      expect(problems(version, definition, await peer.next()), definition).toEqual([]);
    }
    await peer.talk.connection.drain(5_000);
    expect(problems(version, "CancelledNotification", await peer.next())).toEqual([]);
    expect(problems(version, "SubscriptionsListenResult", (await peer.next()).result)).toEqual([]);
  });

  test("refuses the newest shapes where they need a step", async () => {
    await using peer = await speak(everything(), "2026-07-28");
    const { result } = await peer.ask("prompts/get", { name: "ask", arguments: { topic: "tea" } });
    expect(problems("2025-03-26", "GetPromptResult", result)).not.toEqual([]);
    expect(problems("2024-11-05", "GetPromptResult", result)).not.toEqual([]);
  });
});

const icons = [{ src: "https://example.com/icon.png", sizes: ["48x48"], theme: "dark" }];
const undated = { audience: ["user"], priority: 0.5 };
const annotations = { ...undated, lastModified: "2025-01-12T15:00:58Z" };
const since2025_06 = { title: "Title", _meta: { "example.com/a": 1 }, annotations };

describe("what an older revision has no word for is left out:", () => {
  const plain = { name: "text", description: "Description", uri: "a:text", mimeType: "text/plain", size: 4 };
  test.each([
    ["2026-07-28", { ...plain, ...since2025_06, icons }],
    ["2025-11-25", { ...plain, ...since2025_06, icons }],
    ["2025-06-18", { ...plain, ...since2025_06 }],
    ["2025-03-26", { ...plain, annotations: undated }],
    ["2024-11-05", { ...plain, annotations: undated }],
  ])("of a resource in %s", async (version, resource) => {
    await using peer = await speak(everything(), version);
    expect(await peer.result("resources/list")).toEqual({ resources: [resource] });
  });

  const family = { name: "family", description: "Description", uriTemplate: "b:{x}", mimeType: "text/plain" };
  test.each([
    ["2026-07-28", { ...family, ...since2025_06, icons }],
    ["2025-11-25", { ...family, ...since2025_06, icons }],
    ["2025-06-18", { ...family, ...since2025_06 }],
    ["2025-03-26", { ...family, annotations: undated }],
    ["2024-11-05", { ...family, annotations: undated }],
  ])("of a template in %s", async (version, template) => {
    await using peer = await speak(everything(), version);
    expect(await peer.result("resources/templates/list")).toEqual({ resourceTemplates: [template] });
  });

  const text = { uri: "a:text", mimeType: "text/plain", text: "text" };
  const bytes = { uri: "a:text#bytes", mimeType: "image/png", blob: "AQI=" };
  test.each([
    ["2026-07-28", { ...text, _meta: { b: 2 } }],
    ["2025-06-18", { ...text, _meta: { b: 2 } }],
    ["2025-03-26", text],
    ["2024-11-05", text],
  ])("of contents in %s", async (version, first) => {
    await using peer = await speak(everything(), version);
    expect(await peer.result("resources/read", { uri: "a:text" })).toEqual({ contents: [first, bytes] });
  });

  const prompt = { name: "ask", description: "Description" };
  const topic = { name: "topic", description: "What about", required: true };
  const titled = { title: "Title", _meta: { "example.com/a": 1 }, arguments: [{ ...topic, title: "Topic" }] };
  test.each([
    ["2026-07-28", { ...prompt, ...titled, icons }],
    ["2025-11-25", { ...prompt, ...titled, icons }],
    ["2025-06-18", { ...prompt, ...titled }],
    ["2025-03-26", { ...prompt, arguments: [topic] }],
    ["2024-11-05", { ...prompt, arguments: [topic] }],
  ])("of a prompt in %s", async (version, shown) => {
    await using peer = await speak(everything(), version);
    expect(await peer.result("prompts/list")).toEqual({ prompts: [shown] });
  });

  test("of the messages of a prompt, revision by revision", async () => {
    const get = async (version: string): Promise<readonly unknown[]> => {
      await using peer = await speak(everything(), version);
      const { messages } = await peer.result("prompts/get", { name: "ask", arguments: { topic: "tea" } });
      return (messages as readonly { content: unknown }[]).map(({ content }) => content);
    };
    const audio = { type: "audio", data: "UklGRg==", mimeType: "audio/wav" };
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
    const link = { type: "resource_link", uri: "a:text", name: "text", title: "Text", annotations };
    const embedded = { type: "resource", resource: { uri: "a:text", text: "t" } };
    const newest = [
      { type: "text", text: "tea", annotations, _meta: { c: 3 } },
      { ...audio, annotations },
      image,
      { ...link, icons },
      { ...embedded, resource: { ...embedded.resource, _meta: { d: 4 } }, annotations },
    ];
    expect(await get("2026-07-28")).toEqual(newest);
    expect(await get("2025-11-25")).toEqual(newest);
    expect(await get("2025-06-18")).toEqual([...newest.slice(0, 3), link, newest[4]]);
    const text = { type: "text", text: "tea", annotations: undated };
    const described = { type: "text", text: "Resource link: Text\na:text", annotations: undated };
    const rest = [image, described, { ...embedded, annotations: undated }];
    expect(await get("2025-03-26")).toEqual([text, { ...audio, annotations: undated }, ...rest]);
    const note = "[audio that this revision of the protocol cannot carry: audio/wav]";
    expect(await get("2024-11-05")).toEqual([text, { type: "text", text: note, annotations: undated }, ...rest]);
  });
});
