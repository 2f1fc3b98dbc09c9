import { AsyncLocalStorage } from "node:async_hooks";
import { versions } from "@parlance/mcp";
import { type Client, RpcError, type Subscription } from "@parlance/mcp/client";
import { escapeControls, type Params } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject, notifications } from "@parlance/mcp/protocol";
import { compile, SchemaError } from "@parlance/mcp/schema";
import type {
  ActMethods,
  PageActing,
  PageCall,
  PageCheck,
  PageFailure,
  PageFault,
  PageOffer,
  PageProgress,
  PageResult,
  PageSpoken,
} from "@parlance/web/protocol";
import { literalOf, nodeAt, type Row } from "@parlance/wire";
import { isAsked, type ListName, offeredLists, readList } from "../../shared/client/exercise.js";
import type { Observation, ObservedTarget } from "../../shared/client/observed-target.js";
import { type Failure, messageOf } from "../../shared/failure.js";
import type { Checked, Watcher } from "../doctor/check.js";
import type { LiveRecording, RecordingWatcher } from "./live-recording.js";
import { type CommandTargetWords, commandLineOf, offerOf } from "./offers.js";
import { inDoubles, PageInputs } from "./page-inputs.js";
import type { Recordings } from "./recordings.js";

/** The maximum number of calls whose results are kept. */
const mostCalls = 50;

/** Milliseconds to wait for the frame of a response, because the recording is read after it is written. */
const recordedWithin = 2_000;

/** A request from a page. All pages show it. */
interface ActedCall extends Pick<PageCall, "key" | "method" | "about" | "command"> {
  readonly began: number;
  readonly abort: AbortController;
  /** The ids of its requests as written; a call in several rounds has several. */
  readonly ids: string[];
  ended: Promise<void>;
  state: PageCall["state"];
  took: number | undefined;
  progress: PageProgress | undefined;
  outcome: PageResult | undefined;
  request: number | undefined;
  answer: Row["messages"][number] | undefined;
}

/** Runs the checks of `parlance doctor`. Never rejects, whatever the target does. */
export type Examine = (watcher: Watcher) => Promise<unknown>;

/** Acts on the connected server for the pages of the command, with the client of the command. */
export class Acting implements RecordingWatcher {
  /** A listener for each open page, called after each change. */
  readonly watchers: Set<() => void> = new Set();
  /** Answers the input requests of the server. */
  readonly inputs: PageInputs = new PageInputs(
    () => this.watchers.size > 0,
    () => this.#changed(),
  );
  /** Called when the frames of a call are found. */
  readonly #linked = new Set<() => void>();
  readonly #subscriptions = new Map<string, { updates: number; readonly subscription: Subscription }>();
  readonly #words: CommandTargetWords;
  readonly #examine: Examine;
  readonly #recordings: Recordings;
  #recording: LiveRecording;
  /** The call whose request is being sent. */
  readonly #sending = new AsyncLocalStorage<ActedCall>();
  readonly #lists = new Map<ListName, unknown[]>();
  #over = new AbortController();
  /** Whether the lists are being read because they have changed, and whether they have changed since. */
  #listing: "no" | "once" | "again" = "no";
  #offers = 0;
  #calls: readonly ActedCall[] = [];
  #client: Client | undefined;
  #observed: ObservedTarget | undefined;
  #isOver = false;
  #last = 0;
  #failure: Failure | undefined;
  #onReconnect: ((asked: PageSpoken) => void) | undefined;
  #asked: PageSpoken = {};
  #examination: PageActing["examination"];

  /** @param examine runs the checks of `parlance doctor` */
  constructor(words: CommandTargetWords, recordings: Recordings, examine: Examine) {
    this.#words = words;
    this.#examine = examine;
    this.#recordings = recordings;
    this.#recording = this.#watched(recordings.first);
  }

