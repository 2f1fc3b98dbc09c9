import { said } from "../describe.js";
import { first } from "../stage.js";

/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const changes = {
  title: "Subscribing to list changes",
  async play({ client, show }) {
    const lists = await show(
      () => client.subscribe(),
      ({ filter }) => Object.keys(filter).join(" "),
    );
    if (lists === undefined) return;
    await show(() => lists.close());
    await show(() => lists.closed);
  },
};

/** @type {Section} */
export const hearChanges = {
  title: "Change notifications, as they arrive",
  ours: true,
  async play({ client, show }) {
    const lists = await show(
      () => client.subscribe({ toolsListChanged: true }),
      ({ filter }) => Object.keys(filter).join(" "),
    );
    if (lists === undefined) return;
    await show(() => client.tools.call("knock"), said);
    await show(() => first(lists));
    await lists.close();
    await show(
      () => client.tools.list().all(),
      (all) => `${all.length} in all`,
    );

    const board = await show(
      () => client.resources.subscribe("sights:/board"),
      ({ filter }) => `${filter.resourceSubscriptions}`,
    );
    if (board === undefined) return;
    await show(() => client.tools.call("write", { text: "Closed" }), said);
    await show(() => first(board));
    await board.close();
  },
};
