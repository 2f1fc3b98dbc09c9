import { isObject, type JsonObject } from "../json.js";
import { chain, each, eachMember, object, type Reshape, within, without } from "./reshape.js";

/** Writes titled choices as `enumNames`, which revisions before `oneOf` used. */
const titlesAsNames = object((field) => {
  const { oneOf, ...rest } = field;
  if (!Array.isArray(oneOf)) return field;
  const choices: readonly unknown[] = oneOf;
  const pick = (member: string): unknown[] => choices.map((choice) => (isObject(choice) ? choice[member] : choice));
  return { ...rest, enum: pick("const"), enumNames: pick("title") };
});

/** These revisions allow a default for booleans only. */
const booleanDefault = object((field) => (field.type === "boolean" ? field : withoutDefault(field)));
const withoutDefault = without("default");

/**
 * Converts a form for revisions without modes, titled choices and defaults. Multiple-choice fields have no equivalent
 * there; the lifecycle rejects such forms beforehand.
 */
export const plainForm: Reshape = chain([
  without("mode"),
  within("requestedSchema", without("$schema")),
  within("requestedSchema", within("properties", eachMember(chain([titlesAsNames, booleanDefault])))),
]);

/** Splits a message with several blocks into messages of one block each, with the same role. */
const singleBlocks: Reshape = within("messages", (messages) => {
  if (!Array.isArray(messages)) return messages;
  const isSingle = (message: unknown): boolean => !isObject(message) || !Array.isArray(message.content);
  return messages.every(isSingle) ? messages : messages.flatMap(split);
});

function split(message: unknown): readonly unknown[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message];
  const blocks: readonly unknown[] = message.content;
  return blocks.map((content): JsonObject => ({ ...message, content }));
}

/** Removes tool use from sampling params, for clients whose model cannot call tools. */
export const withoutTools: Reshape = chain([
  without("tools", "toolChoice"),
  within("messages", each(without("_meta"))),
  singleBlocks,
]);
