import { said } from "../describe.js";

/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const log = {
  title: "The log: from which severity on it is heard",
  async play({ client, show }) {
    await show(() => client.setLogLevel("warning"));
  },
};

/** @type {Section} */
export const hearLog = {
  title: "The log: as much as is wanted",
  ours: true,
  async play({ client, show }) {
    await show(() => client.tools.call("log"), said);
    await show(() => client.setLogLevel("debug"));
    await show(() => client.tools.call("log"), said);
  },
};
