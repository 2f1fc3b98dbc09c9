import { isObject, kindOf } from "../base/json.js";
import type { ContentBlock } from "../protocol/content.js";
import { requireBlockMeta, requireMetaKeys } from "../protocol/meta-keys.js";
import type { GetPromptResult, PromptMessage } from "../protocol/prompts.js";

/** What a prompt may return: the text or the block that the user says, messages, or a whole result. */
export type PromptReturn = string | ContentBlock | PromptMessage | readonly PromptMessage[] | GetPromptResult;

/**
 * A whole result from whatever a handler has returned.
 * @throws TypeError for what is no message: a bug of the handler
 */
export function promptResult(value: unknown): GetPromptResult {
  const result = resultOf(value);
  requireMetaKeys(result, "The result of a prompt");
  for (const message of result.messages) requireBlockMeta(message.content, "A message of a prompt");
  return result;
}

function resultOf(value: unknown): GetPromptResult {
  if (typeof value === "string") return { messages: [{ role: "user", content: { type: "text", text: value } }] };
  if (Array.isArray(value) && value.every(isMessage)) return { messages: value };
  if (isObject(value)) {
    if (Array.isArray(value.messages)) return value as unknown as GetPromptResult; // It says that it is one.
    if (isMessage(value)) return { messages: [value] };
    if (typeof value.type === "string")
      return { messages: [{ role: "user", content: value as unknown as ContentBlock }] };
  }
  throw new TypeError(`A prompt must return text, a content block, messages, or a whole result, got ${kindOf(value)}`);
}

function isMessage(value: unknown): value is PromptMessage {
  return isObject(value) && typeof value.role === "string" && isObject(value.content);
}
