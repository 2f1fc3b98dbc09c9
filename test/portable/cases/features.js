import { equal, match, rejects } from "../check.js";

/** @import { Client, InputHandlers } from "@parlance/mcp/client" */

/**
 * A feature of the protocol, tried by a client of the server in `server.js` that has these handlers.
 *
 * @typedef {{ readonly name: string, readonly run: (client: Client, revision: string) => Promise<void> }} Feature
 */

/** @type {InputHandlers} */
export const handlers = {
  elicitation({ message }) {
    equal(message, "Who travels?");
    return { action: "accept", content: { name: "Ada" } };
  },
  sampling: () => ({ model: "a-model", role: "assistant", content: { type: "text", text: "So" } }),
  roots: [{ uri: "file:///home/ada" }],
};

/** @type {readonly Feature[]} */
export const features = [
  {
    name: "tools",
    async run(client, revision) {
      equal(client.revision, revision);
      const tools = await client.tools.list().all();
      match(
        tools.slice(0, 5).map(({ name }) => name),
        ["add", "fail", "picture", "echo", "book"],
      );
      const sum = await client.tools.call("add", { a: 0.1, b: 0.2 });
      match(sum, { content: [{ type: "text", text: '{"sum":0.30000000000000004}' }] });
      if (revision >= "2025-06-18") equal(sum.structuredContent, { sum: 0.30000000000000004 });
      match(await client.tools.call("add", { a: "1", b: 2 }), { isError: true });
      match(await client.tools.call("fail"), { isError: true, content: [{ text: "It rains" }] });
      match(await client.tools.call("picture"), { content: [{ type: "image", data: "AQL/" }] });
      await rejects(client.tools.call("nothing"), { name: "RpcError", code: -32_602 });
    },
  },
  {
    name: "a text of 300,000 characters",
    async run(client) {
      const text = "Zürich 東京 🚂 ".repeat(25_000);
      const { content } = await client.tools.call("echo", { text });
      equal(content[0]?.type === "text" && content[0].text === text, true);
    },
  },
  {
    name: "resources and templates",
    async run(client) {
      match(await client.resources.list().all(), [{ uri: "board:today" }, { uri: "board:bytes" }]);
      match(await client.resources.templates().all(), [{ uriTemplate: "board:/{day}" }]);
      match(await client.resources.read("board:today"), { contents: [{ text: "Train 7 is late — ünïque 🚂" }] });
      match(await client.resources.read("board:bytes"), { contents: [{ blob: "AID/" }] });
      match(await client.resources.read("board:/friday"), { contents: [{ text: "It is friday" }] });
      await rejects(client.resources.read("board:/never"), { name: "RpcError" });
    },
  },
  {
    name: "prompts and completion",
    async run(client) {
      match(await client.prompts.list().all(), [{ name: "review", arguments: [{ name: "language", required: true }] }]);
      match(await client.prompts.get("review", { language: "Rust" }), {
        messages: [{ role: "user", content: { text: "Review this Rust" } }],
      });
      const ref = { type: /** @type {const} */ ("ref/prompt"), name: "review" };
      match(await client.complete(ref, { name: "language", value: "t" }), { values: ["TypeScript"] });
    },
  },
  {
    name: "elicitation",
    async run(client, revision) {
      // Elicitation is new in 2025-06-18.
      if (revision < "2025-06-18") return rejects(client.tools.call("book"), { name: "RpcError" });
      match(await client.tools.call("book"), { content: [{ text: "1 for Ada, 36" }] });
    },
  },
  {
    name: "sampling and roots",
    async run(client) {
      match(await client.tools.call("summarize"), { content: [{ text: "By a-model" }] });
      match(await client.tools.call("folders"), { content: [{ text: "file:///home/ada" }] });
    },
  },
  {
    name: "progress",
    async run(client) {
      /** @type {number[]} */
      const steps = [];
      const onProgress = (/** @type {{ progress: number }} */ { progress }) => steps.push(progress);
      match(await client.tools.call("steps", {}, { onProgress }), { content: [{ text: "Done" }] });
      equal(steps, [1, 2]);
    },
  },
  {
    name: "cancellation",
    async run(client) {
      const controller = new AbortController();
      const onProgress = () => controller.abort();
      const call = client.tools.call("wait", {}, { onProgress, signal: controller.signal });
      await rejects(call, { name: "LocalError", reason: "cancelled" });
      match(await client.tools.call("aborted"), { content: [{ text: "The signal of wait was aborted" }] });
    },
  },
  {
    name: "subscriptions",
    async run(client) {
      const subscription = await client.subscribe({ promptsListChanged: true, resourceSubscriptions: ["board:today"] });
      await client.tools.call("publish");
      /** @type {string[]} */
      const kinds = [];
      for await (const change of subscription) {
        kinds.push(change.kind);
        if (kinds.length === 2) break;
      }
      equal(kinds.sort(), ["list", "resource"]);
      await subscription.close();
    },
  },
];
