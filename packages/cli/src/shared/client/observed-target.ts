import { type Client, type ClientOptions, connect } from "@parlance/mcp/client";
import { type Channel, type Tapped, tapChannel } from "@parlance/mcp/jsonrpc";
import { encodeHeaderValue, isObject, mcpHeaders, methods, namedBy } from "@parlance/mcp/protocol";
import { exitCodes } from "../exit-codes.js";
import { Failure, type Stage, toFailure } from "../failure.js";
import { aborted, type Interrupt } from "../interrupt.js";
import type { FrameRow } from "../output/conversation-rows.js";
import { parsedJson } from "../parsed-json.js";
import { type DialOptions, routeTo, signalGroup, type TargetChannel } from "../target/route.js";
import type { Target } from "../target/target.js";
import { TextLines } from "../text-lines.js";
import { LiveConversation } from "./live-conversation.js";
import { hasAuthorization, isInteractive, requiresSignIn, signInAt, withKeptTokens } from "./sign-in.js";
import { missingVariableRemedy, toFailureAtUrl } from "./url-failure.js";
import { watchedFetch } from "./watched-fetch.js";

/** One observation of a conversation. Times are milliseconds since it began. */
export type Observation =
  | { readonly kind: "frame"; readonly row: FrameRow }
  /** A line that the server wrote to stderr. */
  | { readonly kind: "stderr"; readonly at: number; readonly text: string }
  /** HTTP events besides messages. `isLost`: the server could not be reached. */
  | { readonly kind: "http"; readonly at: number; readonly text: string; readonly isLost?: boolean }
  /** The start or the exit of the server's process. */
  | { readonly kind: "life"; readonly at: number; readonly text: string };

/** Options of an observed target. */
export interface ObserveOptions {
  readonly interrupt: Interrupt;
  /** Called with every observation, in order. */
  readonly onObservation: (observation: Observation) => void;
}

/** The remedy for a server that asks, and is silent after the answer. */
const unreadRemedy =
  "the server has its answer: does it read on while its tool runs? A loop that waits for each message before the next one does not; --timeout 2m waits longer";

/** Milliseconds for which a server may go on to write after its input has ended. */
const exitTime = 1_000;

/** Connects to a target and observes all frames. Owns its channels: after `close`, no process is left. */
export class ObservedTarget {
  /** The frames so far. */
  readonly conversation: LiveConversation;
  readonly #target: Target;
  readonly #options: ObserveOptions;
  readonly #start = performance.now();
  readonly #over = new AbortController();
  #channels: readonly Channel[] = [];
  #dialled: TargetChannel | undefined;
  #stderr: TextLines | undefined;
  /** The URL and headers of the last POST of the client. */
  #lastPost: { readonly url: URL; readonly headers: Headers } | undefined;
  #ended: string | undefined;
  /** Aborts when the server's process has ended. */
  #exited = new AbortController();
  #error: Error | undefined;

