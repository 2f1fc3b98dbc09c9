import { expect } from "vitest";
import { type Behaviour, jsonOf, ask as request, textOf } from "../behaviour.js";
import { differences, of } from "../differences.js";
import type { Driver, Fields, Outcome, Question } from "../driver.js";

/** The input requests of a tool, and the outcome of its call. */
interface Asked {
  readonly questions: readonly Question[];
  readonly outcome: Outcome;
}

/** Calls a tool that asks, and gives the same answer to everything, or each its own. */
async function ask(driver: Driver, name: string, answer: Fields | ((question: Question) => Fields)): Promise<Asked> {
  const questions: Question[] = [];
  driver.answering = (question) => {
    questions.push(question);
    return typeof answer === "function" ? answer(question) : answer;
  };
  return { outcome: await driver.call("tools/call", { name, arguments: {} }), questions };
}

/** The request that the person sees, or the error of the call without one. */
function seen({ questions: [first], outcome }: Asked): unknown {
  return first?.params ?? outcome;
}

/** A field of the form that the person sees, or how the call failed for there being no form. */
function fieldOf({ questions: [first], outcome }: Asked, name: string): unknown {
  const form = first?.params.requestedSchema as { readonly properties: Fields } | undefined;
  return form === undefined ? outcome : form.properties[name];
}

/** A result with that one text; or the refusal, where the revision has no such request. */
function unlessRefused(expected: Fields | Outcome, text: string): unknown {
  return "error" in expected ? expected : { result: { content: [{ type: "text", text }] } };
}

const roots = { roots: [{ uri: "file:///home/ada", name: "Home" }] };
const spoken = { role: "assistant", model: "m-1", content: { type: "text", text: "Hi" }, stopReason: "endTurn" };
const toolUse = { type: "tool_use", id: "t1", name: "clock", input: {} };
const used = { role: "assistant", model: "m-1", content: [toolUse], stopReason: "toolUse" };

const answers: readonly (readonly [Fields, string])[] = [
  [
    { action: "accept", content: { name: "Ada" } },
    '{"action":"accept","content":{"name":"Ada","seats":1,"window":true}}',
  ],
  [
    { action: "accept", content: { name: "Ada", seats: 2, window: false, meal: "fish" } },
    '{"action":"accept","content":{"name":"Ada","seats":2,"window":false,"meal":"fish"}}',
  ],
  [{ action: "decline" }, '{"action":"decline"}'],
  [{ action: "cancel" }, '{"action":"cancel"}'],
];

/** Two questions, one after the other, as a person answers them. */
function travels({ params, method }: Question): Fields {
  if (method === "roots/list") return roots;
  return { action: "accept", content: params.message === "Who?" ? { name: "Ada" } : { sure: true } };
}

/**
 * Requests of a server while it answers a call.
 * https://modelcontextprotocol.io/specification/latest/client/elicitation
 */