  #watched(recording: LiveRecording): LiveRecording {
    recording.watchers.add(this);
    void recording.loaded.catch(() => undefined); // A page that opens the recording shows the error.
    return recording;
  }

  /** Called when the conversation is open, so that calls can be made. */
  open(client: Client, observed: ObservedTarget): void {
    this.#client = client;
    this.#observed = observed;
    this.#changed();
  }

  /** Called when the conversation has ended. The calls stay, and pages cannot request another conversation. */
  close(failure: Failure | undefined): void {
    this.#isOver = true;
    this.#failure = failure;
    this.#onReconnect = undefined;
    this.#over.abort();
    this.#changed();
  }

  /** Allows pages to request another conversation. Resolves when one does. */
  reconnection(): Promise<PageSpoken> {
    return new Promise((resolve) => {
      this.#onReconnect = resolve;
      this.#changed();
    });
  }

  /** Requests another conversation in place of the current one. @throws RpcError if the command makes only one */
  reconnect(asked: PageSpoken): void {
    if (this.#onReconnect === undefined) throw new RpcError(409, "The server cannot be connected again");
    this.#onReconnect(asked);
    this.#onReconnect = undefined;
    this.#asked = asked;
    this.#client = undefined;
    this.#changed();
  }

  /** Called when another conversation begins. Earlier calls are removed if they are in another recording. */
  begin(path: string): void {
    this.#client = undefined;
    this.#isOver = false;
    this.#failure = undefined;
    this.#over = new AbortController();
    this.#lists.clear();
    this.#offers += 1;
    const recording = this.#recordings.follow(path);
    if (recording !== this.#recording) {
      this.#recording.watchers.delete(this);
      this.#recording = this.#watched(recording);
      this.#calls = [];
    }
    this.#changed();
  }

  get state(): PageActing {
    return {
      title: this.#words.title,
      phase: this.#isOver ? "over" : this.#client === undefined ? "opening" : "open",
      recording: this.#recording.name,
      versions,
      asked: this.#asked,
      revision: this.#client?.revision,
      canReconnect: this.#onReconnect !== undefined,
      offers: this.#offers,
      failure: this.#failure && failureOf(this.#failure.message, this.#failure),
      examination: this.#examination,
      calls: this.#calls.map((call) => pageCall(call)),
      inputs: this.inputs.waiting,
      roots: this.inputs.roots,
      canSubscribe: this.#client?.server.capabilities.resources?.subscribe === true,
      subscriptions: [...this.#subscriptions].map(([uri, { updates }]) => ({ uri, updates })),
    };
  }

  get offers(): readonly PageOffer[] {
    return [...this.#lists].flatMap(([list, items]) => items.flatMap((item) => offerOf(list, item) ?? []));
  }

  /** Takes an item of a list that is being read. */
  readonly takeItem = (list: ListName, item: unknown): void => {
    const items = this.#lists.get(list) ?? [];
    items.push(item);
    this.#lists.set(list, items);
    this.#offers += 1;
    this.#changed();
  };

  /** Takes observations: the ids of the requests of calls, and notifications of changed lists. */
  readonly see = (observation: Observation): void => {
    if (observation.kind !== "frame") return;
    const call = this.#sending.getStore();
    for (const { kind, id, method } of observation.row.messages) {
      const isOwn = observation.row.from === "client" && kind === "req" && method === call?.method;
      if (isOwn && call !== undefined && id !== undefined) {
        call.ids.push(id);
        call.answer = undefined; // The result of an earlier round requested input.
      }
      if (observation.row.from === "server" && kind === "ntf" && method !== undefined && listChanges.has(method))
        this.#listSoon();
    }
  };

  /** Reads the lists again; once more if they change meanwhile. A server may send any number of notifications. */
  #listSoon(): void {
    if (this.#listing !== "no") {
      this.#listing = "again";
      return;
    }
    this.#listing = "once";
    void this.listAgain()
      .catch(() => undefined) // The frames show why a list was refused.
      .finally(() => {
        const isStale = this.#listing === "again";
        this.#listing = "no";
        if (isStale) this.#listSoon();
      });
  }

  /** Reads the lists of the server again. @throws RpcError when the server refuses; LocalError as `Client.call` */
  async listAgain(): Promise<void> {
    const client = this.#open();
    for (const list of offeredLists) {
      if (!isAsked(client, list)) continue;
      const items: unknown[] = [];
      await readList(client, list, { signal: this.#over.signal }, (item) => items.push(item));
      this.#lists.set(list.name, items);
    }
    this.#offers += 1;
    this.#changed();
  }

  /** The faults of arguments by the schema of a tool. */
  async check(tool: string, args: JsonObject): Promise<readonly PageFault[]> {
    const schema = this.#schemaOf(tool);
    if (schema === undefined) return [];
    try {
      const checked = await compile(schema, { trust: "peer" }).check(inDoubles(args));
      return checked.ok ? [] : checked.errors;
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      return [{ path: "", message: `the schema of the tool cannot be used: ${error.message}` }];
    }
  }

  /** Runs the checks of `parlance doctor`, unless they are running. */
  examine(): void {
    if (this.#examination?.isOver === false) return;
    const show = (isOver: boolean, checks: readonly PageCheck[]): void => {
      this.#examination = { isOver, checks };
      this.#changed();
    };
    show(false, []);
    const watcher: Watcher = {
      begin: () => undefined,
      show: (checked) => show(false, [...(this.#examination?.checks ?? []), pageCheck(checked)]),
    };
    void this.#examine(watcher).finally(() => show(true, this.#examination?.checks ?? []));
  }

  /** The command line that makes the same request; undefined if no command does. */
  commandLine(method: string, params: JsonObject): string | undefined {
    return commandLineOf(this.#words, method, params, this.#schemaOf(params.name));
  }

  /** Makes a request. Returns its key. @throws RpcError without a connection */
  request(method: string, params: JsonObject): number {
    const client = this.#open();
    this.#last += 1;
    const call: ActedCall = {
      key: this.#last,
      method,
      about: aboutOf(params),
      command: this.commandLine(method, params),
      began: performance.now(),
      abort: new AbortController(),
      ids: [],
      ended: Promise.resolve(),
      state: "running",
      took: undefined,
      progress: undefined,
      outcome: undefined,
      request: undefined,
      answer: undefined,
    };
    this.#calls = [call, ...this.#calls].slice(0, mostCalls);
    call.ended = this.#sending.run(call, () => this.#perform(client, call, params));
    this.#changed();
    return call.key;
  }

  /**
   * Sends a text unchanged, bypassing the client. @throws RpcError without a connection; Failure if the target does not accept
   * bytes
   */
  async sendRaw(text: string): Promise<void> {
    this.#open();
    await this.#observed?.sendRaw(new TextEncoder().encode(text));
  }

  /** Sets the roots, and notifies the server. @throws RpcError if a folder does not exist */
  setRoots(folders: readonly string[]): void {
    this.inputs.setRoots(folders);
    this.#open().rootsChanged();
  }

  /** Subscribes to a resource, or ends the subscription. @throws as `Client.subscribe` */
  async subscribe(uri: string, ends: boolean): Promise<void> {
    const known = this.#subscriptions.get(uri);
    if (ends) await known?.subscription.close();
    else if (known === undefined) {
      const subscription = await this.#open().subscribe({ resourceSubscriptions: [uri] });
      this.#subscriptions.set(uri, { updates: 0, subscription });
      this.#changed();
      void this.#follow(uri, subscription);
    }
  }

  async #follow(uri: string, subscription: Subscription): Promise<void> {
    for await (const change of subscription) {
      const known = this.#subscriptions.get(uri);
      if (known !== undefined && change.kind === "resource") known.updates += 1;
      this.#changed();
    }
    this.#subscriptions.delete(uri);
    this.#changed();
  }

  /** Completions of an argument; empty if the server has no completions. @throws as `Client.complete` */
  async complete({
    kind,
    name,
    argument,
    value,
    settled,
  }: Parameters<ActMethods["complete"]>[0]): Promise<readonly string[]> {
    const client = this.#open();
    if (client.server.capabilities.completions === undefined) return [];
    const ref =
      kind === "prompt" ? { type: "ref/prompt" as const, name } : { type: "ref/resource" as const, uri: name };
    const { values } = await client.complete(ref, { name: argument, value }, { context: { arguments: settled } });
    return values;
  }

  cancel(key: number): void {
    this.#calls.find((call) => call.key === key)?.abort.abort();
  }

  /** The result of a call, once it has ended: in its original spelling, if it was recorded. */
  async result(key: number): Promise<PageResult> {
    const call = this.#calls.find((each) => each.key === key);
    if (call === undefined) return { kind: "none", says: "it is one of the older calls; its frames are in the list" };
    await call.ended;
    const { outcome } = call;
    if (outcome === undefined || outcome.kind === "none") return outcome ?? { kind: "none", says: "" };
    await this.#recorded(call);
    const { answer } = call;
    const node = answer && nodeAt(answer.node, `/${outcome.kind}`);
    if (answer === undefined || node === undefined) return outcome;
    return { ...outcome, json: literalOf(node, answer.frame.bytes) };
  }

  grown(): void {
    const open = this.#calls.filter(({ ids, answer }) => ids.length > 0 && answer === undefined);
    if (open.length === 0) return;
    for (const call of open) this.#link(call);
    for (const look of this.#linked) look();
    this.#changed();
  }

  judged(): void {
    // Verdicts do not change calls.
  }

  async #perform(client: Client, call: ActedCall, params: JsonObject): Promise<void> {
    const notify = (method: string, given?: Params): void => {
      if (method !== notifications.progress || !isObject(given)) return;
      call.progress = progressOf(given);
      this.#changed();
    };
    try {
      const options = { signal: call.abort.signal, notify, unadvertised: true };
      const result = await client.call(call.method, params, options);
      call.outcome = { kind: "result", json: JSON.stringify(result) };
      call.state = "done";
    } catch (error) {
      call.state = call.abort.signal.aborted ? "cancelled" : "failed";
      call.outcome = outcomeOf(error);
    }
    call.took = performance.now() - call.began;
    this.#changed();
  }

  /** Finds the frames of a call in the recording. */
  #link(call: ActedCall): void {
    const { conversation, withheld } = this.#recording;
    const { rows } = conversation;
    const [first] = call.ids;
    const last = call.ids.at(-1);
    for (let place = rows.length - 1; place >= 0; place -= 1) {
      const row = rows[place];
      if (row?.from !== "client") continue;
      const sent = row.messages.find(({ kind, method }) => kind === "req" && method === call.method);
      if (sent === undefined) continue;
      const { answer } = sent.operation ?? {};
      // A held response may still be changed.
      if (sent.id === last && answer !== undefined && !withheld.has(answer.frame.n)) call.answer ??= answer;
      if (sent.id !== first) continue;
      call.request = row.n;
      return;
    }
  }

  /** Resolves when the response of a call is in the recording, or after a timeout. */
  async #recorded(call: ActedCall): Promise<void> {
    this.#link(call);
    if (call.answer !== undefined) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#linked.delete(look);
        resolve();
      };
      const look = (): void => {
        if (call.answer !== undefined) end();
      };
      const timer = setTimeout(end, recordedWithin);
      this.#linked.add(look);
    });
  }

  #schemaOf(tool: unknown): JsonObject | undefined {
    const found = this.#lists.get("tools")?.find((item) => isObject(item) && item.name === tool);
    return isObject(found) && isObject(found.inputSchema) ? found.inputSchema : undefined;
  }

  /** The client. @throws RpcError without a connection */
  #open(): Client {
    if (this.#client !== undefined && !this.#isOver) return this.#client;
    throw new RpcError(409, this.#isOver ? "The server is gone: run the command again" : "There is no connection yet");
  }

  #changed(): void {
    for (const watcher of this.watchers) watcher();
  }
}

const listChanges: ReadonlySet<string> = new Set([
  notifications.toolsChanged,
  notifications.resourcesChanged,
  notifications.promptsChanged,
]);

function pageCall({ key, method, about, command, state, progress, request, ...call }: ActedCall): PageCall {
  const { answer, began, took = performance.now() - began } = call;
  return { key, method, about, command, state, progress, request, took, response: answer?.frame.entry.n };
}

function failureOf(
  says: string,
  { seen = [], remedy }: { readonly seen?: readonly string[]; readonly remedy?: string | undefined },
): PageFailure {
  return {
    says: escapeControls(says),
    seen: seen.map((line) => escapeControls(line)),
    remedy: remedy === undefined ? undefined : escapeControls(remedy),
  };
}

function pageCheck(checked: Checked): PageCheck {
  const { name, state } = checked;
  if (state === "not tried") return { name, state, ...failureOf("", {}), notes: [], rule: undefined };
  const { says, notes = [], rule } = checked;
  return { name, state, ...failureOf(says, checked), notes: notes.map((note) => escapeControls(note)), rule };
}

function aboutOf({ name, uri }: JsonObject): string {
  return typeof name === "string" ? name : typeof uri === "string" ? uri : "";
}

function progressOf({ progress, total, message }: JsonObject): PageProgress {
  return {
    progress: typeof progress === "number" ? progress : 0,
    total: typeof total === "number" && total > 0 ? total : undefined,
    message: typeof message === "string" ? message : undefined,
  };
}

function outcomeOf(error: unknown): PageResult {
  if (error instanceof RpcError) {
    const { code, message, data } = error;
    return { kind: "error", json: JSON.stringify({ code, message, ...(data !== undefined && { data }) }) };
  }
  return { kind: "none", says: messageOf(error) };
}
