import { said } from "../describe.js";

/** @import { ProgressParams } from "@parlance/mcp" */
/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const progress = {
  title: "Progress: asked for by listening to it",
  ours: true,
  async play({ client, heard, show }) {
    /** @param {ProgressParams} params */
    const onProgress = ({ progress, total, message = "" }) => heard(`! ${progress} of ${total} ${message}`.trimEnd());
    await show(() => client.tools.call("count", {}, { onProgress }), said);
  },
};
