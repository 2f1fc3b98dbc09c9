import { contents, said } from "../describe.js";
import { first } from "../stage.js";

/** @import { ReadResourceResult } from "@parlance/mcp" */
/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const cache = {
  title: "Caching: a result is not fetched again until it expires or changes",
  ours: true,
  async play({ client, show }) {
    /** @type {(result: ReadResourceResult, frames: number) => string} */
    const counted = (result, frames) => `${contents(result)}, after ${frames} frames`;
    await show(() => client.resources.read("sights:/board"), counted);
    await show(() => client.resources.read("sights:/board"), counted);

    const board = await show(
      () => client.resources.subscribe("sights:/board"),
      ({ filter }) => `${filter.resourceSubscriptions}`,
    );
    if (board === undefined) return;
    await show(() => client.tools.call("write", { text: "Open again" }), said);
    await show(() => first(board));
    await show(() => client.resources.read("sights:/board"), counted);
    await board.close();
  },
};
