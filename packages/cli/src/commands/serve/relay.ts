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
  Problem,
} from "@parlance/mcp/jsonrpc";
import { isObject, methods, notifications } from "@parlance/mcp/protocol";

/** The `initialize` request of the host, which is sent to each new server. */
interface Handshake {
  readonly key: string;
  readonly text: string;
  /** The `notifications/initialized` of the host. */
  confirmation?: string;
  /** The notifications that the first server has declared; undefined until it has responded. */
  changes?: readonly string[];
}

/**
 * Keeps the conversation of a host on stdio while its server is replaced. Frames are forwarded unchanged. A new server receives
 * the handshake of the host, and the host is notified that lists may have changed. Requests without a response fail when their
 * server ends. The log level and the subscriptions of the host are not sent to the next server.
 */
export class Relay {
  /** Resolves when the host has closed its side. */
  readonly over: Promise<undefined>;
  readonly #host: Channel;
  readonly #unanswered = new Map<string, Id>();
  readonly #asked = new Set<string>();
  #server: Channel | undefined;
  /** Why there is no server until the module changes. */
  #broken: string | undefined;
  #waiting: string[] = [];
  /** Whether frames of the host are queued. */
  #held = true;
  #handshake: Handshake | undefined;
  /** The key of a response to `initialize` that the host has received from an earlier server. */
  #repeatedHandshake: string | undefined;

  constructor(host: Channel) {
    this.#host = host;
    this.over = new Promise((resolve) => {
      host.open({ frame: (text) => this.#fromHost(text), refuse: () => undefined, end: () => resolve(undefined) });
    });
  }

  /** Connects a new server. */
  attach(server: Channel): void {
    this.#server = server;
    this.#broken = undefined;
    this.#held = false;
    server.open({ frame: (text) => this.#fromServer(text), refuse: () => undefined, end: () => undefined });
    const { text, key, changes } = this.#handshake ?? {};
    if (text !== undefined && key !== undefined && changes !== undefined) {
      this.#repeatedHandshake = key;
      this.#held = true;
      pass(text, server, this.#host);
    } else this.#release();
  }

  /** Queues frames of the host for the next server. The current server may still respond. */
  hold(): void {
    this.#held = true;
  }

  /** Disconnects the server. With `broken`, requests fail until the module changes. */
  detach(why: string, broken = false): void {
    this.#server = undefined;
    this.#repeatedHandshake = undefined;
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
      if (isNotification(message) && message.method === notifications.initialized && this.#handshake !== undefined)
        this.#handshake.confirmation = text;
    }
    if (this.#broken !== undefined) {
      for (const message of messages) if (isRequest(message)) this.#refuse(message.id, this.#broken);
      this.#unanswered.clear();
    } else if (this.#server !== undefined && !this.#respondsToAnother(messages)) pass(text, this.#server, this.#host);
  }

  #noteRequest(id: Id, method: string, text: string): void {
    this.#unanswered.set(keyOf(id), id);
    if (method === methods.initialize) this.#handshake = { key: keyOf(id), text };
  }

  /** Whether a frame is a response to a request of an earlier server. */
  #respondsToAnother(messages: readonly Message[]): boolean {
    const [message] = messages;
    if (message === undefined || messages.length > 1 || !isResponse(message)) return false;
    return message.id === undefined || !this.#asked.delete(keyOf(message.id));
  }

  #fromServer(text: string): void {
    for (const message of messagesIn(text)) {
      if (isRequest(message)) this.#asked.add(keyOf(message.id));
      if (!isResponse(message) || message.id === undefined) continue;
      const key = keyOf(message.id);
      if (key === this.#repeatedHandshake) {
        this.#finishHandshake();
        return;
      }
      this.#unanswered.delete(key);
      if (key === this.#handshake?.key && "result" in message) this.#handshake.changes = changesOf(message.result);
    }
    if (this.#server !== undefined) pass(text, this.#host, this.#server);
  }

  #finishHandshake(): void {
    this.#repeatedHandshake = undefined;
    this.#held = false;
    const { confirmation, changes = [] } = this.#handshake ?? {};
    if (confirmation !== undefined && this.#server !== undefined) pass(confirmation, this.#server, this.#host);
    for (const method of changes) void this.#host.send(encode({ jsonrpc: "2.0", method }));
    this.#release();
  }
}

/** Forwards a frame, and pauses its source while the destination is full. */
function pass(text: string, to: Channel, from: Channel): void {
  const full = to.send(text);
  if (full === undefined) return;
  from.pause?.();
  void full.then(() => from.resume?.()); // Never rejects.
}

function messagesIn(text: string): readonly Message[] {
  const decoded = decode(text);
  if (decoded instanceof Problem) return [];
  const elements = Array.isArray(decoded) ? decoded : [decoded];
  return elements.filter((element): element is Message => !(element instanceof Problem) && !hasNullId(element));
}

/** Whether a message has a `null` id, which MCP does not have: it pairs with no other, so it is forwarded unread. */
function hasNullId(message: Message): boolean {
  return "id" in message && message.id === null;
}

function keyOf(id: Id): string {
  return id instanceof ExactNumber ? id.text : JSON.stringify(id);
}

/** The notifications of list changes that a server declares. */
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
