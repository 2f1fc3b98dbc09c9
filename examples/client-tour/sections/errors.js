import { said } from "../describe.js";

/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const errors = {
  title: "Errors: an RpcError was sent by the server; a LocalError says why there is no response",
  ours: true,
  async play({ client, show }) {
    await show(() => client.prompts.get("postcard", { town: "Pisa" }));
    await show(() => client.tools.call("liar"), said);
    await show(() => client.call("roots/list"));
    await show(() => client.resources.subscribe("nowhere:/at/all"));
  },
};