export const questions: readonly Behaviour[] = [
  ...answers.map(
    ([answer, text]): Behaviour => ({
      name: `a form is answered with ${JSON.stringify(answer)}`,
      async run(driver) {
        const asked = await ask(driver, "form", answer);
        const expected = of(differences.form, driver.revision);
        expect(seen(asked)).toEqual(expected);
        expect(asked.outcome).toMatchObject(unlessRefused(expected, text) as object);
      },
    }),
  ),
  {
    name: "one of several titled choices is made",
    async run(driver) {
      const asked = await ask(driver, "choice", { action: "accept", content: { best: "a" } });
      const expected = of(differences.titledChoice, driver.revision);
      expect(fieldOf(asked, "best")).toEqual(expected);
      const text = '{"action":"accept","content":{"best":"a"}}';
      expect(asked.outcome).toMatchObject(unlessRefused(expected, text) as object);
    },
  },
  {
    name: "several choices are made at once",
    async run(driver) {
      const asked = await ask(driver, "choices", { action: "accept", content: { all: ["a", "p"] } });
      const expected = of(differences.severalChoices, driver.revision);
      expect(fieldOf(asked, "all")).toEqual(expected);
      const text = '{"action":"accept","content":{"all":["a","p"]}}';
      expect(asked.outcome).toMatchObject(unlessRefused(expected, text) as object);
    },
  },
  ...["accept", "decline", "cancel"].map(
    (action): Behaviour => ({
      name: `a page to visit is answered with ${action}`,
      async run(driver) {
        const asked = await ask(driver, "page", { action });
        const expected = of(differences.page, driver.revision);
        expect(seen(asked)).toEqual(expected);
        expect(asked.outcome).toMatchObject(unlessRefused(expected, JSON.stringify({ action })) as object);
      },
    }),
  ),
  {
    name: "a model is asked",
    async run(driver) {
      const asked = await ask(driver, "model", spoken);
      expect(asked.questions).toEqual([
        {
          method: "sampling/createMessage",
          params: expect.objectContaining({
            messages: [{ role: "user", content: { type: "text", text: "Say hi" } }],
            maxTokens: 10,
            systemPrompt: "Be kind",
          }),
        },
      ]);
      expect(asked.outcome).toMatchObject(unlessRefused({}, JSON.stringify(spoken)) as object);
    },
  },
  {
    name: "a model that may call tools is asked",
    async run(driver) {
      const asked = await ask(driver, "agent", used);
      const expected = of(differences.agent, driver.revision);
      expect(seen(asked)).toEqual(expected);
      expect(asked.outcome).toMatchObject(unlessRefused(expected, JSON.stringify(used)) as object);
    },
  },
  {
    name: "roots are asked for anew after they have changed",
    async run(driver) {
      const first = await ask(driver, "where", roots);
      expect(first.questions.map(({ method }) => method)).toEqual(["roots/list"]);
      expect(first.outcome).toMatchObject(unlessRefused({}, JSON.stringify(roots)) as object);
      driver.rootsChanged();
      const moved = { roots: [{ uri: "file:///srv" }] };
      const second = await ask(driver, "where", moved);
      expect(second.outcome).toMatchObject(unlessRefused({}, JSON.stringify(moved)) as object);
    },
  },
  {
    name: "prompts and resources ask as tools do",
    async run(driver) {
      driver.answering = () => roots;
      const text = JSON.stringify(roots.roots);
      const { messages } = await request(driver, "prompts/get", { name: "asking" });
      expect(messages).toEqual([{ role: "user", content: { type: "text", text } }]);
      const { contents } = await request(driver, "resources/read", { uri: "asking:/roots" });
      expect(contents).toEqual([{ uri: "asking:/roots", text }]);
    },
  },
  {
    name: "a handler that returns its questions is run again with the answers and what it has kept",
    async run(driver) {
      const { outcome } = await ask(driver, "explicit", roots);
      expect(outcome).toMatchObject(unlessRefused({}, JSON.stringify([roots, { asked: 1 }])) as object);
    },
  },
  {
    name: "calls that ask at the same time get each its own answer",
    async run(driver) {
      driver.answering = async ({ params: { messages } }) => {
        const [
          {
            content: { text },
          },
        ] = messages as readonly [{ readonly content: { readonly text: string } }];
        if (Number(text) % 2 === 0) await Promise.resolve(); // Others are answered before it.
        return { ...spoken, content: { type: "text", text: `I say ${text}` } };
      };
      const texts = Array.from({ length: 20 }, (_, index) => String(index));
      const answers = await Promise.all(texts.map((text) => textOf(driver, "repeat", { text })));
      expect(answers).toEqual(texts.map((text) => `${text}: I say ${text}`));
    },
  },
  {
    name: "a question is withdrawn with the call that asks it",
    async run(driver) {
      const cancelling = new AbortController();
      let withdrawn = 0;
      driver.answering = (_question, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            withdrawn += 1;
            reject(new Error("nobody wants to know any more"));
          });
          cancelling.abort();
        });
      const { signal } = cancelling;
      expect(await driver.call("tools/call", { name: "model" }, { signal })).toEqual({ local: "cancelled" });
      await driver.ping();
      expect(withdrawn).toBe(1);
    },
  },
  {
    name: "several questions are asked at once",
    async run(driver) {
      const { outcome } = await ask(driver, "at_once", travels);
      const expected = of(differences.form, driver.revision);
      expect(outcome).toMatchObject(unlessRefused(expected, "Ada in file:///home/ada") as object);
    },
  },
  {
    name: "a handler with two questions has its effect once",
    async run(driver) {
      const booked = Number((await jsonOf(driver, "effects")).booked) + 1;
      const { outcome } = await ask(driver, "book", travels);
      const expected = of(differences.form, driver.revision);
      expect(outcome).toMatchObject(unlessRefused(expected, `ticket ${booked} for Ada: true`) as object);
      expect(await jsonOf(driver, "effects")).toMatchObject({ booked });
    },
  },
  ...Object.entries({
    form: { elicitation: { form: {} } },
    page: { elicitation: { url: {} } },
    model: { sampling: {} },
    agent: { sampling: { tools: {} } },
    where: { roots: {} },
  }).map(
    ([name, required]): Behaviour => ({
      name: `what a client has not declared is not asked, and named: ${JSON.stringify(required)}`,
      bare: true,
      async run(driver) {
        const asked = await ask(driver, name, {});
        expect(asked).toEqual({ questions: [], outcome: of(differences.lacking, driver.revision)(required) });
        expect(await textOf(driver, "greet", { name: "Ada" })).toBe("Hello, Ada.");
      },
    }),
  ),
];
