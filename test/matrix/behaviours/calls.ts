import type { LoggingLevel, ProgressParams } from "@parlance/mcp";
import { expect } from "vitest";
import { ask, type Behaviour, jsonOf, refusal, textOf } from "../behaviour.js";
import { differences, of } from "../differences.js";
import type { Driver } from "../driver.js";

/** Calls the tool that logs in every level; which of its messages came? */
async function logged(driver: Driver): Promise<readonly unknown[]> {
  expect(await textOf(driver, "log")).toBe("logged");
  return driver.told().map(({ method, params: { level, logger, data } }) => {
    expect({ method, logger, data }).toEqual({ method: "notifications/message", logger: "matrix", data: { level } });
    return level;
  });
}

/**
 * Behaviours of calls of every kind.
 * https://modelcontextprotocol.io/specification/latest/basic
 */
export const calls: readonly Behaviour[] = [
  {
    name: "the server says who it is, what it offers and how to use it",
    async run({ server, revision }) {
      expect(server.info).toEqual(of(differences.serverInfo, revision));
      expect(server.capabilities).toEqual(of(differences.capabilities, revision));
      expect(server.instructions).toBe("Ask for anything");
    },
  },
  {
    name: "the server learns who the client is, what it can be asked and what it speaks",
    async run(driver) {
      const { revision, far = revision } = driver;
      const [, later = ""] = [revision, far].sort(); // It has no word any more for what the other declares besides.
      expect(await jsonOf(driver, "client")).toEqual({
        revision: far,
        info: { name: "driver", version: "1" },
        capabilities: of(differences.known, later),
      });
    },
  },
  {
    name: "a client that can be asked nothing declares nothing",
    bare: true,
    async run(driver) {
      expect(await jsonOf(driver, "client")).toMatchObject({ capabilities: {} });
    },
  },
  {
    name: "a sign of life is given",
    async run(driver) {
      await driver.ping();
    },
  },
  {
    name: "a result says of which kind it is, where results have kinds",
    async run(driver) {
      const { resultType } = await ask(driver, "tools/call", { name: "text" });
      expect(resultType).toBe(of(differences.resultType, driver.revision));
    },
  },
  {
    name: "an unknown method is refused",
    async run(driver) {
      expect(await driver.call("matrix/nothing")).toMatchObject(refusal(-32_601));
    },
  },
  {
    name: "methods that only other revisions have, and those of servers, are refused",
    async run(driver) {
      for (const [method, code] of Object.entries(of(differences.refusedMethods, driver.revision))) {
        const expected = { client: { local: "refused" }, "raw peer": refusal(code) }[driver.kind];
        expect(await driver.call(method), method).toMatchObject(expected);
      }
    },
  },
  {
    name: "_meta reaches the handler, and that of the handler comes back",
    async run(driver) {
      const meta = { "example.com/trace": { deep: [1, "two"] } };
      const params = { name: "meta", arguments: {}, _meta: meta };
      expect(await ask(driver, "tools/call", params)).toMatchObject({ content: [], _meta: meta });
    },
  },
  {
    name: "a large text of every kind of character arrives as it was",
    async run(driver) {
      const text = 'plain, é, 漢字, 🚆, \u{10ffff}, \u0000, \u2028, \\u0041, "quoted"\r\n\t'.repeat(5_000);
      expect((await textOf(driver, "echo", { text })) === text, "the very same text").toBe(true);
    },
  },
  {
    name: "a hundred calls at the same time are answered each with its own",
    async run(driver) {
      const texts = Array.from({ length: 100 }, (_, index) => `call ${index}`);
      // The first are answered last.
      const answers = texts.map((text, index) => textOf(driver, "late", { text, turns: (100 - index) % 17 }));
      expect(await Promise.all(answers)).toEqual(texts);
    },
  },
  {
    name: "progress grows, and comes before the result",
    async run(driver) {
      const heard: (ProgressParams | "result")[] = [];
      const onProgress = (each: ProgressParams): void => void heard.push(each);
      await driver.call("tools/call", { name: "count", arguments: {} }, { onProgress });
      heard.push("result");
      const messages = of(differences.progressMessage, driver.revision);
      const steps = messages.map((message, index) => ({ progress: index + 1, total: 3, message }));
      const shown = heard.map((each) =>
        each === "result" ? each : { progress: each.progress, total: each.total, message: each.message },
      );
      expect(shown).toEqual([...steps, "result"]);
    },
  },
  {
    name: "progress is sent only if it was requested",
    async run(driver) {
      expect(await textOf(driver, "count")).toBe("counted");
      expect(driver.told()).toEqual([]);
    },
  },
  {
    name: "a call that is cancelled stops its handler, and is not answered",
    async run(driver) {
      const before = await jsonOf(driver, "effects");
      const cancelling = new AbortController();
      const settings = { signal: cancelling.signal, onProgress: () => cancelling.abort() };
      expect(await driver.call("tools/call", { name: "wait", arguments: {} }, settings)).toEqual({
        local: "cancelled",
      });
      const after = { ...before, aborted: Number(before.aborted) + 1 };
      // Where hanging up takes a call back, the next one may overtake that.
      await expect.poll(() => jsonOf(driver, "effects")).toEqual(after);
    },
  },
  {
    name: "calls in a batch are answered in a batch, where there are batches",
    async run(driver) {
      const batch = await driver.batch([
        ["tools/call", { name: "echo", arguments: { text: "one" } }],
        ["tools/call", { name: "late", arguments: { text: "two", turns: 3 } }],
      ]);
      expect(batch).toMatchObject(of(differences.batch, driver.revision)[driver.kind]);
    },
  },
  {
    name: "a client that has not set a log level receives the default of its era",
    bare: true,
    async run(driver) {
      expect(await logged(driver)).toEqual(of(differences.loggedUnasked, driver.revision));
    },
  },
  {
    name: "only log messages that are severe enough come",
    async run(driver) {
      await driver.setLogLevel("error");
      expect(await logged(driver)).toEqual(["error", "critical", "alert", "emergency"]);
      await driver.setLogLevel("emergency");
      expect(await logged(driver)).toEqual(["emergency"]);
    },
  },
  {
    name: "a level that does not exist is refused",
    async run(driver) {
      const setting = await driver.setLogLevel("loud" as LoggingLevel); // A peer may say anything.
      const calling = await driver.call("tools/call", { name: "text" });
      const refusals = Object.entries({ setting, calling }).filter(([, outcome]) => !("result" in outcome));
      expect(refusals).toMatchObject([of(differences.badLevelRefused, driver.revision)[driver.kind]]);
      await driver.setLogLevel("info");
    },
  },
];
