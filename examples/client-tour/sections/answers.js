import { said } from "../describe.js";

/** @import { Section } from "../stage.js" */

/** @type {Section} */
export const answers = {
  title: "Input requests: the server asks during a call",
  ours: true,
  async play({ client, roots, show }) {
    await show(() => client.tools.call("book"), said);
    await show(() => client.tools.call("pay"), said);
    await show(() => client.tools.call("rhyme"), said);
    await show(() => client.tools.call("where"), said);
    await show(
      () => roots.push({ uri: "file:///home/ada/photos" }),
      (count) => `${count} roots`,
    );
    await show(() => client.rootsChanged());
    await show(() => client.tools.call("where"), said);
  },
};
