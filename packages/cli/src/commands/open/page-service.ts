import { type Connection, createService, type Service } from "@parlance/mcp/jsonrpc";
import type { JsonObject } from "@parlance/mcp/protocol";
import type { PageMethods, PageView } from "@parlance/web/protocol";
import { compileFilter, parseFilter } from "@parlance/wire";
import { commandOf, shellWord } from "../export/exported.js";
import { pageFrame, pageRow } from "./page-rows.js";
import { RecordingView } from "./recording-view.js";
import type { Recordings } from "./recordings.js";

/** Milliseconds between two notifications that a recording has grown: about one frame of a screen. */
const pause = 16;

/** The most rows of one answer. */
const mostRows = 1_000;

/** What one page sees: one recording through one filter. */
export class PageService {
  readonly #recordings: Recordings;
  readonly #remote: () => Connection;
  #view: RecordingView | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param remote the page, to which growth is notified */
  constructor(recordings: Recordings, remote: () => Connection) {
    this.#recordings = recordings;
    this.#remote = remote;
  }

  /** The methods of the page. */
  get service(): Service {
    const methods: { readonly [Name in keyof PageMethods]: (params: Parameters<PageMethods[Name]>[0]) => unknown } = {
      recordings: () => this.#recordings.list(),
      open: (params) => this.#open(params),
      rows: ({ from, count }) => this.#view?.rows(from, Math.min(count, mostRows)).map(pageRow) ?? [],
      frame: ({ n }) => this.#frame(n),
      place: ({ n }) => this.#view?.placeOf(n) ?? null,
      violation: ({ from, back }) => this.#view?.violation(from, back) ?? null,
      overview: ({ buckets }) => this.#view?.overview(Math.min(buckets, mostRows)) ?? [],
    };
    const service = createService();
    for (const [name, run] of Object.entries(methods))
      service.method(name, run as (params: unknown) => unknown, { params: schemas[name as keyof PageMethods] });
    return service;
  }

  /** Stops following the recording. */
  close(): void {
    clearTimeout(this.#timer);
    this.#view?.close();
  }

  async #open({
    recording: name,
    filter,
  }: Parameters<PageMethods["open"]>[0]): Promise<ReturnType<PageMethods["open"]>> {
    const parsed = parseFilter(filter);
    if (!parsed.ok) return { fault: parsed.fault };
    const recording = await this.#recordings.open(name);
    const view = new RecordingView(recording, compileFilter(parsed.filter), () => this.#changed());
    await view.open();
    this.#view?.close();
    this.#view = view;
    return summaryOf(view);
  }

  #frame(n: number): ReturnType<PageMethods["frame"]> {
    const { conversation } = this.#view?.recording ?? {};
    const row = conversation?.rows.find((each) => each.n === n);
    return conversation === undefined || row === undefined ? null : pageFrame(row, conversation);
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#view !== undefined) this.#remote().notify("changed", { ...summaryOf(this.#view) });
    }, pause);
  }
}

const number = { type: "integer", minimum: 0 };
const boolean = { type: "boolean" };
const string = { type: "string", maxLength: 10_000 };

function object(properties: object, required: readonly string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** What a page may send. */
const schemas: Readonly<Record<keyof PageMethods, JsonObject>> = {
  recordings: object({}, []),
  open: object({ recording: string, filter: string }, ["filter"]),
  rows: object({ from: number, count: number }, ["from", "count"]),
  frame: object({ n: number }, ["n"]),
  place: object({ n: number }, ["n"]),
  violation: object({ from: { type: "integer", minimum: -1 }, back: boolean }, ["from", "back"]),
  overview: object({ buckets: number }, ["buckets"]),
};

function summaryOf({ recording, count }: RecordingView): PageView {
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
