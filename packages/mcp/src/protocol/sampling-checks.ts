import { isObject, type JsonObject } from "../base/json.js";
import type { ParamsFault } from "../jsonrpc/errors.js";

/**
 * The rules for tool use in params of `sampling/createMessage`: only the assistant uses tools, the next message has the
 * results, and it contains nothing else.
 * https://modelcontextprotocol.io/specification/latest/client/sampling#message-content-constraints
 */
export function samplingFaults({ messages, maxTokens, tools, toolChoice }: JsonObject): readonly ParamsFault[] {
  const faults: ParamsFault[] = [];
  if (typeof maxTokens !== "number") faults.push({ path: "/maxTokens", message: "must be a number" });
  const hasTools = Array.isArray(tools) && tools.length > 0;
  if (toolChoice !== undefined && !hasTools) {
    faults.push({ path: "/toolChoice", message: "must be absent without tools" });
  }
  if (!Array.isArray(messages)) return [...faults, { path: "/messages", message: "must be an array" }];
  for (const [index, message] of messages.entries()) {
    const fault = messageFault(message, blocksOf(messages[index - 1]), blocksOf(messages[index + 1]));
    if (fault !== undefined) faults.push({ path: `/messages/${index}`, message: fault });
  }
  return faults;
}

/** Whether the params require the client capability `sampling.tools`. */
export function involvesTools({ messages, tools, toolChoice }: JsonObject): boolean {
  if (tools !== undefined || toolChoice !== undefined) return true;
  return Array.isArray(messages) && messages.flatMap(blocksOf).some((block) => isUse(block) || isResult(block));
}

function messageFault(
  message: unknown,
  before: readonly JsonObject[],
  behind: readonly JsonObject[],
): string | undefined {
  const role = isObject(message) ? message.role : undefined;
  const blocks = blocksOf(message);
  if ((role !== "user" && role !== "assistant") || blocks.length === 0) return "must have a role and content";
  const uses = blocks.filter(isUse);
  const results = blocks.filter(isResult);
  if (role === "user" && uses.length > 0) return "must not use tools: only the assistant does";
  if (role === "assistant" && results.length > 0) return "must not hold tool results: only the user has them";
  if (results.length > 0 && results.length < blocks.length) return "must contain only tool results if it contains one";
  if (!match(uses, behind.filter(isResult))) return "must be followed by a message with the results of its tool uses";
  if (results.length > 0 && !before.some(isUse))
    return "must not contain tool results: the previous message uses no tool";
  return undefined;
}

/** Whether tool uses and tool results match one to one. */
function match(uses: readonly JsonObject[], results: readonly JsonObject[]): boolean {
  const asked = uses.map(({ id }) => String(id)).toSorted();
  const answered = results.map(({ toolUseId }) => String(toolUseId)).toSorted();
  return asked.length === 0 || JSON.stringify(asked) === JSON.stringify(answered);
}

/** The content blocks of a message; empty if it is not a message. */
function blocksOf(message: unknown): readonly JsonObject[] {
  const content = isObject(message) ? message.content : undefined;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.every(isObject) ? blocks : [];
}

function isUse({ type }: JsonObject): boolean {
  return type === "tool_use";
}

function isResult({ type }: JsonObject): boolean {
  return type === "tool_result";
}