  constructor(target: Target, options: ObserveOptions) {
    this.#target = target;
    this.conversation = new LiveConversation({ stdio: target.kind === "command" });
    this.#options = options;
    options.interrupt.stop.addEventListener("abort", this.#hurry);
  }

  /** Milliseconds since the conversation began. */
  get now(): number {
    return performance.now() - this.#start;
  }

  /** How the server's process ended, as text: `exited with code 0`. Undefined while it runs, and without a process. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** The last lines that the server wrote to stderr. */
  get stderr(): readonly string[] {
    const { stderr = "" } = this.#dialled ?? {};
    return stderr === "" ? [] : stderr.split("\n");
  }

  /** Opens a conversation. @throws the errors of `connect`: see `failure` */
  async open(options: ClientOptions): Promise<Client> {
    const route = await routeTo(this.#target);
    if (route.kind === "channel") {
      const { timeout } = options;
      const dial = { force: this.#options.interrupt.force, ...(timeout !== undefined && { openTimeout: timeout }) };
      return connect(() => this.#tapped(this.#dial(route.dial, dial)), options);
    }
    const { recorded } = route;
    const watched = watchedFetch({ see: this.#seePosted, tell: this.#tellHttp }, this.#over.signal, recorded?.fetch);
    const fetch: typeof watched = (url, init) => {
      if (init.method === "POST") this.#lastPost = { url, headers: new Headers(init.headers) };
      return watched(url, init);
    };
    const auth = hasAuthorization(route.headers)
      ? {}
      : { auth: withKeptTokens(route.url, { tell: this.#tellHttp, recorded }) };
    const settings = { ...options, fetch, headers: route.headers, reopen: false, ...auth };
    try {
      return await connect(route.url, settings);
    } catch (error) {
      if (!requiresSignIn(error) || !isInteractive()) throw error;
    }
    await signInAt(route.url, {}, recorded);
    return connect(route.url, settings);
  }

  /**
   * Sends bytes unchanged, bypassing the client, which ignores the response. Over HTTP they are the body of a POST with the
   * headers of the client's last request. @throws Failure if the target does not accept bytes; the errors of `fetch`
   */
  async sendRaw(bytes: Uint8Array): Promise<void> {
    const { stdin } = this.#dialled ?? {};
    if (stdin !== undefined) {
      stdin.write(bytes);
      return;
    }
    if (this.#lastPost === undefined)
      throw new Failure("only a command and an HTTP URL accept exact bytes", { exitCode: exitCodes.usage });
    const { url, headers } = this.#lastPost;
    const body = new Uint8Array(bytes);
    const send = (this.#target.kind === "url" && this.#target.recorded?.fetch) || fetch;
    const response = await send(url, {
      method: "POST",
      headers: mirroring(headers, body),
      body,
      signal: this.#over.signal,
    });
    // Read the response, so that the proxy records it; an event stream may never end.
    void response.body?.pipeTo(new WritableStream()).catch(() => undefined);
  }

  /** Converts any error of the conversation to a failure. */
  failure(error: unknown, stage: Stage): Failure {
    if (this.#target.kind === "url") return toFailureAtUrl(error, stage);
    const failure = toFailure(error, stage);
    let remedy: string | undefined;
    if (failure.exitCode === exitCodes.unreachable) remedy = missingVariableRemedy(this.stderr);
    if (failure.exitCode === exitCodes.timeout && this.#endsWithAnswer) remedy = unreadRemedy;
    return remedy === undefined ? failure : failure.with({ remedy });
  }

  /** Whether the last message, but for notifications, answers a request of the server. */
  get #endsWithAnswer(): boolean {
    const last = this.conversation.recent.findLast(({ messages }) => messages.some(({ kind }) => kind !== "ntf"));
    return last?.from === "client" && last.messages.some(({ kind }) => kind === "res" || kind === "err");
  }

  /** Opens a channel. The client calls it again if its first channel closed during the probe; a command is then started again. */
  #dial(dial: (options: DialOptions) => TargetChannel, options: DialOptions): TargetChannel {
    const { interrupt, onObservation } = this.#options;
    if (interrupt.stop.aborted) throw new Error("interrupted");
    if (this.#target.kind === "command" && this.#dialled !== undefined) {
      if (this.#dialled.pid === undefined && this.#error !== undefined) throw this.#error; // A second start would fail in the same way.
      onObservation({ kind: "life", at: this.now, text: "is started again, for a handshake" });
    }
    this.#stderr?.end();
    const stderr = new TextLines((text) => onObservation({ kind: "stderr", at: this.now, text }));
    this.#stderr = stderr;
    this.#dialled = dial({ ...options, onStderr: (chunk) => stderr.push(chunk) });
    this.#ended = undefined;
    this.#exited = new AbortController();
    return this.#dialled;
  }

  /** The line of the server of which only the beginning has arrived. */
  get unfinished(): Channel["unfinished"] {
    return this.#channels.at(-1)?.unfinished;
  }

  #tapped(transport: Channel): Channel {
    this.conversation.changeChannel();
    const channel = tapChannel(transport, (tapped) => this.#see(tapped));
    this.#channels = [...this.#channels, channel];
    return channel;
  }

  /** Takes a POST. `initialize` begins a session, which has no responses to earlier requests. */
  readonly #seePosted = (tapped: Tapped): void => {
    if (tapped.kind === "sent" && (JSON.parse(tapped.frame) as { method?: unknown }).method === methods.initialize)
      this.conversation.changeChannel();
    this.#see(tapped);
  };

  readonly #tellHttp = (text: string, isLost = false): void => {
    this.#options.onObservation({ kind: "http", at: this.now, text, isLost });
  };

  /**
   * Ends the input of a command and waits for its exit, for a second at most: what it writes until then is still observed, which it would
   * not be after `close`.
   */
  async endInput(): Promise<void> {
    const { stdin } = this.#dialled ?? {};
    if (stdin === undefined || this.#ended !== undefined) return;
    stdin.end();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, exitTime);
    });
    await Promise.race([aborted(this.#exited.signal), aborted(this.#options.interrupt.stop), late]);
    clearTimeout(timer);
  }

  /** Closes the channels, and resolves when the server has exited. */
  async close(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#channels.map((channel) => channel.close()));
    this.#stderr?.end();
    this.#tellEnd(exitWords(this.#dialled, "; it did not exit when its input ended"));
    this.#options.interrupt.stop.removeEventListener("abort", this.#hurry);
  }

  #see(tapped: Tapped): void {
    if (tapped.kind === "ended") {
      this.#seeEnd(tapped.error);
      return;
    }
    // The frames for a command that did not start were never sent.
    if (this.#target.kind === "command" && this.#dialled?.pid === undefined) return;
    const row = this.conversation.read(tapped, this.now);
    if (row !== undefined) this.#options.onObservation({ kind: "frame", row });
  }

  #seeEnd(error: Error | undefined): void {
    this.#error = error;
    this.#stderr?.end();
    this.#tellEnd(exitWords(this.#dialled));
  }

  #tellEnd(how: string | undefined): void {
    if (how === undefined || this.#ended !== undefined) return;
    this.#ended = how;
    this.#exited.abort();
    this.#options.onObservation({ kind: "life", at: this.now, text: how });
  }

  /** Called after an interrupt: a server that does not exit when its stdin closes soon gets SIGTERM and SIGKILL. */
  readonly #hurry = (): void => {
    for (const [signal, milliseconds] of hurried) {
      setTimeout(() => {
        if (this.#ended === undefined) signalGroup(this.#dialled?.pid, signal);
      }, milliseconds).unref();
    }
  };
}

/** The headers of a request adapted to another body: headers that repeat the body are set from it. */
function mirroring(headers: Headers, body: Uint8Array): Headers {
  const mirrors = headers.has(mcpHeaders.method);
  const kept = new Headers([...headers].filter(([name]) => !name.startsWith("mcp-param-")));
  for (const name of [mcpHeaders.method, mcpHeaders.name]) kept.delete(name);
  const message = mirrors ? parsedJson(new TextDecoder().decode(body)) : undefined;
  // A frame that is not JSON has nothing to repeat.
  if (!isObject(message) || typeof message.method !== "string") return kept;
  kept.set(mcpHeaders.method, encodeHeaderValue(message.method));
  const name = isObject(message.params) ? message.params[namedBy.get(message.method) ?? ""] : undefined;
  if (typeof name === "string") kept.set(mcpHeaders.name, encodeHeaderValue(name));
  return kept;
}

/** The signals after an interrupt, and their delays in milliseconds. */
const hurried: readonly (readonly [signal: NodeJS.Signals, milliseconds: number])[] = [
  ["SIGTERM", 150],
  ["SIGKILL", 350],
];

/** How a process ended, in words; undefined while it runs. `ifKilled` is appended if a signal ended it. */
export function exitWords(channel: TargetChannel | undefined, ifKilled = ""): string | undefined {
  const exit = channel?.exit;
  if (exit === undefined) return undefined;
  return exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}${ifKilled}`;
}
