import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import type { Tapped } from "@parlance/mcp/jsonrpc";
import { messagesOf, methods, notifications } from "@parlance/mcp/protocol";
import { EntryWriter, RawChannel, type RawClient, RawHttp, type WireMessage } from "@parlance/wire";
import { LiveConversation } from "../../shared/client/live-conversation.js";
import { exitWords, type Observation } from "../../shared/client/observed-target.js";
import { toFailureAtUrl } from "../../shared/client/url-failure.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { messageOf, toFailure, usageFailure } from "../../shared/failure.js";
import type { FrameRow } from "../../shared/output/conversation-rows.js";
import { observedLines, rawTransport, replyFailure } from "../../shared/target/raw-client.js";
import { type Route, routeTo } from "../../shared/target/route.js";
import type { Target } from "../../shared/target/target.js";
import { TextLines } from "../../shared/text-lines.js";
import type { SendView } from "./view.js";

/** Options of sending bytes, on any transport. */
export interface SendOptions {
  /** The version of a handshake before the bytes; undefined for no handshake. */
  readonly opening: string | undefined;
  /** The exact milliseconds to wait for messages; undefined to wait until the connection is idle. */
  readonly wait: number | undefined;
  /** The maximum milliseconds to wait for a response, also if messages keep coming. */
  readonly timeout: number;
  /** Aborted when the user interrupts. */
  readonly stop: AbortSignal;
  readonly view: SendView;
  readonly traffic: RawTraffic;
}

/** Sends bytes, and shows all messages until the connection is idle. @throws Failure if the target cannot be reached */
export async function sendBytes(target: Target, bytes: Uint8Array, options: SendOptions): Promise<void> {
  const route = await routeTo(target);
  if (route.kind === "http") await sendOverHttp(route, bytes, options);
  else await sendOnChannel(target, route, bytes, options);
}

async function sendOnChannel(
  target: Target,
  route: Extract<Route, { kind: "channel" }>,
  bytes: Uint8Array,
  options: SendOptions,
): Promise<void> {
  const { opening, timeout, stop, view, traffic } = options;
  const stderr = new TextLines((text) => traffic.observe({ kind: "stderr", at: traffic.now, text }));
  const channel = route.dial({
    onStderr: (chunk) => stderr.push(chunk),
    framing: observedLines((chunk) => traffic.bytes("server", chunk)),
  });
  const { write } = rawTransport(channel);
  if (write === undefined && !isUtf8(bytes))
    throw usageFailure(
      "these bytes are not UTF-8, and the messages of this target are text",
      "a command takes any bytes",
    );
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
    await traffic.silence.until(options, traffic.isOwed);
  } finally {
    await client.close();
    stderr.end();
    const text = exitWords(channel);
    if (text !== undefined) traffic.observe({ kind: "life", at: traffic.now, text });
  }
  requireReached(target, traffic);
}

const newline = 0x0a;

/** Sends the handshake. A missing response is reported at the end. */
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

/** Throws if the target could not be reached. @throws Failure */
function requireReached(target: Target, { error, conversation }: RawTraffic): void {
  if (error === undefined || conversation.recent.some(({ from }) => from === "server")) return;
  const failure = target.kind === "url" ? toFailureAtUrl(error, "opening") : toFailure(error, "opening");
  // The stderr of a command has been printed.
  throw failure.with({ exitCode: exitCodes.unreachable, ...(target.kind === "command" && { seen: [] }) });
}

