import { isObject, type JsonObject } from "../protocol/json.js";
import { chain, each, eachMember, object, type Reshape, within, without } from "./reshape.js";

/** One of several titled strings, as it was said before there was `oneOf`. */
const titlesAsNames = object((field) => {
  const { oneOf, ...rest } = field;
  if (!Array.isArray(oneOf)) return field;
  const choices: readonly unknown[] = oneOf;
  const pick = (member: string): unknown[] => choices.map((choice) => (isObject(choice) ? choice[member] : choice));
  return { ...rest, enum: pick("const"), enumNames: pick("title") };
});

/** Only a yes or no could be filled in beforehand. */
const booleanDefault = object((field) => (field.type === "boolean" ? field : withoutDefault(field)));
const withoutDefault = without("default");

/**
 * A form from before there were modes, titled choices and defaults. Several choices at once, which no older form has, are
 * not asked for at all: the lifecycle refuses them, because nothing else would ask the same.
 */
export const plainForm: Reshape = chain([
  without("mode"),
  within("requestedSchema", without("$schema")),
  within("requestedSchema", within("properties", eachMember(chain([titlesAsNames, booleanDefault])))),
]);

/** Messages with one block each: several blocks become several messages of the same role. */
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

/** What is asked of a model that cannot call tools. */
export const withoutTools: Reshape = chain([
  without("tools", "toolChoice"),
  within("messages", each(without("_meta"))),
  singleBlocks,
]);
