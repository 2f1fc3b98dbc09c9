import { block } from "./describe.js";

/** @import { Root } from "@parlance/mcp" */
/** @import { InputHandlers } from "@parlance/mcp/client" */

/**
 * The responses of a person, a model and this program to requests of the server. A real client shows a dialog instead.
 *
 * @param {(text: string) => void} note
 * @param {readonly Root[]} roots
 * @returns {InputHandlers}
 */
export function scriptedAnswers(note, roots) {
  return {
    elicitation({ message, requestedSchema }) {
      note(`? elicit: ${message} Fields: ${Object.keys(requestedSchema.properties).join(" ")}`);
      return { action: "accept", content: { name: "Ada" } };
    },
    urlElicitation({ message, url }) {
      note(`? elicit URL: ${message}: ${url}`);
      return { action: "accept" };
    },
    sampling({ messages }) {
      note(
        `? sample: ${messages
          .flatMap(({ content }) => content)
          .map(block)
          .join(" ")}`,
      );
      return { role: "assistant", model: "scripted", content: { type: "text", text: "tea" } };
    },
    roots() {
      note("? roots");
      return roots;
    },
  };
}