async function sendOverHttp(
  { url, headers }: Extract<Route, { kind: "http" }>,
  bytes: Uint8Array,
  options: SendOptions,
): Promise<void> {
  const { opening, timeout, stop, view, traffic } = options;
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
  const untilQuiet = async (response: Response): Promise<void> => {
    view.head(response, traffic.now);
    silence = new IdleWatch();
    body = new TextLines((line) => view.body(line, traffic.now));
    await silence.until(options, true);
  };
  const post = async (frame: Uint8Array | string): Promise<void> => {
    const reply = await client.send(frame, undefined, { read: untilQuiet });
    silence.end();
    body.end();
    if (reply.http === undefined) throw replyFailure("url", reply, timeout);
    if (reply.http.isWhole) traffic.settle();
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

/** Milliseconds without a message after which the connection counts as idle. */
const quiet = 1_000;

/** Waits until a connection is idle. */
class IdleWatch {
  readonly #over = new AbortController();
  #quiet: NodeJS.Timeout | undefined;
  #hasCome = false;

  /** Called when something arrived. */
  disturb(): void {
    this.#hasCome = true;
    if (this.#quiet !== undefined) this.#expectQuiet();
  }

  /** Called when the connection has ended. */
  end(): void {
    this.#over.abort();
  }

  /**
   * Resolves when the wait is over. Call it once.
   * @param isOwed whether a response is due: then the connection is not idle before it
   */
  async until({ wait, timeout, stop }: SendOptions, isOwed: boolean): Promise<void> {
    const { signal } = this.#over;
    const end = (): void => this.end();
    // Not `AbortSignal.timeout` in `AbortSignal.any`: without another reference, Node 20 may garbage-collect them before they
    // fire.
    const late = setTimeout(end, wait ?? timeout);
    if (stop.aborted) end();
    stop.addEventListener("abort", end);
    if (wait === undefined && (this.#hasCome || !isOwed)) this.#expectQuiet();
    if (wait === undefined) this.#quiet ??= setTimeout(end, timeout);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    stop.removeEventListener("abort", end);
    clearTimeout(late);
    clearTimeout(this.#quiet);
  }

  #expectQuiet(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.end(), quiet);
  }
}

/** The forms of a payload, for help pages. */
export const payloadHelp = `A <message> is one of
  @path/to/file        the exact bytes of the file
  -                    the bytes of stdin, up to its end
  'text'               the text itself, in UTF-8`;

/** The exact bytes of a payload argument. @throws Failure for an unreadable file */
export async function payloadOf(word: string, isLine: boolean): Promise<Uint8Array> {
  const bytes = await bytesOf(word);
  return isLine ? Buffer.concat([bytes, Buffer.from("\n")]) : bytes;
}

async function bytesOf(word: string): Promise<Uint8Array> {
  if (word === "-") return buffer(process.stdin);
  if (!word.startsWith("@")) return Buffer.from(word);
  try {
    return readFileSync(word.slice(1));
  } catch (error) {
    throw usageFailure(`${word.slice(1)} cannot be read: ${messageOf(error)}`, "after @ comes the path of a file");
  }
}

/** The frames of both sides, and the requests without a response. */
export class RawTraffic {
  readonly conversation: LiveConversation;
  readonly silence: IdleWatch = new IdleWatch();
  readonly #view: SendView;
  readonly #start = performance.now();
  /** Why the other side ended. */
  error: Error | undefined;
  #sent: readonly FrameRow[] = [];
  #isSettled = false;

  /** @param stdio whether frames are lines of stdin and stdout */
  constructor(view: SendView, { stdio }: { readonly stdio: boolean }) {
    this.conversation = new LiveConversation({ stdio });
    this.#view = view;
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return performance.now() - this.#start;
  }

  /** Takes raw bytes, before they are parsed. */
  bytes(from: "client" | "server", chunk: Uint8Array): void {
    if (from === "server") this.silence.disturb();
    this.#view.bytes(from, this.now, chunk);
  }

  /** Takes a frame, or a refused one. */
  see(tapped: Tapped): void {
    if (tapped.kind === "ended") {
      this.error = tapped.error;
      this.silence.end();
      return;
    }
    const row = this.conversation.read(tapped, this.now);
    if (row === undefined) return;
    if (row.from === "client") this.#sent = [...this.#sent, row];
    this.observe({ kind: "frame", row });
  }

  observe(observation: Observation): void {
    this.#view.observe(observation);
  }

  /** The sent requests without a response. */
  get owed(): readonly WireMessage[] {
    if (this.#isSettled) return [];
    return this.#sent
      .flatMap(({ messages }) => messages)
      .filter(({ kind, operation }) => kind === "req" && operation?.answer === undefined);
  }

  /** Whether a response is due: to a request, or to a frame that the server cannot read. */
  get isOwed(): boolean {
    return this.owed.length > 0 || this.#sent.some(({ kind }) => kind === "noise");
  }

  /** Called when the transport has answered everything sent so far, such as with an HTTP response. */
  settle(): void {
    this.#isSettled = true;
  }
}
