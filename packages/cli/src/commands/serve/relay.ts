import {
  type Channel,
  codes,
  decode,
  ExactNumber,
  encode,
  type Id,
  isNotification,
  isRequest,
  isResponse,
  type Message,
  mcpBatchProfile,
  Problem,
} from "@parlance/mcp/jsonrpc";
import { isObject, methods, notifications } from "@parlance/mcp/protocol";

/** The greeting of the host, as it wrote it: each new server is greeted with it. */
interface Greeting {
  readonly key: string;
  readonly text: string;
  /** What the host sent to end the handshake. */
  confirmation?: string;
  /** What the host was told may change; undefined until the first server has answered. */
  changes?: readonly string[];
}

/**
 * One conversation of a host on stdio, whatever becomes of the server behind it. Frames pass as they are. A new server is
 * greeted as the host greeted the first; the host hears that lists may have changed; what a server leaves unanswered
 * is answered with an error. What a host has told a server besides (a log level, subscriptions) the next does not know.
 */
export class Relay {
  /** Resolves when the host has ended its side. */
  readonly over: Promise<undefined>;
  readonly #host: Channel;
  readonly #unanswered = new Map<string, Id>();
  readonly #asked = new Set<string>();
  #server: Channel | undefined;
  /** Why there is no server, and will be none until the module changes. */
  #broken: string | undefined;
  #waiting: string[] = [];
  /** Whether what the host sends has to wait. */
  #held = true;
  #greeting: Greeting | undefined;
  /** The answer that the host has had from an earlier server. */
  #swallowed: string | undefined;

  constructor(host: Channel) {
    this.#host = host;
    this.over = new Promise((resolve) => {
      host.open({ frame: (text) => this.#fromHost(text), refuse: () => undefined, end: () => resolve(undefined) });
    });
  }

  /** The server that answers from here on. */
  attach(server: Channel): void {
    this.#server = server;
    this.#broken = undefined;
    this.#held = false;
    server.open({ frame: (text) => this.#fromServer(text), refuse: () => undefined, end: () => undefined });
    const { text, key, changes } = this.#greeting ?? {};
    if (text !== undefined && key !== undefined && changes !== undefined) {
      this.#swallowed = key;
      this.#held = true;
      pass(text, server, this.#host);
    } else this.#release();
  }

  /** The server is about to go: it may still answer, and what the host sends waits for the next. */
  hold(): void {
    this.#held = true;
  }

  /** The server is gone. `broken`, if there will be none until the module changes. */
  detach(why: string, broken = false): void {
    this.#server = undefined;
    this.#swallowed = undefined;
    this.#asked.clear();
    this.#broken = broken ? why : undefined;
    for (const id of this.#unanswered.values()) this.#refuse(id, why);
    this.#unanswered.clear();
    this.#held = !broken;
    if (broken) this.#release();
  }

  #refuse(id: Id, why: string): void {
    void this.#host.send(encode({ jsonrpc: "2.0", id, error: { code: codes.internalError, message: why } }));
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const text of waiting) this.#fromHost(text);
  }

  #fromHost(text: string): void {
    if (this.#held) {
      this.#waiting.push(text);
      return;
    }
    const messages = messagesIn(text);
    for (const message of messages) {
      if (isRequest(message)) this.#noteRequest(message.id, message.method, text);
      if (isNotification(message) && message.method === notifications.initialized && this.#greeting !== undefined)
        this.#greeting.confirmation = text;
    }
    if (this.#broken !== undefined) {
      for (const message of messages) if (isRequest(message)) this.#refuse(message.id, this.#broken);
      this.#unanswered.clear();
    } else if (this.#server !== undefined && !this.#answersAnother(messages)) pass(text, this.#server, this.#host);
  }

  #noteRequest(id: Id, method: string, text: string): void {
    this.#unanswered.set(keyOf(id), id);
    if (method === methods.initialize) this.#greeting = { key: keyOf(id), text };
  }

  /** True for an answer to what an earlier server has asked. */
  #answersAnother(messages: readonly Message[]): boolean {
    const [message] = messages;
    if (message === undefined || messages.length > 1 || !isResponse(message)) return false;
    return message.id === undefined || !this.#asked.delete(keyOf(message.id));
  }

  #fromServer(text: string): void {
    for (const message of messagesIn(text)) {
      if (isRequest(message)) this.#asked.add(keyOf(message.id));
      if (!isResponse(message) || message.id === undefined) continue;
      const key = keyOf(message.id);
      if (key === this.#swallowed) {
        this.#greeted();
        return;
      }
      this.#unanswered.delete(key);
      if (key === this.#greeting?.key && "result" in message) this.#greeting.changes = changesOf(message.result);
    }
    if (this.#server !== undefined) pass(text, this.#host, this.#server);
  }

  #greeted(): void {
    this.#swallowed = undefined;
    this.#held = false;
    const { confirmation, changes = [] } = this.#greeting ?? {};
    if (confirmation !== undefined && this.#server !== undefined) pass(confirmation, this.#server, this.#host);
    for (const method of changes) void this.#host.send(encode({ jsonrpc: "2.0", method }));
    this.#release();
  }
}

/** Sends a frame on; while it does not fit, nothing more is read from where it came. */
function pass(text: string, to: Channel, from: Channel): void {
  const full = to.send(text);
  if (full === undefined) return;
  from.pause?.();
  void full.then(() => from.resume?.()); // Never rejects.
}

function messagesIn(text: string): readonly Message[] {
  const decoded = decode(text, mcpBatchProfile);
  if (decoded instanceof Problem) return [];
  const elements = Array.isArray(decoded) ? decoded : [decoded];
  return elements.filter((element): element is Message => !(element instanceof Problem));
}

function keyOf(id: Id): string {
  return id instanceof ExactNumber ? id.text : JSON.stringify(id);
}

/** The lists of which a server has promised to tell changes. */
function changesOf(result: unknown): readonly string[] {
  const capabilities = isObject(result) && isObject(result.capabilities) ? result.capabilities : {};
  return lists.flatMap(([name, method]) => {
    const capability = capabilities[name];
    return isObject(capability) && capability.listChanged === true ? [method] : [];
  });
}

const lists = [
  ["tools", notifications.toolsChanged],
  ["resources", notifications.resourcesChanged],
  ["prompts", notifications.promptsChanged],
] as const;
