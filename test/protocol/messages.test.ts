import type { ParamsByMethod, ParamsByNotification } from "@parlance/mcp";
import { type Method, messagesOf, methods, notifications, revisions } from "@parlance/mcp/protocol";
import { describe, expect, test } from "vitest";
import type { NotificationMethod } from "../../packages/mcp/src/protocol/methods.js";
import { assertOfficial } from "./shapes/official.js";

const form = { type: "object", properties: { name: { type: "string" } } } as const;
const task = {
  taskId: "t",
  status: "working",
  createdAt: "2025-11-25T00:00:00Z",
  lastUpdatedAt: "2025-11-25T00:00:00Z",
};

/** Params that fit each request, in the newest shape. */
const params: { readonly [M in Method]: ParamsByMethod[M] } = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "me", title: "Me", version: "1" },
  },
  ping: {},
  "server/discover": {},
  "tools/list": { cursor: "2" },
  "tools/call": { name: "add", arguments: { a: 2 } },
  "resources/list": {},
  "resources/templates/list": {},
  "resources/read": { uri: "git:/log" },
  "resources/subscribe": { uri: "git:/log" },
  "resources/unsubscribe": { uri: "git:/log" },
  "prompts/list": {},
  "prompts/get": { name: "review", arguments: { topic: "tea" } },
  "completion/complete": {
    ref: { type: "ref/prompt", name: "review" },
    argument: { name: "topic", value: "t" },
    context: { arguments: { other: "x" } },
  },
  "logging/setLevel": { level: "error" },
  "subscriptions/listen": { notifications: { toolsListChanged: true } },
  "sampling/createMessage": { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 5 },
  "roots/list": {},
  "elicitation/create": { mode: "form", message: "Who?", requestedSchema: form },
  "tasks/get": { taskId: "t" },
  "tasks/result": { taskId: "t" },
  "tasks/list": {},
  "tasks/cancel": { taskId: "t" },
};

const told: { readonly [M in NotificationMethod]: ParamsByNotification[M] } = {
  "notifications/initialized": {},
  "notifications/cancelled": { requestId: 1, reason: "enough" },
  "notifications/progress": { progressToken: 1, progress: 0.5, total: 1, message: "half" },
  "notifications/message": { level: "info", data: "hi" },
  "notifications/resources/updated": { uri: "git:/log" },
  "notifications/resources/list_changed": {},
  "notifications/tools/list_changed": {},
  "notifications/prompts/list_changed": {},
  "notifications/roots/list_changed": {},
  "notifications/elicitation/complete": { elicitationId: "e" },
  "notifications/tasks/status": { ...task, status: "working", ttl: null },
  "notifications/subscriptions/acknowledged": { notifications: {} },
};

/** Members of `told` that may be null. */
const nullable = new Set(["notifications/message data", "notifications/tasks/status ttl"]);

/** Members of the params above that a revision has no word for. */
const later = new Set(["2024-11-05 message", "2024-11-05 context", "2025-03-26 context", "2025-06-18 mode"]);

