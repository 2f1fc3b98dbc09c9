import { isObject, kindOf } from "../../base/json.js";
import type { JsonObject } from "../../protocol/json.js";
import {
  blockMetaFault,
  encodeBytes,
  firstFault,
  metaFault,
  type SendableContent,
  shapeFault,
  unsendable,
} from "../../protocol/sendable.js";
import type { GetPromptResult, PromptMessage } from "../../protocol/types/prompts.js";

/** One message of a prompt as a handler may give it: the data of images, audio and embedded resources may be bytes. */
export interface SendableMessage extends Omit<PromptMessage, "content"> {
  readonly content: SendableContent;
}

/** A whole result as a handler may give it. */
export interface SendablePrompt extends Omit<GetPromptResult, "messages"> {
  readonly messages: readonly SendableMessage[];
}

/** Return value of a prompt handler: text or a block of a user message, messages, or a whole result. */
export type PromptReturn = string | SendableContent | SendableMessage | readonly SendableMessage[] | SendablePrompt;

/**
 * A whole result from whatever a handler has returned, with its bytes in base64.
 * @param prompt its name, for the message
 * @throws TypeError for what cannot be sent, with the place in the result and the remedy: a bug of the handler
 */
export function promptResult(value: unknown, prompt: string): GetPromptResult {
  const what = `The result of the prompt ${prompt}`;
  const given = resultOf(value, what);
  const messages = given.messages.map(encodeMessage);
  const result = { ...given, messages };
  const fault =
    shapeFault("GetPromptResult", { resultType: "complete", ...result }, "") ??
    metaFault(given._meta, "/_meta") ??
    firstFault(messages, (message, index) =>
      blockMetaFault((message as JsonObject).content, `/messages/${index}/content`),
    );
  if (fault !== undefined) throw unsendable(what, fault);
  return result as unknown as GetPromptResult; // Checked just above.
}

function encodeMessage(message: unknown): unknown {
  return isObject(message) ? { ...message, content: encodeBytes(message.content) } : message;
}

function resultOf(value: unknown, what: string): JsonObject & { readonly messages: readonly unknown[] } {
  if (typeof value === "string") return { messages: [{ role: "user", content: { type: "text", text: value } }] };
  if (Array.isArray(value)) return { messages: value };
  if (isObject(value)) {
    if (Array.isArray(value.messages)) return { ...value, messages: value.messages };
    if ("role" in value) return { messages: [value] };
    if (typeof value.type === "string") return { messages: [{ role: "user", content: value }] };
  }
  const message = `must be text, a content block, messages, or a whole result, got ${kindOf(value)}`;
  throw unsendable(what, { path: "", message });
}
