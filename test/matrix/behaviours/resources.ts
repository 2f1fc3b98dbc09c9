import { expect } from "vitest";
import { ask, type Behaviour, older } from "../behaviour.js";
import { differences, of } from "../differences.js";

/** https://modelcontextprotocol.io/specification/latest/server/resources */
export const resources: readonly Behaviour[] = [
  {
    name: "a resource is listed with the words that the revision has",
    async run(driver) {
      const [first] = await driver.list("resources/list");
      expect(first).toEqual(of(differences.resourceWords, driver.revision));
    },
  },
  {
    name: "a template is listed with the words that the revision has",
    async run(driver) {
      const listed = await driver.list("resources/templates/list");
      expect(listed).toEqual([of(differences.templateWords, driver.revision)]);
    },
  },
  {
    name: "a resource is read as text",
    async run(driver) {
      const { contents } = await ask(driver, "resources/read", { uri: "note:/static" });
      expect(contents).toEqual([{ uri: "note:/static", mimeType: "text/plain", text: "A note" }]);
    },
  },
  {
    name: "a resource is read as bytes",
    async run(driver) {
      const { contents } = await ask(driver, "resources/read", { uri: "note:/bytes" });
      expect(contents).toEqual([{ uri: "note:/bytes", mimeType: "image/png", blob: "AQL/" }]);
    },
  },
  {
    name: "a resource of a template is read by its decoded values",
    async run(driver) {
      const { contents } = await ask(driver, "resources/read", { uri: "shelf:/verne/die%20Reise" });
      expect(contents).toEqual([{ uri: "shelf:/verne/die%20Reise", text: "Abfahrt" }]);
    },
  },
  ...["note:/nothing", "shelf:/verne/nothing", "shelf:/verne/..%2fdie%20Reise"].map(
    (uri): Behaviour => ({
      name: `a resource that does not exist is refused: ${uri}`,
      async run(driver) {
        const code = of(differences.resourceNotFound, driver.revision);
        expect(await driver.call("resources/read", { uri })).toMatchObject({ error: { code, data: { uri } } });
      },
    }),
  ),
  {
    name: "what may be kept says for how long",
    async run(driver) {
      const hintsOf = ({ ttlMs, cacheScope }: Awaited<ReturnType<typeof ask>>): object => ({ ttlMs, cacheScope });
      const { list } = of(differences.cacheHints, driver.revision);
      const { resource: told } = of(differences.cacheHints, older(driver));
      const resource = Object.keys(told).length === 0 ? list : told; // Of what it is not told, a bridge knows no better.
      expect(hintsOf(await ask(driver, "tools/list"))).toEqual({ ...hintsOf(list) });
      expect(hintsOf(await ask(driver, "resources/read", { uri: "note:/kept" }))).toEqual({ ...hintsOf(resource) });
    },
  },
];
