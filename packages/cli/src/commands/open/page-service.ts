import { versions } from "@parlance/mcp";
import { type Connection, createService, RpcError, type Service } from "@parlance/mcp/jsonrpc";
import { type JsonObject, methods } from "@parlance/mcp/protocol";
import type { PageComparison, PageMethods, PageNotifications, PageReplay, PageView } from "@parlance/web/protocol";
import { compileFilter, parseFilter, type Row } from "@parlance/wire";
import { messageOf } from "../../shared/failure.js";
import { shellWord } from "../../shared/output/shell-word.js";
import type { SavedRequests } from "../../shared/requests/saved-requests.js";
import { commandOf } from "../export/exported.js";
import type { Acting } from "./acting.js";
import { keep, readKept, saveFilter, valuesIn } from "./filter-terms.js";
import { commandLineOfRow } from "./offers.js";
import { changesOf } from "./page-changes.js";
import { comparisonOf } from "./page-comparison.js";
import { costsOf } from "./page-costs.js";
import type { Interception } from "./page-interception.js";
import { contractsOf, processesOf } from "./page-panels.js";
import { pageFrame, pageRow } from "./page-rows.js";
import { spanOf, spansIn } from "./page-timeline.js";
import { RecordingView } from "./recording-view.js";
import type { Recordings } from "./recordings.js";

/** Milliseconds between two notifications that a recording has grown: about one frame of the display. */
const pause = 16;

/** The maximum number of rows in one response. */
const mostRows = 1_000;

/** The clock of a replayed client, which pages control. */
export interface Replay {
  readonly state: PageReplay;
  set(change: Parameters<PageMethods["replay"]>[0]): void;
}

/** The contents of the pages. */
export interface Shown {
  readonly recordings: Recordings;
  /** The connected server. Default: pages only show recordings. */
  readonly acting?: Acting | undefined;
  /** The store of saved requests. */
  readonly requests?: SavedRequests | undefined;
  /** The breakpoints and faults. Default: none. */
  readonly interception?: Interception | undefined;
  /** The replayed client whose conversation is shown. Default: none. */
  readonly replay?: Replay | undefined;
}

const noSpans = { lanes: 0, spans: [] };

/** The handlers of all methods. JSON-RPC has null in place of an undefined result. */
type Handlers = { readonly [Name in keyof PageMethods]: (params: Parameters<PageMethods[Name]>[0]) => unknown };

/** The service for one page, which shows one recording through one filter. */
export class PageService {
  readonly #shown: Shown;
  readonly #remote: () => Connection;
  #view: RecordingView | undefined;
  /** The view that was asked for last, which reads its rows before it is shown. */
  #next: RecordingView | undefined;
  /** Counts the views that were asked for. */
  #asked = 0;
  /** The timers of notifications that are due, by their methods. */
  readonly #timers = new Map<keyof PageNotifications, NodeJS.Timeout>();

