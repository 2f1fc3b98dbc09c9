import { expect } from "vitest";
import { ask, type Behaviour, refusal } from "../behaviour.js";
import { differences, of } from "../differences.js";
import type { Driver, Fields } from "../driver.js";

async function complete(driver: Driver, params: Fields): Promise<unknown> {
  return (await ask(driver, "completion/complete", params)).completion;
}

const prompt = { type: "ref/prompt", name: "ask" };
const shelf = { type: "ref/resource", uri: "shelf:/{author}/{title}" };

/**
 * Prompts, and completion.
 * https://modelcontextprotocol.io/specification/latest/server/prompts
 */
export const prompts: readonly Behaviour[] = [
  {
    name: "a prompt is listed with the words that the revision has",
    async run(driver) {
      const [first] = await driver.list("prompts/list");
      expect(first).toEqual(of(differences.promptWords, driver.revision));
    },
  },
  {
    name: "a prompt is filled in",
    async run(driver) {
      const { messages } = await ask(driver, "prompts/get", { name: "ask", arguments: { topic: "tea" } });
      expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Tell me of tea in a kind way" } }]);
    },
  },
  {
    name: "a prompt has content of every kind",
    async run(driver) {
      const { messages } = await ask(driver, "prompts/get", { name: "show" });
      const { text, image, audio, link, embedded } = of(differences.blocks, driver.revision);
      const blocks = [text, image, audio, link, embedded];
      expect(messages).toEqual(blocks.map((content) => ({ role: "user", content })));
    },
  },
  {
    name: "a prompt without an argument that it needs is refused with its place",
    async run(driver) {
      const outcome = await driver.call("prompts/get", { name: "ask", arguments: { tone: "kind" } });
      expect(outcome).toMatchObject(refusal(-32_602, "/arguments/topic"));
    },
  },
  {
    name: "a prompt that does not exist is refused",
    async run(driver) {
      const outcome = await driver.call("prompts/get", { name: "nothing" });
      expect(outcome).toMatchObject(refusal(-32_602, "/name"));
    },
  },
  {
    name: "an argument of a prompt is completed",
    async run(driver) {
      const completion = await complete(driver, { ref: prompt, argument: { name: "topic", value: "t" } });
      expect(completion).toEqual({ values: ["Tea", "Train"], total: 2, hasMore: false });
    },
  },
  {
    name: "at most a hundred completions go out",
    async run(driver) {
      const completion = await complete(driver, { ref: prompt, argument: { name: "tone", value: "tone" } });
      expect(completion).toMatchObject({ values: { length: 100 }, total: 120, hasMore: true });
    },
  },
  {
    name: "a variable of a template is completed by those that are settled, where the revision can say them",
    async run(driver) {
      const context = { arguments: { author: "verne" } };
      const completion = await complete(driver, { ref: shelf, argument: { name: "title", value: "" }, context });
      expect(completion).toMatchObject({ values: of(differences.completedWithContext, driver.revision) });
    },
  },
  {
    name: "an argument without completions has no values",
    async run(driver) {
      const completion = await complete(driver, { ref: prompt, argument: { name: "nothing", value: "" } });
      expect(completion).toMatchObject({ values: [] });
    },
  },
  {
    name: "a completion of nothing that exists is refused",
    unsound: true,
    async run(driver) {
      const argument = { name: "topic", value: "" };
      const ofNobody = await driver.call("completion/complete", { ref: { ...prompt, name: "nobody" }, argument });
      expect(ofNobody).toMatchObject(refusal(-32_602, "/ref/name"));
      const ofNoKind = await driver.call("completion/complete", { ref: { type: "ref/tool", name: "ask" }, argument });
      expect(ofNoKind).toMatchObject(refusal(-32_602, "/ref/type"));
    },
  },
];
