import { said } from "../describe.js";

/** @import { ProgressParams } from "@parlance/mcp" */
/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const progress = {
  title: "Progress: requested by passing onProgress",
  ours: true,
  async play({ client, note, show }) {
    /** @param {ProgressParams} params */
    const onProgress = ({ progress, total, message = "" }) => note(`! ${progress} of ${total} ${message}`.trimEnd());
    await show(() => client.tools.call("count", {}, { onProgress }), said);
  },
};
