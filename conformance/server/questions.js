import { elicitForm, sample } from "@parlance/mcp/server";
import { objectOf } from "./schemas.js";

/** @import { CreateMessageResult } from "@parlance/mcp" */

/**
 * Asks a person for one thing.
 *
 * @param {string} message
 * @param {string} name
 * @param {"string" | "boolean"} [type]
 */
export function ask(message, name, type = "string") {
  return elicitForm(message, objectOf({ [name]: { type } }));
}

/**
 * Asks a model for a text.
 *
 * @param {string} text
 * @param {number} maxTokens
 */
export function prompt(text, maxTokens) {
  return sample({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens });
}

/** @param {CreateMessageResult} message */
export function textOf({ content }) {
  return [content]
    .flat()
    .map((block) => ("text" in block ? block.text : `a block of type ${block.type}`))
    .join("\n");
}
