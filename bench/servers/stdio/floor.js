import { responder } from "../floor.js";

/** @import { ServerContestant } from "../../types.d.ts" */

/**
 * The least that answers the same bytes: a newline splitter by hand, and one write for what came in one chunk.
 * @type {ServerContestant}
 */
export const contestant = {
  kinds: ["call", "stateless"],
  async serve(kind) {
    const respond = responder(kind === "stateless" ? "stateless" : "handshake");
    let rest = "";
    process.stdin.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
      const text = rest + chunk;
      let answers = "";
      let from = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
        const answer = respond(JSON.parse(text.slice(from, end)));
        if (answer !== undefined) answers += `${answer}\n`;
        from = end + 1;
      }
      rest = text.slice(from);
      if (answers !== "") process.stdout.write(answers);
    });
  },
};
