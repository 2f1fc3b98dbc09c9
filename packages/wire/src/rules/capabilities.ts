import {
  describeValue,
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
import type { WireMessage } from "../conversation/message.js";
import { metaOf } from "../conversation/operations.js";
import { byEra, inSchema, negotiated, respected } from "./citations.js";
import type { Rule } from "./rule.js";

const negotiation = byEra(negotiated.page, "architecture#capability-negotiation");

/** What a side may use only because the other one has said that it can. */
export const capabilityRules: readonly Rule[] = [
  {
    id: "C-1",
    level: byEra(negotiated.level, "may"),
    party: "client",
    kinds: ["req"],
    demands: "A client sends only requests for capabilities that the server has declared",
    sentence: byEra(negotiated.sentence("… Only use capabilities that were successfully negotiated"), respected),
    page: negotiation,
    on: "message",
    *check({ from, method = "" }, { serverCapabilities }, revision) {
      if (from !== "client" || serverCapabilities === undefined) return;
      const path = neededFor(method, revision);
      if (path !== undefined && !isAdvertised(path, serverCapabilities))
        yield { says: `${method} needs the capability ${path}, which the server has not declared`, pointer: "/method" };
    },
  },
  {
    id: "C-2",
    level: byEra(negotiated.level, "must"),
    party: "server",
    kinds: ["req", "res"],
    demands: "A server sends only requests for capabilities that the client has declared",
    sentence: byEra(
      negotiated.sentence("… Only use capabilities that were successfully negotiated"),
      "Servers MUST NOT send an `inputRequests` that the client has not declared support for in its capabilities.",
    ),
    page: byEra(negotiated.page, "basic/patterns/mrtr#server-requirements-basic-workflow"),
    on: "message",
    *check(message, { clientCapabilities }, revision) {
      const { operation } = message;
      for (const { method, params, pointer } of questionsOf(message)) {
        // Where a request speaks for itself, its own word counts.
        const own = operation && metaOf(operation.request.params)[metaKeys.clientCapabilities];
        const declared = revision.era === "handshake" ? clientCapabilities : own;
        if (!isObject(declared)) continue;
        for (const path of askedOf(method, params, revision))
          if (!isDeclared(path, declared))
            yield { says: `${method} needs the capability ${path}, which the client has not declared`, pointer };
      }
    },
  },
  {
    id: "C-3",
    level: byEra(negotiated.level, "may"),
    party: "either",
    kinds: ["ntf"],
    demands: "A side sends only notifications of capabilities that it has declared",
    sentence: byEra(negotiated.sentence("… Only use capabilities that were successfully negotiated"), respected),
    page: negotiation,
    on: "message",
    *check({ from, method = "" }, { serverCapabilities, clientCapabilities }) {
      const path = toldUnder.get(method);
      const declared = from === "server" ? serverCapabilities : clientCapabilities;
      if (path === undefined || declared === undefined) return;
      if ((method === notifications.rootsChanged) !== (from === "client") || isAdvertised(path, declared)) return;
      yield { says: `${method} needs the capability ${path}, which the ${from} has not declared`, pointer: "/method" };
    },
  },
  {
    id: "C-4",
    level: "may",
    party: "server",
    kinds: ["ntf"],
    demands: "A server sends resources/updated only to clients that have subscribed to a resource",
    applies: ({ era }) => era === "handshake",
    sentence: "This should only be sent if the client previously sent a resources/subscribe request.",
    page: inSchema("resourceupdatednotification"),
    on: "message",
    *check({ from, method, params }, session) {
      if (from !== "server" || method !== notifications.resourceUpdated || !session.isWhole) return;
      // The one that has changed may lie below the one that was subscribed to, so that any subscription will do.
      const isAsked = session.pending.some(({ request }) => request.method === methods.subscribe);
      if (session.subscriptions.size === 0 && !isAsked)
        yield { says: `the client has not subscribed to ${describeValue(params.uri)}`, pointer: "/params/uri" };
    },
  },
  {
    id: "C-5",
    level: "must",
    party: "server",
    kinds: ["ntf"],
    demands: "A server that sends log messages declares the logging capability",
    sentence: "Servers that emit log message notifications MUST declare the `logging` capability",
    page: "server/utilities/logging#capabilities",
    on: "message",
    *check({ from, method }, { serverCapabilities }) {
      if (from !== "server" || method !== notifications.message || serverCapabilities === undefined) return;
      if (!isAdvertised("logging", serverCapabilities))
        yield { says: `${method} needs the capability logging, which the server has not declared`, pointer: "/method" };
    },
  },
];

function neededFor(method: string, { facts }: Revision): string | undefined {
  const path = methodCapabilities.get(method);
  if (path === "completions" && !facts.completionsCapability) return undefined;
  return path?.startsWith("tasks") && facts.tasks !== "core" ? undefined : path;
}

/** The capabilities under which a side tells of something. */
const toldUnder: ReadonlyMap<string, string> = new Map([
  [notifications.toolsChanged, "tools.listChanged"],
  [notifications.promptsChanged, "prompts.listChanged"],
  [notifications.resourcesChanged, "resources.listChanged"],
  [notifications.resourceUpdated, "resources.subscribe"],
  [notifications.rootsChanged, "roots.listChanged"],
]);

/** What a server asks a client: by a request, or by the members of a result. */
interface Question {
  readonly method: string;
  readonly params: JsonObject;
  /** To what names the method. */
  readonly pointer: string;
}

/** The questions to a client that a message holds. */
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

/** The capabilities of a client that a question needs. */
function* askedOf(method: string, params: JsonObject, { facts }: Revision): Iterable<string> {
  if (method === methods.listRoots) yield "roots";
  if (method === methods.createMessage) {
    const wantsTools = params.tools !== undefined || params.toolChoice !== undefined;
    yield facts.samplingTools && wantsTools ? "sampling.tools" : "sampling";
  }
  if (method === methods.elicit) {
    if (facts.elicitation === "form") yield "elicitation";
    else yield params.mode === "url" ? "elicitation.url" : "elicitation.form";
  }
  if (facts.tasks === "core" && method.startsWith("tasks/")) yield methodCapabilities.get(method) ?? "tasks";
}

function isDeclared(path: string, declared: JsonObject): boolean {
  const { elicitation } = declared;
  // Without members it means forms: that is what it meant before there was anything else.
  if (path === "elicitation.form" && isObject(elicitation) && elicitation.url === undefined) return true;
  return isAdvertised(path, declared);
}
