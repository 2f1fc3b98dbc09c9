/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const close = {
  title: "Closing",
  async play({ client, show }) {
    await show(() => client.connection.inFlight);
    await show(() => Promise.all([client.ping(), client.close()]));
    await show(() => client.closed);
    await show(() => client.ping());
  },
};
