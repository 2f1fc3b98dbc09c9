import { messages, names } from "../describe.js";

/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const prompts = {
  title: "Prompts: the list",
  async play({ client, show }) {
    const all = await show(() => client.prompts.list().all(), names);
    const simple = all?.find(({ arguments: args = [] }) => args.every(({ required }) => required !== true));
    if (simple !== undefined) await show(() => client.prompts.get(simple.name), messages);
  },
};

/** @type {Section} */
export const getPrompts = {
  title: "Prompts: arguments and completion",
  ours: true,
  async play({ client, show }) {
    await show(() => client.prompts.get("postcard", { city: "Pisa" }), messages);
    await show(() => client.prompts.get("postcard"), messages);

    const ref = /** @type {const} */ ({ type: "ref/prompt", name: "postcard" });
    const context = { arguments: { city: "Rome" } };
    await show(() => client.complete(ref, { name: "city", value: "p" }));
    await show(() => client.complete(ref, { name: "sight", value: "" }, { context }));
    const family = /** @type {const} */ ({ type: "ref/resource", uri: "sights:/towers/{city}" });
    await show(() => client.complete(family, { name: "city", value: "Ph" }));
  },
};