  /** @param remote the page, which is notified of changes */
  constructor(shown: Shown, remote: () => Connection) {
    this.#shown = shown;
    this.#remote = remote;
    shown.acting?.watchers.add(this.#acted);
    shown.interception?.enter(this.#intercepted);
  }

  /** The methods that the page calls. */
  get service(): Service {
    const { recordings, acting, requests, interception, replay } = this.#shown;
    const handlers: Handlers = {
      recordings: () => recordings.list(),
      open: (params) => this.#open(params),
      rows: ({ from, count }) => this.#view?.rows(from, Math.min(count, mostRows)).map(pageRow) ?? [],
      frame: ({ n }) => this.#frame(n),
      commandLine: ({ n }) => this.#commandLine(n),
      changes: ({ n }) => changesOf(n, this.#view?.recording.conversation),
      compare: ({ recording }) => this.#compare(recording).catch(explain),
      place: ({ n }) => this.#view?.placeOf(n),
      violation: ({ from, back }) => this.#view?.violation(from, back),
      terms: async () => ({
        values: valuesIn(this.#view?.recording.conversation),
        saved: (await readKept("filters", process.env)) ?? [],
      }),
      saveFilter: ({ filter, saved }) => saveFilter(filter, saved, process.env),
      hiddenColumns: () => readKept("columns", process.env),
      hideColumns: ({ names }) => keep("columns", names, process.env),
      contracts: () => contractsOf(this.#view?.recording.conversation),
      costs: () => costsOf(this.#view?.recording.conversation),
      processes: () => processesOf(this.#view?.recording),
      timeline: (window) => (this.#view === undefined ? noSpans : spansIn(this.#view.recording.conversation, window)),
      span: ({ n }) => this.#view && spanOf(this.#view.recording.conversation, n),
      overview: ({ buckets }) => this.#view?.overview(Math.min(buckets, mostRows)) ?? [],
      export: ({ recording, to, filter }) => recordings.export(recording, to, filter).catch(explain),
      acting: () => acting?.state,
      offers: () => acting?.offers ?? [],
      listAgain: () => this.#act.listAgain().catch(explain),
      check: async ({ tool, args }) => ({
        faults: await this.#act.check(tool, args),
        command: this.#act.commandLine(methods.callTool, { name: tool, arguments: args }),
      }),
      examine: () => this.#act.examine(),
      request: ({ method, params }) => this.#act.request(method, params),
      reconnect: ({ asked }) => this.#act.reconnect(asked),
      cancel: ({ key }) => this.#act.cancel(key),
      sendRaw: ({ text }) => this.#act.sendRaw(text).catch(explain),
      answer: ({ key, answer }) => this.#act.inputs.answer(key, answer),
      setRoots: ({ folders }) => this.#act.setRoots(folders),
      subscribe: ({ uri, ends }) => this.#act.subscribe(uri, ends).catch(explain),
      complete: (params) => this.#act.complete(params).catch(explain),
      result: ({ key }) => this.#act.result(key),
      requests: () => requests?.list().catch(explain) ?? [],
      saveRequest: ({ name, replaces, ...request }) => requests?.save(name, request, replaces).catch(explain),
      until: ({ at }) => this.#view?.until(at) ?? { count: 0, next: undefined },
      replay: (change) => {
        replay?.set(change);
        return replay?.state;
      },
      interception: () => interception?.state,
      touched: ({ rules }) => rules.map((rule) => this.#view?.recording.touched.get(rule) ?? []),
      setRules: ({ rules }) => this.#intercept.set(rules),
      heldText: ({ key }) => this.#intercept.textOf(key),
      release: ({ key, fate }) => this.#intercept.release(key, fate),
    };
    const service = createService();
    for (const [name, run] of Object.entries(handlers))
      service.method(name, run as (params: unknown) => unknown, { params: schemas[name as keyof PageMethods] });
    return service;
  }

  /** Stops following the recording. */
  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#shown.interception?.leave(this.#intercepted);
    this.#shown.acting?.watchers.delete(this.#acted);
    this.#next?.close();
    this.#view?.close();
  }

  /** @throws RpcError if pages only show recordings */
  get #act(): Acting {
    const { acting } = this.#shown;
    if (acting === undefined) throw new RpcError(409, "There is no server: only recordings are shown");
    return acting;
  }

  /** @throws RpcError without an interceptor */
  get #intercept(): Interception {
    const { interception } = this.#shown;
    if (interception === undefined) throw new RpcError(409, "Only recordings are shown: nothing can be held");
    return interception;
  }

  readonly #intercepted = (): void => this.#notifySoon("intercepted", () => this.#shown.interception?.state);
  readonly #acted = (): void => this.#notifySoon("acted", () => this.#shown.acting?.state);
  readonly #changed = (): void => this.#notifySoon("changed", () => this.#view && this.#summary(this.#view));

  /** Notifies the page of a state after a pause, once for all changes until then. */
  #notifySoon<Name extends keyof PageNotifications>(
    name: Name,
    stateOf: () => PageNotifications[Name] | undefined,
  ): void {
    if (this.#timers.has(name)) return;
    const notify = (): void => {
      this.#timers.delete(name);
      const state = stateOf();
      if (state !== undefined) this.#remote().notify(name, { ...state });
    };
    this.#timers.set(name, setTimeout(notify, pause));
  }

  async #open({
    recording: name,
    filter,
    span,
  }: Parameters<PageMethods["open"]>[0]): Promise<ReturnType<PageMethods["open"]>> {
    const parsed = parseFilter(filter);
    if (!parsed.ok) return { fault: parsed.fault };
    this.#asked += 1;
    const own = this.#asked;
    const recording = await this.#shown.recordings.open(name);
    const matches = compileFilter(parsed.filter);
    const isOfSpan = (row: Row): boolean =>
      row.n !== undefined && span !== undefined && recording.conversation.timeline.spanOf(row.n)?.n === span;
    const test = span === undefined ? matches : (row: Row): boolean => isOfSpan(row) && matches(row);
    const view = new RecordingView(recording, test, this.#changed);
    // A large recording, or a filter that takes long, must not replace what was asked for after it.
    if (own !== this.#asked) return null;
    this.#next?.close();
    this.#next = view;
    await view.open();
    if (own !== this.#asked) return null;
    this.#view?.close();
    this.#view = view;
    this.#next = undefined;
    return this.#summary(view);
  }

  #summary(view: RecordingView): PageView {
    return { ...summaryOf(view), compares: this.#shown.recordings.compares };
  }

  async #compare(name: string | undefined): Promise<PageComparison | null> {
    const before = await this.#shown.recordings.compared(name);
    return this.#view === undefined || before === undefined ? null : comparisonOf(before, this.#view.recording);
  }

  #frame(n: number): ReturnType<PageMethods["frame"]> {
    const { conversation } = this.#view?.recording ?? {};
    const row = conversation?.rows.find((each) => each.n === n);
    return conversation === undefined || row === undefined ? null : pageFrame(row, conversation);
  }

  #commandLine(n: number): string | undefined {
    const { conversation, header } = this.#view?.recording ?? {};
    const row = conversation?.rows.find((each) => each.n === n);
    return row && commandLineOfRow(row, header);
  }
}

/** Converts a failed request to an error that the page shows; other errors become internal errors. */
function explain(cause: unknown): never {
  throw new RpcError(502, messageOf(cause), undefined, { cause });
}

const number = { type: "integer", minimum: 0 };
const amount = { type: "number", minimum: 0 };
const boolean = { type: "boolean" };
const string = { type: "string", maxLength: 10_000 };
const strings = { type: "array", items: string, maxItems: 100 };

function object(properties: object, optional: readonly string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

/** The schemas of the params of the methods. */
const schemas: Readonly<Record<keyof PageMethods, JsonObject>> = {
  recordings: object({}),
  open: object({ recording: string, filter: string, span: number }, ["recording", "span"]),
  rows: object({ from: number, count: number }),
  frame: object({ n: number }),
  commandLine: object({ n: number }),
  changes: object({ n: number }),
  compare: object({ recording: string }, ["recording"]),
  until: object({ at: amount }),
  replay: object({ at: amount, speed: amount, runs: boolean }, ["at", "speed", "runs"]),
  place: object({ n: number }),
  violation: object({ from: { type: "integer", minimum: -1 }, back: boolean }),
  overview: object({ buckets: number }),
  timeline: object({ from: amount, until: amount, pixels: number }),
  span: object({ n: number }),
  terms: object({}),
  saveFilter: object({ filter: string, saved: boolean }),
  hiddenColumns: object({}),
  hideColumns: object({ names: strings }),
  contracts: object({}),
  costs: object({}),
  processes: object({}),
  export: object(
    { recording: string, to: { enum: ["markdown", "html", "har", "test", "curl", "jsonl"] }, filter: string },
    ["recording"],
  ),
  acting: object({}),
  offers: object({}),
  listAgain: object({}),
  check: object({ tool: string, args: { type: "object" } }),
  examine: object({}),
  request: object({ method: string, params: { type: "object" } }),
  reconnect: object({
    asked: object({ revision: { enum: versions }, era: { enum: ["handshake", "stateless"] } }, ["revision", "era"]),
  }),
  cancel: object({ key: number }),
  sendRaw: object({ text: { type: "string" } }),
  answer: object({
    key: number,
    answer: object({ action: { enum: ["accept", "decline", "cancel"] }, value: {} }, ["value"]),
  }),
  setRoots: object({ folders: strings }),
  subscribe: object({ uri: string, ends: boolean }),
  complete: object({
    kind: { enum: ["prompt", "template"] },
    name: string,
    argument: string,
    value: string,
    settled: { type: "object", additionalProperties: { type: "string" } },
  }),
  result: object({ key: number }),
  requests: object({}),
  saveRequest: object({ name: string, method: string, params: { type: "object" }, replaces: boolean }),
  interception: object({}),
  touched: object({ rules: strings }),
  setRules: object({
    rules: {
      type: "array",
      maxItems: 100,
      items: object({ kind: { enum: ["break", "fault"] }, text: string, isOn: boolean }),
    },
  }),
  heldText: object({ key: number }),
  release: object({
    key: number,
    fate: {
      oneOf: [
        object({ did: { enum: ["send", "drop"] } }),
        object({ did: { enum: ["change", "answer"] }, text: { type: "string" } }),
      ],
    },
  }),
};

function summaryOf({ recording, count }: RecordingView): Omit<PageView, "compares"> {
  const { name, header, conversation, isLive, violations } = recording;
  const { rows, sessions } = conversation;
  const revisions = sessions.flatMap(({ revision }) => (revision === undefined ? [] : [revision.version]));
  return {
    recording: name,
    server: commandOf(header)?.map(shellWord).join(" ") ?? header?.server?.url,
    revisions: [...new Set(revisions)],
    live: isLive,
    total: rows.length,
    count,
    violations,
    pending: conversation.pending().filter(({ state }) => state !== "not due").length,
    until: rows.at(-1)?.at ?? 0,
  };
}
