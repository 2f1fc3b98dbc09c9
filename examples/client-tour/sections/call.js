/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const call = {
  title: "A sign of life, and methods that have no verb",
  async play({ client, show }) {
    await show(() => client.ping());
    await show(
      () => client.call("tools/list"),
      (result) => `an object with ${Object.keys(result).join(" ")}`,
    );
    await show(() => client.call("example.org/dance", { partner: "Ada" }));
  },
};
