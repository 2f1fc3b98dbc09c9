import type { LoggingLevel, ServerCapabilities, SubscriptionFilter } from "@parlance/mcp";
import { rawPeer } from "@parlance/mcp/testing";
import { type Frame, initialized, notification, request, success } from "../testing/frames.js";
import { differences, of } from "./differences.js";
import {
  type Answering,
  type BatchedCall,
  type CallSettings,
  type Driver,
  type Fields,
  type Following,
  type ListMethod,
  lists,
  type Opening,
  type Outcome,
} from "./driver.js";
import { RawLine } from "./raw-line.js";

const clientInfo = { name: "driver", version: "1" };

/** A driver that writes and reads frames by hand, as the era of its revision wants them. */
export async function rawDriver({ revision, far, channel, capable }: Opening): Promise<Driver> {
  const line = new RawLine(rawPeer(channel));
  const capabilities = capable ? of(differences.declared, revision) : {};
  const Era = of(differences.era, revision) === "handshake" ? HandshakeDriver : StatelessDriver;
  const driver = new Era(line, revision, capabilities, far);
  await driver.open();
  return driver;
}

abstract class RawDriver implements Driver {
  readonly kind = "raw peer";
  readonly revision: string;
  readonly far: string | undefined;
  answering: Answering = () => ({ action: "cancel" });
  server: Driver["server"] = { info: undefined, capabilities: {}, instructions: undefined };
  protected readonly line: RawLine;
  protected readonly capabilities: Fields;

  constructor(line: RawLine, revision: string, capabilities: Fields, far: string | undefined) {
    this.line = line;
    this.far = far;
    this.revision = revision;
    this.capabilities = capabilities;
    line.onQuestion = (frame, signal) => void this.#answer(frame, signal);
  }

  /** Opens the conversation, and keeps the server's description of itself. */
  abstract open(): Promise<void>;
  abstract setLogLevel(level: LoggingLevel): Promise<Outcome>;
  abstract follow(filter: SubscriptionFilter): Promise<Following>;
  abstract ping(): Promise<void>;
  abstract rootsChanged(): void;
  /** The params of a request, as the era wants them. */
  protected abstract dress(params: Fields): Fields;

  async call(method: string, given: Fields = {}, settings: CallSettings = {}): Promise<Outcome> {
    const absent = of(differences.absentParams, this.revision)[method] ?? [];
    const params = Object.fromEntries(Object.entries(given).filter(([name]) => !absent.includes(name)));
    return this.request(method, params, settings);
  }

  /** One request and its answer. */
  protected async request(method: string, params: Fields, settings: CallSettings = {}): Promise<Outcome> {
    const { signal, onProgress } = settings;
    const id = this.line.nextId();
    // A token of the other kind than the id: nothing may take one for the other.
    const token = onProgress === undefined ? undefined : this.line.progressToken(onProgress);
    const meta = { ...metaOf(params), progressToken: token };
    const dressed = this.dress(token === undefined ? params : { ...params, _meta: meta });
    const cancel = (): void => this.line.cancel(id);
    signal?.addEventListener("abort", cancel, { once: true });
    const outcome = await this.line.exchange(id, request(id, method, dressed));
    signal?.removeEventListener("abort", cancel); // Only what is under way is cancelled.
    return outcome;
  }

  async list(method: ListMethod): Promise<readonly Fields[]> {
    const items: Fields[] = [];
    for (let cursor: unknown; ; ) {
      const outcome = await this.call(method, cursor === undefined ? {} : { cursor });
      if (!("result" in outcome)) throw new Error(`${method}: ${JSON.stringify(outcome)}`);
      items.push(...(outcome.result[lists[method]] as readonly Fields[]));
      cursor = outcome.result.nextCursor;
      if (cursor === undefined) return items;
    }
  }

  batch(calls: readonly BatchedCall[]): Promise<readonly Outcome[]> {
    const frames = calls.map(([method, params]) => {
      const id = this.line.nextId();
      return { id, frame: request(id, method, this.dress(params)) };
    });
    return this.line.exchangeBatch(frames);
  }

  told(): ReturnType<Driver["told"]> {
    return this.line.told();
  }

  assertAtRest(): void {
    this.line.assertAtRest();
  }

  close(): Promise<void> {
    return this.line.close();
  }

