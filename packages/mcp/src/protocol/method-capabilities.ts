import { ownMember } from "../base/json.js";
import type { ServerCapabilities } from "./capabilities.js";
import { methods } from "./methods.js";

/**
 * The server capability that a client request requires, as a path.
 * https://modelcontextprotocol.io/specification/latest/basic#capabilities
 */
export const methodCapabilities: ReadonlyMap<string, string> = new Map([
  [methods.listTools, "tools"],
  [methods.callTool, "tools"],
  [methods.listResources, "resources"],
  [methods.listResourceTemplates, "resources"],
  [methods.readResource, "resources"],
  [methods.subscribe, "resources.subscribe"],
  [methods.unsubscribe, "resources.subscribe"],
  [methods.listPrompts, "prompts"],
  [methods.getPrompt, "prompts"],
  [methods.complete, "completions"],
  [methods.setLevel, "logging"],
  [methods.getTask, "tasks"],
  [methods.taskResult, "tasks"],
  [methods.listTasks, "tasks.list"],
  [methods.cancelTask, "tasks.cancel"],
]);

/**
 * Whether a server declared a capability.
 *
 * @example
 * isAdvertised("tools.listChanged", { tools: { listChanged: true } }); // true
 */
export function isAdvertised(path: string, capabilities: ServerCapabilities): boolean {
  const value = path.split(".").reduce<unknown>(ownMember, capabilities);
  return value !== undefined && value !== false && value !== null;
}
