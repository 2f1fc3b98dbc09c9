import { latest } from "@parlance/mcp";
import { success } from "@parlance/mcp/jsonrpc";
import { type Method, messagesOf, type NotificationMethod } from "@parlance/mcp/protocol";
import { type Explanation, facts, specPage, type WireExample } from "./explanation.js";
import { notificationNotes } from "./notification-notes.js";
import { requestNotes } from "./request-notes.js";
import { spanText, versionsWhere } from "./spoken-in.js";

/** What a request is for, who may send it in which revisions, and how it looks. */
export function explainRequest(method: Method): Explanation {
  const { says, needs, page, example, result } = requestNotes[method];
  const { byClient, byServer, version } = sendersOf("requests", method);
  const inside = versionsWhere(({ inputRequests }) => inputRequests.has(method));
  const from = byClient.includes(version) ? "client" : "server";
  const request: WireExample = { from, raw: JSON.stringify(example(messagesOf(version))) };
  const answer: WireExample = {
    from: from === "client" ? "server" : "client",
    raw: JSON.stringify(success(1, result)),
  };
  return {
    topic: "request",
    name: method,
    title: `a request of ${sides(byClient, byServer)}`,
    says,
    facts: facts({
      in: spans(byClient, byServer),
      inside: inside.length === 0 ? undefined : `${spanText(inside)}: asked in a result of type input_required instead`,
      needs,
      "at fault": "the sender, where it is not allowed: the answer is −32601",
    }),
    wire: [request, answer],
    spec: [specPage(version, page)],
  };
}

/** The same of a notification. */
export function explainNotification(method: NotificationMethod): Explanation {
  const { says, needs, page, example } = notificationNotes[method];
  const { byClient, byServer, version } = sendersOf("notifications", method);
  const from = byClient.includes(version) ? "client" : "server";
  return {
    topic: "notification",
    name: method,
    title: `a notification of ${sides(byClient, byServer)}`,
    says,
    facts: facts({
      in: spans(byClient, byServer),
      needs,
      "at fault": "whoever gives it an id or answers it; where it is not known, it is ignored",
    }),
    wire: [{ from, raw: JSON.stringify(example(messagesOf(version))) }],
    spec: [specPage(version, page)],
  };
}

interface Senders {
  readonly byClient: readonly string[];
  readonly byServer: readonly string[];
  /** The newest that has it. */
  readonly version: string;
}

function sendersOf(kind: "requests" | "notifications", method: string): Senders {
  const byClient = versionsWhere((revision) => revision[kind].client.has(method));
  const byServer = versionsWhere((revision) => revision[kind].server.has(method));
  const version = [...byClient, ...byServer].toSorted().at(-1) ?? latest.version;
  return { byClient, byServer, version };
}

function sides(byClient: readonly string[], byServer: readonly string[]): string {
  if (byServer.length === 0) return "the client";
  return byClient.length === 0 ? "the server" : "either side";
}

function spans(byClient: readonly string[], byServer: readonly string[]): string {
  const [client, server] = [spanText(byClient), spanText(byServer)];
  if (byServer.length === 0 || client === server) return client;
  return byClient.length === 0 ? server : `${client} from the client, ${server} from the server`;
}
