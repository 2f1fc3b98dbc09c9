import { isUtf8 } from "node:buffer";
import { messagesOf, methods, notifications } from "@parlance/mcp/protocol";
import { EntryWriter, RawChannel, type RawClient, RawHttp, type RawReply } from "@parlance/wire";
import { innermost, toFailureAtUrl } from "../../shared/client/url-failure.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure, toFailure, usageFailure } from "../../shared/failure.js";
import { observedLines, rawTransport } from "../../shared/target/raw-client.js";
import { type Route, routeTo } from "../../shared/target/route.js";
import type { Target } from "../../shared/target/target.js";
import { TextLines } from "../../shared/text-lines.js";
import type { RawTraffic } from "./raw-traffic.js";
import { IdleWatch } from "./until-idle.js";
import type { SendView } from "./view.js";

/** How bytes are sent, over any transport. */
export interface SendOptions {
  /** The version of the handshake that comes first, if one does. */
  readonly opening: string | undefined;
  /** Milliseconds to listen; undefined: until it is quiet. */
  readonly wait: number | undefined;
  /** Milliseconds to wait for an answer. */
  readonly timeout: number;
  readonly stop: AbortSignal;
  readonly view: SendView;
  readonly traffic: RawTraffic;
}

/** Sends bytes, and shows everything that crosses until it is quiet. @throws Failure for a target that cannot be reached */
export async function sendBytes(target: Target, bytes: Uint8Array, options: SendOptions): Promise<void> {
  const route = await routeTo(target);
  if (route.kind === "http") await sendOverHttp(route, bytes, options);
  else await sendOnChannel(target, route, bytes, options);
}

async function sendOnChannel(
  target: Target,
  route: Extract<Route, { kind: "channel" }>,
  bytes: Uint8Array,
  { opening, wait, timeout, stop, view, traffic }: SendOptions,
): Promise<void> {
  const stderr = new TextLines((text) => traffic.observe({ kind: "stderr", at: traffic.now, text }));
  const channel = route.dial({
    onStderr: (chunk) => stderr.push(chunk),
    framing: observedLines((chunk) => traffic.bytes("server", chunk)),
  });
  const { write } = rawTransport(channel);
  if (write === undefined && !isUtf8(bytes))
    throw usageFailure("these bytes are no UTF-8, and a message of this target is text", "a command takes any bytes");
  const client = new RawChannel({
    channel,
    ...(write !== undefined && { write }),
    timeout,
    writer: new EntryWriter(() => undefined),
    session: "1",
    stop,
    onFrame(tapped) {
      if (write === undefined && tapped.kind === "received") traffic.bytes("server", Buffer.from(tapped.frame));
      traffic.see(tapped);
    },
  });
  try {
    if (opening !== undefined) await open(client, opening);
    traffic.bytes("client", bytes);
    await client.send(bytes);
    if (write !== undefined && bytes.length > 0 && bytes.at(-1) !== newline)
      view.remark("no newline ends this: a server on stdio waits for one (--line adds it)");
    await traffic.silence.until({ wait, timeout, isOwed: traffic.isOwed, stop });
  } finally {
    await client.close();
    stderr.end();
    const { exit } = channel;
    const text = exit?.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit?.signal}`;
    if (exit !== undefined) traffic.observe({ kind: "life", at: traffic.now, text });
  }
  requireReached(target, traffic);
}

const newline = 0x0a;

/** Sends the handshake. What the server leaves unanswered is reported at the end. */
async function open(client: RawClient, version: string): Promise<void> {
  const [request, initialized] = handshakeIn(version);
  const { answer } = await client.send(request, "open");
  if (answer !== undefined) await client.send(initialized);
}

/** The messages that open a session. */
function handshakeIn(version: string): readonly [request: string, initialized: string] {
  const messages = messagesOf(version);
  const clientInfo = { name: "parlance send", version: "0.1.0" };
  const params = { protocolVersion: version, capabilities: {}, clientInfo };
  const request = messages.request("open", methods.initialize, params);
  return [JSON.stringify(request), JSON.stringify(messages.notification(notifications.initialized))];
}

/** A server that could not be reached has shown nothing. */
function requireReached(target: Target, { error, conversation }: RawTraffic): void {
  if (error === undefined || conversation.recent.some(({ from }) => from === "server")) return;
  const failure = target.kind === "url" ? toFailureAtUrl(error, "opening") : toFailure(error, "opening");
  const { message, seen, remedy } = failure;
  throw new Failure(message, {
    exitCode: exitCodes.unreachable,
    seen: target.kind === "command" ? [] : seen, // Its stderr was shown.
    ...(remedy !== undefined && { remedy }),
    cause: error,
  });
}

async function sendOverHttp(
  { url, headers }: Extract<Route, { kind: "http" }>,
  bytes: Uint8Array,
  { opening, wait, timeout, stop, view, traffic }: SendOptions,
): Promise<void> {
  let silence = new IdleWatch();
  let body = new TextLines(() => undefined);
  let isClosing = false;
  const client = new RawHttp({
    url: url.href,
    headers,
    timeout,
    writer: new EntryWriter(() => undefined),
    session: "1",
    stop,
    onBytes(from, chunk) {
      if (isClosing) return;
      traffic.bytes(from, chunk);
      if (from === "client") return;
      silence.disturb();
      body.push(chunk);
    },
    onFrame: (tapped) => (isClosing ? undefined : traffic.see(tapped)),
  });
  const untilQuiet = async ({ status, statusText, headers: ofResponse }: Response): Promise<void> => {
    view.head({ status, statusText, headers: [...ofResponse] }, traffic.now);
    silence = new IdleWatch();
    body = new TextLines((line) => view.body(line, traffic.now));
    await silence.until({ wait, timeout, isOwed: true, stop });
  };
  const post = async (frame: Uint8Array | string): Promise<RawReply> => {
    const reply = await client.send(frame, undefined, { read: untilQuiet });
    silence.end();
    body.end();
    if (reply.http === undefined) throw unanswered(reply, timeout);
    if (reply.http.isWhole) traffic.settle();
    return reply;
  };
  if (opening !== undefined) {
    const [request, initialized] = handshakeIn(opening);
    await post(request);
    client.useVersion(opening);
    await post(initialized);
  }
  await post(bytes);
  isClosing = true;
  if (opening !== undefined) await client.close();
}

function unanswered({ silence, error }: RawReply, timeout: number): Failure {
  if (silence !== "no answer in time") return toFailureAtUrl(innermost(error), "opening");
  const remedy = "the server has taken the request and does not answer: look in its log; --timeout 2m waits longer";
  return new Failure(`no answer for ${timeout} ms`, { exitCode: exitCodes.timeout, remedy, cause: error });
}
