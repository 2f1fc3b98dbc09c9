/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const open = {
  title: "After connecting: revision, server and capabilities",
  async play({ client, show }) {
    await show(() => client.revision);
    await show(
      () => client.server.info?.name,
      (name = "nothing") => name,
    );
    await show(
      () => client.server.instructions,
      (text = "nothing") => text,
    );
    await show(
      () => Object.keys(client.server.capabilities),
      (all) => all.join(" "),
    );
    await show(() => client.connection.phase);
  },
};
