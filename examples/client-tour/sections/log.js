import { said } from "../describe.js";

/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const log = {
  title: "Logging: the minimum level",
  async play({ client, show }) {
    await show(() => client.setLogLevel("warning"));
  },
};

/** @type {Section} */
export const hearLog = {
  title: "Logging: messages at each level",
  ours: true,
  async play({ client, show }) {
    await show(() => client.tools.call("log"), said);
    await show(() => client.setLogLevel("debug"));
    await show(() => client.tools.call("log"), said);
  },
};
