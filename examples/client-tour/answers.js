import { block } from "./describe.js";

/** @import { Root } from "@parlance/mcp" */
/** @import { InputHandlers } from "@parlance/mcp/client" */

/**
 * The responses of a person, a model and this program to requests of the server. A real client shows a dialog instead.
 *
 * @param {(text: string) => void} heard
 * @param {readonly Root[]} roots
 * @returns {InputHandlers}
 */
export function scriptedAnswers(heard, roots) {
  return {
    elicitation({ message, requestedSchema }) {
      heard(`? elicit: ${message} Fields: ${Object.keys(requestedSchema.properties).join(" ")}`);
      return { action: "accept", content: { name: "Ada" } };
    },
    urlElicitation({ message, url }) {
      heard(`? visit: ${message}: ${url}`);
      return { action: "accept" };
    },
    sampling({ messages }) {
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
