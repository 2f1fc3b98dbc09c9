/** @import { CallToolResult, GetPromptResult, ReadResourceResult } from "@parlance/mcp" */

/** @param {readonly { readonly name: string }[]} items */
export function names(items) {
  return items.map(({ name }) => name).join(" ") || "none";
}

/** @param {CallToolResult} result */
export function said({ content, isError = false }) {
  return `${isError ? "isError: " : ""}${content.map(block).join("\n")}`;
}

/** @param {ReadResourceResult} result */
export function contents({ contents }) {
  return contents.map((each) => ("text" in each ? each.text : `base64 ${each.blob}`)).join("\n");
}

/** @param {GetPromptResult} result */
export function messages({ messages }) {
  return messages.map(({ role, content }) => `${role}: ${block(content)}`).join("\n");
}

/** @param {{ readonly type: string, readonly text?: string }} content */
export function block({ type, text = `a block of type ${type}` }) {
  return text;
}
