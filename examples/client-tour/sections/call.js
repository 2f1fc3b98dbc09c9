/** @import { Middleware } from "@parlance/mcp/client" */
/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const call = {
  title: "Pings, extension methods, and middleware around each request",
  async play({ client, show }) {
    /** @type {string[]} */
    const sent = [];
    /** @type {Middleware} */
    const record = (next) => (method, params, options) => {
      sent.push(method);
      return next(method, params, options);
    };
    await show(() => client.use(record));
    await show(() => client.ping());
    await show(
      () => client.call("tools/list"),
      (result) => `an object with ${Object.keys(result).join(" ")}`,
    );
    await show(() => client.call("example.org/dance", { partner: "Ada" }));
    await show(
      () => sent,
      (methods) => methods.join(" "),
    );
  },
};
