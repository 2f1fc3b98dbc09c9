import { contents, names } from "../describe.js";

/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const resources = {
  title: "Resources: list, templates and text",
  async play({ client, show }) {
    const all = await show(() => client.resources.list().all(), names);
    if (all === undefined) return;
    await show(
      () => client.resources.templates().all(),
      (templates) => templates.map(({ uriTemplate }) => uriTemplate).join(" ") || "none",
    );
    const uri = all[0]?.uri;
    if (uri === undefined) return;
    await show(() => client.resources.read(uri), contents);
    await show(() => client.resources.read("nowhere:/at/all"), contents);
  },
};

/** @type {Section} */
export const readResources = {
  title: "Resources: binary contents, and one from a template",
  ours: true,
  async play({ client, show }) {
    await show(() => client.resources.read("sights:/dot.gif"), contents);
    await show(() => client.resources.read("sights:/towers/Pisa"), contents);
  },
};
