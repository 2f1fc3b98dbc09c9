import {
  isAdvertised,
  isObject,
  type JsonObject,
  metaKeys,
  methodCapabilities,
  methods,
  notifications,
  pointerToken,
  type Revision,
} from "@parlance/mcp/protocol";
import type { Sender } from "../recording/frame.js";
import type { WireMessage } from "./message.js";
import { metaOf } from "./operations.js";

/** The declarations of both sides at the time of a message; undefined for a side that has declared nothing yet. */
export interface Declared {
  /** The client's capabilities, from `initialize` or from the `_meta` of the last stateless request. */
  readonly clientCapabilities: JsonObject | undefined;
  /** The server's capabilities, from the result of `initialize` or `server/discover`. */
  readonly serverCapabilities: JsonObject | undefined;
}

/** A capability that a message uses. */
export interface CapabilityUse {
  /** Members of the capabilities with dots between them: `tools.listChanged`. */
  readonly path: string;
  /** The method that needs it. */
  readonly method: string;
  /** A JSON pointer to the method name. */
  readonly pointer: string;
  /** The side that has to declare it. */
  readonly declarer: Sender;
  /** The declarations of that side; undefined if they are not known. */
  readonly declared: JsonObject | undefined;
}

/** The capabilities that a message uses in a revision. */
export function* usesOf(message: WireMessage, known: Declared, revision: Revision): Iterable<CapabilityUse> {
  const { kind, from, method = "", operation } = message;
  const { clientCapabilities, serverCapabilities } = known;
  if (kind === "req" && from === "client") {
    const path = neededFor(method, revision);
    if (path !== undefined)
      yield { path, method, pointer: "/method", declarer: "server", declared: serverCapabilities };
  }
  if (kind === "ntf") {
    const path = notifiedUnder.get(method);
    const declarer = method === notifications.rootsChanged ? "client" : "server";
    const declared = declarer === "server" ? serverCapabilities : clientCapabilities;
    if (path !== undefined && from === declarer) yield { path, method, pointer: "/method", declarer, declared };
  }
  for (const question of questionsOf(message)) {
    // In the stateless era, each request has its own capabilities.
    const own = operation && metaOf(operation.request.params)[metaKeys.clientCapabilities];
    const declared = revision.era === "handshake" ? clientCapabilities : isObject(own) ? own : undefined;
    for (const path of askedOf(question, revision))
      yield { path, method: question.method, pointer: question.pointer, declarer: "client", declared };
  }
}

/** Whether a side has declared a capability that a message of it or to it uses. */
export function isDeclared(path: string, declared: JsonObject): boolean {
  const { elicitation } = declared;
  // Without members it means form elicitation, the only mode of the first revision with elicitation.
  if (path === "elicitation.form" && isObject(elicitation) && elicitation.url === undefined) return true;
  return isAdvertised(path, declared);
}

function neededFor(method: string, { facts }: Revision): string | undefined {
  const path = methodCapabilities.get(method);
  if (path === "completions" && !facts.completionsCapability) return undefined;
  return path?.startsWith("tasks") && facts.tasks !== "core" ? undefined : path;
}

/** A list whose changes a server notifies. */
interface ChangeableList {
  /** The method that lists it. */
  readonly list: string;
  /** The member of the result. */
  readonly member: "tools" | "resources" | "prompts";
  /** The notification of a change. */
  readonly changed: string;
  /** The capability that announces it, with dots. */
  readonly capability: string;
}

/** All lists whose changes a server notifies. */
export const changeableLists: readonly ChangeableList[] = (
  [
    { list: methods.listTools, member: "tools", changed: notifications.toolsChanged },
    { list: methods.listResources, member: "resources", changed: notifications.resourcesChanged },
    { list: methods.listPrompts, member: "prompts", changed: notifications.promptsChanged },
  ] as const
).map((each) => ({ ...each, capability: `${each.member}.listChanged` }));

/** The capabilities under which a side sends a notification. */
const notifiedUnder: ReadonlyMap<string, string> = new Map([
  ...changeableLists.map(({ changed, capability }) => [changed, capability] as const),
  [notifications.resourceUpdated, "resources.subscribe"],
  [notifications.message, "logging"],
  [notifications.rootsChanged, "roots.listChanged"],
]);

/** The capabilities whose use can be seen in messages. Any other one can be used without a message that shows it. */
export const visibleCapabilities: ReadonlySet<string> = new Set([
  ...methodCapabilities.values(),
  ...notifiedUnder.values(),
  ...["roots", "sampling", "sampling.tools", "elicitation", "elicitation.form", "elicitation.url"],
]);

/** The input requests of a server: a request, or members of a result. */
interface Question {
  readonly method: string;
  readonly params: JsonObject;
  /** A JSON pointer to the method name. */
  readonly pointer: string;
}

/** The input requests to a client in a message. */
function* questionsOf({ kind, from, method = "", params, result }: WireMessage): Iterable<Question> {
  if (from !== "server") return;
  if (kind === "req") yield { method, params, pointer: "/method" };
  const inputs = result?.resultType === "input_required" ? result.inputRequests : undefined;
  for (const [key, input] of Object.entries(isObject(inputs) ? inputs : {})) {
    if (!isObject(input) || typeof input.method !== "string") continue;
    const pointer = `/result/inputRequests/${pointerToken(key)}/method`;
    yield { method: input.method, params: isObject(input.params) ? input.params : {}, pointer };
  }
}

/** The client capabilities that an input request needs. */
function* askedOf({ method, params }: Question, { facts }: Revision): Iterable<string> {
  if (method === methods.listRoots) yield "roots";
  if (method === methods.createMessage) {
    const needsTools = params.tools !== undefined || params.toolChoice !== undefined;
    yield facts.samplingTools && needsTools ? "sampling.tools" : "sampling";
  }
  if (method === methods.elicit) {
    if (facts.elicitation === "form") yield "elicitation";
    else yield params.mode === "url" ? "elicitation.url" : "elicitation.form";
  }
  if (facts.tasks === "core" && method.startsWith("tasks/")) yield methodCapabilities.get(method) ?? "tasks";
}
