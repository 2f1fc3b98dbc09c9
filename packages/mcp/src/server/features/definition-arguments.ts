import { foreignMembers } from "../../base/foreign-members.js";
import { isObject, kindOf } from "../../base/json.js";

/** The arguments of each method of the server that adds a definition, as the messages write them. */
const signatures = {
  tool: { first: "name", members: "{ description, inputSchema }", call: "(args, ctx) => …" },
  prompt: { first: "name", members: "{ description, arguments }", call: "(args, ctx) => …" },
  resource: { first: "uri", members: "{ description, mimeType }", call: "(uri, ctx) => …" },
  resourceTemplate: { first: "uriTemplate", members: "{ description, mimeType }", call: "(variables, ctx, uri) => …" },
} as const;

/**
 * Refuses what JavaScript lets through: an argument that is missing, or stands in the place of another, e.g. a description
 * where other libraries have it.
 * @throws TypeError
 */
export function requireArguments(
  method: keyof typeof signatures,
  name: unknown,
  definition: unknown,
  handler: unknown,
): void {
  const { first, members, call } = signatures[method];
  const quoted = typeof name === "string" ? JSON.stringify(name) : first;
  const subject = `server.${method}${typeof name === "string" ? ` ${name}` : ""}`;
  if (method.startsWith("resource") && typeof definition === "string" && isUri.test(definition)) {
    const named = `{ name: ${quoted}, ${members.slice("{ ".length)}`;
    const remedy = `write server.${method}(${JSON.stringify(definition)}, ${named}, ${call})`;
    throw new TypeError(`${subject}: the URI comes first, and the name is a member of the definition: ${remedy}`);
  }
  const fault = faultOf(name, definition, handler);
  if (fault !== undefined)
    throw new TypeError(`${subject}: ${fault}: write server.${method}(${quoted}, ${members}, ${call})`);
}

const isUri = /^[a-z][a-z0-9+.-]*:/i;

function faultOf(name: unknown, definition: unknown, handler: unknown): string | undefined {
  if (typeof name !== "string") return `the first argument must be a string, got ${kindOf(name)}`;
  if (typeof definition === "string") return "a description is a member of the definition, not an argument";
  if (typeof definition === "function") {
    return isObject(handler)
      ? "the definition comes before the handler"
      : "the definition, which may be {}, is missing before the handler";
  }
  if (!isObject(definition)) return `the second argument must be a definition, got ${kindOf(definition)}`;
  if (handler === undefined) return "the handler is missing";
  return typeof handler === "function" ? undefined : `the handler must be a function, got ${kindOf(handler)}`;
}

const serving = "serveStdio(server) and serveHttp(server, { port }) of @parlance/mcp/node serve it";
const addsTool = "server.tool(name, { description, inputSchema }, (args, ctx) => …) adds a tool";

const notifies =
  "clients are notified of changed definitions; server.changed.list(list) notifies them of other changes";
const asksUser = "handlers have ctx.elicit(message, schema), ctx.sample(params) and ctx.listRoots()";

const ends =
  "serveStdio(server) returns an object with the promise closed, and every serve function takes report for errors";
const servesAll = "one server serves all clients: ctx is of one call, and server.changed notifies every client";

/** The prototype of servers: methods that servers of other libraries have, and what takes their place. */
export const foreignServerMembers: object = foreignMembers(
  "server",
  {
    registerTool: addsTool,
    addTool: addsTool,
    registerResource: "server.resource(uri, { mimeType }, (uri, ctx) => …) or server.resourceTemplate adds a resource",
    addResource: "server.resource(uri, { mimeType }, (uri, ctx) => …) adds a resource",
    addResourceTemplate: "server.resourceTemplate(template, { name }, (variables, ctx, uri) => …) adds a template",
    registerPrompt: "server.prompt(name, { arguments }, (args, ctx) => …) adds a prompt",
    addPrompt: "server.prompt(name, { arguments }, (args, ctx) => …) adds a prompt",
    setRequestHandler: "server.method(name, (params, operation) => …) adds a method of an extension",
    connect: serving,
    listen: serving,
    start: serving,
    close: "serveHttp(server) and serveStdio(server) return what has close(), and so does a client of connect(server)",
    on: ends,
    notification: "handlers have ctx.progress and ctx.log, and server.changed notifies clients of changes",
    sendLoggingMessage: "handlers have ctx.log(level, data)",
    log: "handlers have ctx.log(level, data)",
    sendResourceUpdated: "server.changed.resource(uri) notifies the clients that subscribed to it",
    sendToolListChanged: notifies,
    sendPromptListChanged: notifies,
    sendResourceListChanged: notifies,
    elicitInput: asksUser,
    createMessage: asksUser,
    listRoots: asksUser,
  },
  {
    server: `there is no inner server: server.method(name, handler) adds a method, and ${asksUser}`,
    isConnected: servesAll,
    sessions: servesAll,
    onclose: ends,
    onerror: ends,
  },
);
