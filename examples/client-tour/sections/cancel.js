import { said } from "../describe.js";

/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const cancel = {
  title: "Cancellation and timeouts: the server is notified and can stop",
  ours: true,
  async play({ client, note, show }) {
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = () => {
      note("! it waits: controller.abort()");
      controller.abort();
    };
    await show(() => client.tools.call("wait", {}, { signal, onProgress }), said);
    await show(() => client.tools.call("wait", {}, { timeout: 50 }), said);
    await show(() => client.tools.call("wait", {}, { totalTimeout: 50 }), said);
    await show(() => client.tools.call("waits"), said);
  },
};
