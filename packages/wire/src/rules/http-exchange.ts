import type { Revision } from "@parlance/mcp/protocol";
import { headerOf } from "../conversation/exchange.js";
import type { HttpExchange } from "../conversation/message.js";
import { byEra, type PageOf } from "./citations.js";

/** The page of the transport in the stateless era. */
export const httpPage = "basic/transports/streamable-http";
/** Where both eras say how a message is POSTed. */
export const onSending: PageOf = byEra(
  "basic/transports#sending-messages-to-the-server",
  `${httpPage}#sending-messages`,
);

/** The media types of bodies. */
export const json = "application/json";
export const eventStream = "text/event-stream";

/** Whether a revision has Streamable HTTP. */
export function isStreamable({ facts }: Revision): boolean {
  return facts.httpBinding !== "http+sse";
}

/** Whether every POST stands for itself. */
export function isStateless({ facts }: Revision): boolean {
  return facts.httpBinding === "stateless";
}

/** Whether an exchange is one of the protocol: a proxy sees more, such as metadata, tokens and pages. */
export function isMcp({ request, messages, isAddressed }: HttpExchange): boolean {
  const names = (request.headers ?? []).map(([name]) => name.toLowerCase());
  const wantsStream = headerOf(request, "accept")?.includes(eventStream) ?? false;
  if (messages.length > 0) return true;
  return isAddressed && (wantsStream || names.some((name) => name.startsWith("mcp-")));
}

/** The type that a header begins with, without its parameters. */
export function mediaType(value = ""): string {
  return (value.split(";")[0] ?? "").trim().toLowerCase();
}

/** Whether a media type is among those of an `Accept`. */
export function takes(accept: string | undefined, type: string): boolean {
  const ranges = (accept ?? "").split(",").map(mediaType);
  return ranges.some((range) => range === type || range === "*/*" || range === `${type.split("/")[0]}/*`);
}