describe.each(revisions)("in $version", (revision) => {
  const messages = messagesOf(revision.version);
  const has = (kind: "requests" | "notifications", method: string): readonly ("client" | "server")[] =>
    (["client", "server"] as const).filter((sender) => revision[kind][sender].has(method));

  test.each(Object.values(methods).filter((method) => has("requests", method).length > 0))("%s is made", (method) => {
    const message = messages.request(1, method, params[method]);
    for (const sender of has("requests", method)) assertOfficial(revision.version, sender, message);
    expect(message).toMatchObject({ jsonrpc: "2.0", id: 1, method });
  });

  test.each(Object.values(notifications).filter((method) => has("notifications", method).length > 0))(
    "%s is made",
    (method) => {
      const message = messages.notification(method, told[method]);
      for (const sender of has("notifications", method)) assertOfficial(revision.version, sender, message);
      expect(message).not.toHaveProperty("id");
    },
  );

  test("what it does not have is refused", () => {
    for (const method of Object.values(methods).filter((each) => has("requests", each).length === 0)) {
      expect(() => messages.request(1, method, params[method])).toThrow(RangeError);
    }
    for (const method of Object.values(notifications).filter((each) => has("notifications", each).length === 0)) {
      expect(() => messages.notification(method, told[method])).toThrow(RangeError);
    }
  });

  test.each(sendable("requests", params))(
    "%s is refused by the place of each member that is wrong",
    (method, given) => {
      for (const name of Object.keys(given)) {
        const wrong = { ...given, [name]: null } as unknown as ParamsByMethod["tools/call"];
        refuses(name, () => messages.request(1, method as "tools/call", wrong));
      }
    },
  );

  test.each(sendable("notifications", told))(
    "%s is refused by the place of each member that is wrong",
    (method, given) => {
      for (const name of Object.keys(given)) {
        if (nullable.has(`${method} ${name}`)) continue;
        const wrong = { ...given, [name]: null } as unknown as ParamsByNotification["notifications/message"];
        refuses(name, () => messages.notification(method as "notifications/message", wrong));
      }
    },
  );

  function sendable(
    kind: "requests" | "notifications",
    all: Readonly<Record<string, object>>,
  ): readonly (readonly [method: string, given: object])[] {
    return Object.entries(all).filter(
      ([method, given]) => has(kind, method).length > 0 && Object.keys(given).length > 0,
    );
  }

  /** A member that the revision has no word for is left out, and then nothing is wrong with it. */
  function refuses(name: string, make: () => { readonly params?: unknown }): void {
    if (later.has(`${revision.version} ${name}`)) expect(make().params).not.toHaveProperty(name);
    else expect(make).toThrow(`/${name} must be `);
  }

  test("params that do not fit are refused, and every place is named", () => {
    const wrong = { name: 5, arguments: [] } as unknown as ParamsByMethod["tools/call"];
    expect(() => messages.request(1, "tools/call", wrong)).toThrow(
      `tools/call in ${revision.version}: /name must be a string, got 5; /arguments must be an object, got an array`,
    );
  });
});

test("what an older revision has no word for is left out, as on the wire", () => {
  expect(messagesOf("2024-11-05").request("a", "initialize", params.initialize)).toEqual({
    jsonrpc: "2.0",
    id: "a",
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "me", version: "1" } },
  });
  expect(messagesOf("2025-03-26").request(1, "completion/complete", params["completion/complete"]).params).toEqual({
    ref: { type: "ref/prompt", name: "review" },
    argument: { name: "topic", value: "t" },
  });
});

test("a stateless request has the given client facts", () => {
  const clientInfo = { name: "me", version: "1" };
  const clientCapabilities = { roots: {} };
  const messages = messagesOf("2026-07-28", { clientInfo, clientCapabilities });
  expect(messages.request(1, "tools/list", { _meta: { traceparent: "00-a-b-01" } }).params).toEqual({
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
      traceparent: "00-a-b-01",
    },
  });
});

test("a URL elicitation has an id if the revision requires one", () => {
  const visit = { mode: "url", message: "Log in", url: "https://example.com/login" } as const;
  expect(() => messagesOf("2025-11-25").request(1, "elicitation/create", visit)).toThrow("/elicitationId");
  messagesOf("2025-11-25").request(1, "elicitation/create", { ...visit, elicitationId: "e" });
});

test("for a refused message, the error names its place", () => {
  expect(() => messagesOf("2026-07-28").request(1, "roots/list")).toThrow(
    "roots/list is not among the requests of 2026-07-28: only 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 have it; " +
      "there it is an input request inside a result",
  );
  expect(() => messagesOf("2025-06-18").request(1, "tools/burn" as "ping")).toThrow("no revision has it");
  expect(() => messagesOf("2025-06-19")).toThrow(RangeError);
});

test("params are typed by the method, and may be left out where nothing must be said", () => {
  const messages = messagesOf("2025-11-25");
  messages.request(1, "tools/list");
  // @ts-expect-error a call names its tool
  expect(() => messages.request(1, "tools/call")).toThrow(TypeError);
  // @ts-expect-error the level is a word
  expect(() => messages.request(1, "logging/setLevel", { level: 3 })).toThrow("/level");
  // @ts-expect-error progress is a number
  expect(() => messages.notification("notifications/progress", { progressToken: 1, progress: "half" })).toThrow(
    "/progress",
  );
});