  async #answer({ id = 0, method = "", params = {} }: Frame, signal: AbortSignal): Promise<void> {
    try {
      this.line.send(success(id, await this.answering({ method, params }, signal)));
    } catch (error) {
      if (!signal.aborted) throw error; // A cancelled call needs no response.
    }
  }
}

/** A conversation that is opened by a handshake, in which the server asks with requests of its own. */
class HandshakeDriver extends RawDriver {
  async open(): Promise<void> {
    const { revision: protocolVersion, capabilities } = this;
    const outcome = await this.request("initialize", { protocolVersion, capabilities, clientInfo });
    if (!("result" in outcome) || outcome.result.protocolVersion !== protocolVersion) {
      throw new Error(`initialize: ${JSON.stringify(outcome)}`);
    }
    this.server = describe(outcome.result.serverInfo, outcome.result);
    this.line.send(initialized);
  }

  setLogLevel(level: LoggingLevel): Promise<Outcome> {
    return this.call("logging/setLevel", { level });
  }

  async follow({ resourceSubscriptions = [] }: SubscriptionFilter): Promise<Following> {
    const all = (method: string): Promise<readonly Outcome[]> =>
      Promise.all(resourceSubscriptions.map((uri) => this.call(method, { uri })));
    const changes = this.line.follow();
    const outcomes = await all("resources/subscribe");
    return {
      resources: resourceSubscriptions.filter((_uri, index) => "result" in (outcomes[index] ?? {})),
      next: () => changes.next(),
      close: async () => {
        await all("resources/unsubscribe");
        await changes.close();
      },
    };
  }

  async ping(): Promise<void> {
    await this.call("ping");
  }

  rootsChanged(): void {
    this.line.send(notification("notifications/roots/list_changed"));
  }

  protected dress(params: Fields): Fields {
    return params;
  }
}

/** Every request for itself; what the server asks stands in a result, and the call is made again with the answers. */
class StatelessDriver extends RawDriver {
  #level: LoggingLevel | undefined;

  async open(): Promise<void> {
    const outcome = await this.request("server/discover", {});
    if (!("result" in outcome)) throw new Error(`server/discover: ${JSON.stringify(outcome)}`);
    this.server = describe(metaOf(outcome.result)["io.modelcontextprotocol/serverInfo"], outcome.result);
  }

  override async call(method: string, params: Fields = {}, settings: CallSettings = {}): Promise<Outcome> {
    let outcome = await super.call(method, params, settings);
    while ("result" in outcome && outcome.result.resultType === "input_required") {
      const { inputRequests = {}, requestState } = outcome.result;
      const inputResponses = await this.#answers(inputRequests as Readonly<Record<string, Frame>>, settings.signal);
      if (inputResponses === undefined) return { local: "cancelled" };
      outcome = await super.call(method, { ...params, inputResponses, requestState }, settings);
    }
    return outcome;
  }

  /** Undefined when the call was taken back meanwhile: then it is not made again. */
  async #answers(
    asked: Readonly<Record<string, Frame>>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Fields | undefined> {
    const answers = Object.entries(asked).map(async ([key, { method = "", params = {} }]) => [
      key,
      await this.answering({ method, params }, signal),
    ]);
    try {
      return Object.fromEntries(await Promise.all(answers)) as Fields;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  setLogLevel(level: LoggingLevel): Promise<Outcome> {
    this.#level = level;
    return Promise.resolve({ result: {} });
  }

  follow(filter: SubscriptionFilter): Promise<Following> {
    const id = this.line.nextId();
    return this.line.listen(id, request(id, "subscriptions/listen", this.dress({ notifications: filter })));
  }

  async ping(): Promise<void> {
    await this.call("server/discover");
  }

  rootsChanged(): void {
    // Roots are asked for anew with every call: there is nothing to tell.
  }

  protected dress(params: Fields): Fields {
    const level = this.#level === undefined ? {} : { "io.modelcontextprotocol/logLevel": this.#level };
    const own = {
      "io.modelcontextprotocol/protocolVersion": this.revision,
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": this.capabilities,
    };
    return { ...params, _meta: { ...metaOf(params), ...own, ...level } };
  }
}

function metaOf({ _meta: meta = {} }: Fields): Fields {
  return meta as Fields;
}

function describe(info: unknown, { capabilities, instructions }: Fields): Driver["server"] {
  return {
    info: info as Driver["server"]["info"],
    capabilities: capabilities as ServerCapabilities,
    instructions: instructions as string | undefined,
  };
}
