import { handshakeVersions, latest } from "@parlance/mcp";
import { describeValue, methods, notifications, revisionOf, versionAliases } from "@parlance/mcp/protocol";
import type { WireMessage } from "../conversation/message.js";
import { inSchema, isHandshake, oneMessage } from "./citations.js";
import { before, nothing, replaced, unbatched } from "./corrections/edits.js";
import { type Clause, type MessageRule, specification } from "./rule.js";

const initialization = "basic/lifecycle#initialization";

/** The clause on the messages of a client between the result of initialize and its first request. */
const ready: Clause = {
  level: "must",
  sentence:
    "After successful initialization, the client MUST send an `initialized` notification to indicate it is ready to begin normal operations:",
  doubt: "the notification can still come",
  page: initialization,
};

/** The rules on the messages of each side during the handshake. */
export const lifecycleRules: readonly MessageRule[] = [
  {
    id: "L-1",
    level: "must",
    party: "client",
    kinds: ["req"],
    from: "client",
    demands: "The first request of a client is initialize; only ping may precede it",
    applies: isHandshake,
    sentence: "The initialization phase MUST be the first interaction between client and server.",
    page: initialization,
    *check(message, session) {
      if (session.phase !== "new" || !session.isWhole) return;
      if (message.method === methods.initialize || message.method === methods.ping) return;
      // Reported once for each session: every later request lacks the handshake, too.
      if (session.operations.some(({ request }) => skipsHandshake(request))) return;
      yield { says: `${describeValue(message.method)} is requested before initialize`, pointer: "/method" };
    },
  },
  {
    id: "L-2",
    level: "should",
    party: "client",
    kinds: ["req"],
    from: "client",
    demands: "Between initialize and notifications/initialized a client sends no requests except ping",
    applies: isHandshake,
    sentence:
      "The client SHOULD NOT send requests other than pings before the server has responded to the `initialize` request.",
    page: initialization,
    correct: ({ subject }) =>
      subject.context.phase === "answered" ? before(subject, { method: notifications.initialized }) : undefined,
    *check({ method }, { phase, isShared }) {
      if (method === methods.ping || method === methods.initialize || isShared) return;
      const missing = { initializing: "the answer to initialize", answered: notifications.initialized };
      if (phase !== "initializing" && phase !== "answered") return;
      const says = `${describeValue(method)} is requested before ${missing[phase]}`;
      yield { says, pointer: "/method", ...(phase === "answered" && { by: ready }) };
    },
  },
  {
    id: "L-3",
    level: "should",
    party: "server",
    kinds: ["req"],
    from: "server",
    demands: "Before notifications/initialized a server sends no requests except ping",
    applies: isHandshake,
    sentence:
      "The server SHOULD NOT send requests other than pings and logging before receiving the `initialized` notification.",
    page: initialization,
    *check({ method }, { phase, isWhole, isShared }) {
      if (method === methods.ping || phase === "ready" || !isWhole || isShared) return;
      yield { says: `${describeValue(method)} is requested before ${notifications.initialized}`, pointer: "/method" };
    },
  },
  {
    id: "L-4",
    level: "must",
    party: "client",
    kinds: ["req"],
    from: "client",
    methods: [methods.initialize],
    demands: "A session has one initialize",
    applies: isHandshake,
    sentence: "The initialization phase MUST be the first interaction between client and server.",
    page: initialization,
    correct: nothing,
    *check(_message, { phase, isShared }) {
      if (phase !== "new" && !isShared) yield { says: "the session has been initialized before", pointer: "/method" };
    },
  },
  {
    id: "L-5",
    level: "must",
    party: "client",
    kinds: ["req"],
    methods: [methods.initialize],
    demands: "The request initialize is not part of a batch: other requests wait for its response",
    applies: isHandshake,
    sentence: (revision) =>
      revision.facts.batches
        ? "The initialize request MUST NOT be part of a JSON-RPC batch, as other requests and notifications are not possible until initialization has completed."
        : oneMessage(revision),
    page: (revision) => (revision.facts.batches ? initialization : inSchema("jsonrpcmessage")(revision)),
    correct: ({ subject: { frame } }) => unbatched(frame),
    *check({ pointer }) {
      if (pointer !== "")
        yield { says: "initialize must be a message of its own, and is part of a batch", pointer: "/method" };
    },
  },
  {
    id: "L-6",
    level: "must",
    party: "client",
    kinds: ["ntf"],
    from: "client",
    methods: [notifications.cancelled],
    demands: "A client does not cancel initialize",
    applies: isHandshake,
    sentence: "The `initialize` request MUST NOT be cancelled by clients",
    page: "basic/utilities/cancellation#behavior-requirements",
    correct: nothing,
    *check({ operation }) {
      if (operation?.request.method === methods.initialize)
        yield {
          says: `it cancels initialize, which is in frame ${operation.request.frame.n}`,
          pointer: "/params/requestId",
        };
    },
  },
  {
    id: "L-7",
    level: "may",
    party: "either",
    kinds: ["req", "res"],
    methods: [methods.initialize],
    demands: "A handshake negotiates a revision that has a handshake",
    applies: isHandshake,
    sentence:
      "An `initialize` request selects legacy semantics, scoped to the stdio process (stdio) or the session (HTTP), as specified by the negotiated legacy protocol version.",
    page: `${specification}/${latest.version}/basic/versioning#backward-compatibility-with-initialization-based-versions`,
    correct: ({ subject, pointer }) => replaced(subject.node, pointer, meantVersion(subject)),
    *check(message) {
      const place = versionPlace(message);
      if (place === undefined || revisionOf(place.version)?.era !== "stateless") return;
      yield { says: `${place.version} has no initialize, so a handshake cannot negotiate it`, pointer: place.pointer };
    },
  },
  {
    id: "L-8",
    level: "may",
    party: "either",
    kinds: ["req", "res"],
    methods: [methods.initialize],
    demands: "A version is the date of a published revision",
    applies: isHandshake,
    page: "basic/lifecycle#version-negotiation",
    correct: ({ subject, pointer }) => replaced(subject.node, pointer, meantVersion(subject)),
    *check(message) {
      const place = versionPlace(message);
      if (place === undefined || revisionOf(place.version) !== undefined) return;
      const meant = versionAliases.get(place.version);
      const others = meant === undefined ? `published are ${handshakeVersions.join(", ")}` : `did you mean ${meant}?`;
      yield { says: `no revision has the version ${describeValue(place.version)}: ${others}`, pointer: place.pointer };
    },
  },
  {
    id: "L-9",
    level: "may",
    party: "server",
    kinds: ["res"],
    methods: [methods.initialize],
    demands:
      "A server that does not support the requested version responds with one that it supports; the client may then disconnect",
    applies: isHandshake,
    page: "basic/lifecycle#version-negotiation",
    *check(message) {
      const place = versionPlace(message);
      const asked = message.operation?.request.params.protocolVersion;
      if (place === undefined || asked === place.version) return;
      yield {
        says: `the client asked for ${describeValue(asked)}, and the server has answered ${describeValue(place.version)}`,
        pointer: place.pointer,
      };
    },
  },
];

function skipsHandshake({ from, method, revision }: WireMessage): boolean {
  return from === "client" && method !== methods.ping && revision?.era === "handshake";
}

/** The version that a side must have meant: by another name, the requested one, or the newest with a handshake. */
function meantVersion(message: WireMessage): string | undefined {
  const { version: named = "" } = versionPlace(message) ?? {};
  const asked = message.kind === "res" ? message.operation?.request.params.protocolVersion : undefined;
  const [newest] = handshakeVersions;
  const possible = [versionAliases.get(named), asked, revisionOf(named)?.era === "stateless" ? newest : undefined];
  const meant = possible.find((each) => typeof each === "string" && revisionOf(each)?.era === "handshake");
  return meant === undefined ? undefined : JSON.stringify(meant);
}

/** The place of the version in `initialize` or in its result. */
function versionPlace({
  kind,
  params,
  result,
}: WireMessage): { readonly version: string; readonly pointer: string } | undefined {
  const [holder, name] = kind === "req" ? [params, "params"] : [result, "result"];
  const version = holder?.protocolVersion;
  return typeof version === "string" ? { version, pointer: `/${name}/protocolVersion` } : undefined;
}
