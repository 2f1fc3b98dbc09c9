import { invalidParams, type ParamsFault } from "../jsonrpc/errors.js";
import { isObject, type JsonObject } from "../protocol/json.js";

/** One message of the conversation, as far as it is looked at. */
interface Turn {
  readonly path: string;
  readonly role: unknown;
  readonly blocks: readonly JsonObject[];
}

/**
 * Looks at the params of `sampling/createMessage`, before a model or a person is bothered with them.
 * https://modelcontextprotocol.io/specification/latest/client/sampling#message-content-constraints
 *
 * @throws RpcError −32602 with everything that is wrong
 */
export function checkSamplingParams({ messages, maxTokens }: JsonObject): void {
  const faults: ParamsFault[] = [];
  if (typeof maxTokens !== "number") faults.push({ path: "/maxTokens", message: "must be a number" });
  if (Array.isArray(messages)) faults.push(...messageFaults(messages));
  else faults.push({ path: "/messages", message: "must be an array" });
  if (faults.length > 0) throw invalidParams("Invalid params", faults);
}

function messageFaults(messages: readonly unknown[]): readonly ParamsFault[] {
  const turns = messages.map(readTurn);
  const [broken] = turns.filter((turn): turn is string => typeof turn === "string");
  if (broken !== undefined) return [{ path: broken, message: "must be a message with a role and content" }];
  return (turns as readonly Turn[]).flatMap((turn, index, all) => turnFaults(turn, all[index + 1]));
}

/** The message, or the path of one that is none. */
function readTurn(message: unknown, index: number): Turn | string {
  const path = `/messages/${index}`;
  if (!isObject(message) || (message.role !== "user" && message.role !== "assistant")) return path;
  const blocks: readonly unknown[] = Array.isArray(message.content) ? message.content : [message.content];
  return blocks.every(isObject) ? { path, role: message.role, blocks } : path;
}

function turnFaults({ path, role, blocks }: Turn, next: Turn | undefined): readonly ParamsFault[] {
  const results = blocks.filter(({ type }) => type === "tool_result");
  if (role === "user" && results.length > 0 && results.length < blocks.length) {
    return [{ path, message: "must hold nothing but tool results, if it holds one" }];
  }
  const uses = blocks.filter(({ type }) => type === "tool_use");
  if (role !== "assistant" || uses.length === 0) return [];
  const answered = new Set(next?.role === "user" ? next.blocks.map(({ toolUseId }) => toolUseId) : []);
  if (uses.every(({ id }) => answered.has(id))) return [];
  return [{ path, message: "must be followed by a user message with the results of its tool uses" }];
}
