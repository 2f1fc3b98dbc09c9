/** @import { Client } from "@parlance/mcp/client" */
/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const prior = {
  title: "Reconnecting: with a server hint, no probe is needed",
  async play({ client, connect, show }) {
    await show(() => client.serverHint.era);
    /** @type {(opened: Client, frames: number) => string} */
    const counted = ({ revision }, frames) => `${revision}, after ${frames} frames`;
    const asked = await show(() => connect(), counted);
    const kept = JSON.stringify(client.serverHint);
    const resumed = await show(() => connect({ serverHint: JSON.parse(kept) }), counted);
    await asked?.close();
    await resumed?.close();
  },
};
