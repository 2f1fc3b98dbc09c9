import { names, said } from "../describe.js";
import { first } from "../stage.js";

/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const listTools = {
  title: "Tools: a list has pages, which are fetched as they are read",
  async play({ client, show }) {
    const found = await show(
      () => first(client.tools.list()),
      (tool, frames) => `${tool?.name}, after ${frames} frames`,
    );
    if (found === undefined) return;
    await show(
      () => client.tools.list().all(),
      (all, frames) => `${all.length} in all, after ${frames} frames:\n${names(all)}`,
    );
  },
};

/** @type {Section} */
export const callTools = {
  title: "Tools: a failed call is a result for the model; an unknown tool is an error for the program",
  ours: true,
  async play({ client, show }) {
    const result = await show(() => client.tools.call("add", { a: 2, b: 3 }), said);
    await show(() => result?.structuredContent?.sum, String);
    await show(() => client.tools.call("divide", { a: 1, b: 0 }), said);
    await show(() => client.tools.call("divide", { a: "one", b: 2 }), said);
    await show(() => client.tools.call("dance"), said);
  },
};
