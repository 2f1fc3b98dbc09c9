import { block } from "./describe.js";

/** @import { Root } from "@parlance/mcp" */
/** @import { Answers } from "@parlance/mcp/client" */

/**
 * What a person, a model and this program answer when the server asks. A real client shows a dialog instead.
 *
 * @param {(text: string) => void} heard
 * @param {readonly Root[]} roots
 * @returns {Answers}
 */
export function scriptedAnswers(heard, roots) {
  return {
    elicit({ message, requestedSchema }) {
      heard(`? elicit: ${message} Fields: ${Object.keys(requestedSchema.properties).join(" ")}`);
      return { action: "accept", content: { name: "Ada" } };
    },
    visit({ message, url }) {
      heard(`? visit: ${message}: ${url}`);
      return { action: "accept" };
    },
    sample({ messages }) {
      heard(
        `? sample: ${messages
          .flatMap(({ content }) => content)
          .map(block)
          .join(" ")}`,
      );
      return { role: "assistant", model: "scripted", content: { type: "text", text: "tea" } };
    },
    roots() {
      heard("? roots");
      return roots;
    },
  };
}
