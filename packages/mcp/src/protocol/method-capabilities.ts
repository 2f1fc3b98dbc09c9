import type { ServerCapabilities } from "./capabilities.js";
import { isObject } from "./json.js";
import { methods } from "./methods.js";

/** The capability that a request of a client needs, by its path. https://modelcontextprotocol.io/specification/latest/basic#capabilities */
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

/** Whether a server has said that it has a capability. */
export function isAdvertised(path: string, capabilities: ServerCapabilities): boolean {
  let value: unknown = capabilities;
  for (const name of path.split(".")) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value !== undefined && value !== false && value !== null;
}

/** The requests that need what a server has not said that it has. */
export function unadvertisedMethods(capabilities: ServerCapabilities): ReadonlySet<string> {
  const all = [...methodCapabilities];
  return new Set(all.filter(([, path]) => !isAdvertised(path, capabilities)).map(([method]) => method));
}
