import { batch, computed, effect, signal } from "@preact/signals";
import { call, connect, messageOf, tryCall } from "./connection.js";
import type {
  FilterFault,
  PageBucket,
  PageFrame,
  PageNotifications,
  PageRow,
  PageView,
  RecordingName,
} from "./protocol.js";

/** The number of rows that are fetched together. */
const page = 100;

/** The number of intervals of the overview. */
const buckets = 240;

/** The open recording. */
export const view = signal<PageView | undefined>(undefined);
/** Why nothing can be shown. */
export const failure = signal<string | undefined>(undefined);
/** The text of the filter input. */
export const filter = signal("");
/** Why the filter is invalid; the list still shows the rows of the last valid one. */
export const filterFault = signal<FilterFault | undefined>(undefined);
/** The number of the selected row. */
export const selected = signal<number | undefined>(undefined);
/** The place of the selected row in the list. */
export const selectedPlace = signal<number | undefined>(undefined);
/** The selected row with everything about it. */
export const frame = signal<PageFrame | undefined>(undefined);
/** The selected byte range of the frame; the end is exclusive. */
export const selection = signal<readonly [number, number] | undefined>(undefined);
/** The panel in the lower half of the page. */
export type PanelName = "frame" | "timeline" | "compare" | "contract" | "cost" | "process" | "doctor" | "intercept";
export const panel = signal<PanelName>("frame");
/** The only span whose rows the list shows, by its first row; undefined for all rows. */
export const onlySpan = signal<number | undefined>(undefined);
/** The time in milliseconds up to which a playback shows rows, and their number; undefined if all rows are shown. */
export const playback = signal<{ readonly at: number; readonly count: number } | undefined>(undefined);
/** The rows of the list. */
export const listed = computed(() =>
  Math.min(view.value?.count ?? 0, playback.value?.count ?? Number.POSITIVE_INFINITY),
);
/** The pane beside the selected frame. */
export const detailMode = signal<"bytes" | "pair" | "changes">("bytes");
/** Whether the list scrolls with new rows. */
export const follows = signal(false);
export const overview = signal<readonly PageBucket[]>([]);
export const recordings = signal<readonly RecordingName[]>([]);
/** The announcement for screen readers. */
export const announcement = signal("");

/** A counter that increases when rows have been fetched, so that the list reads `rowAt` again. */
export const arrivals = signal(0);

/** The time of the last row, in milliseconds. */
export const duration = computed(() => Math.max(view.value?.until ?? 0, 1));

let recording: string | undefined;
const pages = new Map<number, readonly PageRow[]>();
const wanted = new Set<number>();
/** Counts the views, so that responses for an earlier one are dropped. */
let epoch = 0;

/** A row of the list; undefined until it has been fetched, which this call starts. */
export function rowAt(place: number): PageRow | undefined {
  const number = Math.floor(place / page);
  const rows = pages.get(number);
  if (rows?.[place % page] === undefined) void fetchPage(number);
  return rows?.[place % page];
}

async function fetchPage(number: number): Promise<void> {
  if (wanted.has(number)) return;
  wanted.add(number);
  const asked = epoch;
  const rows = await tryCall("rows", { from: number * page, count: page });
  if (asked !== epoch) return;
  wanted.delete(number);
  if (rows === undefined) return;
  pages.set(number, rows);
  arrivals.value += 1;
}

/** Opens the page in the state in its address, and keeps it up to date. */
export function start(
  onOpen: () => void,
  listeners: { readonly [Name in "acted" | "intercepted"]: (state: PageNotifications[Name]) => void },
): void {
  connect(
    () => {
      readAddress();
      void open();
      void readRecordings();
      onOpen();
    },
    { changed: takeView, ...listeners },
  );
  effect(writeAddress);
  // A person has changed the address: what it leaves out is not shown either.
  addEventListener("hashchange", () => {
    // Each of these alone would be written to the address, before it is read.
    batch(() => {
      filter.value = "";
      onlySpan.value = undefined;
      readAddress();
    });
    void open();
  });
  setInterval(() => document.hidden || void readRecordings(), lookAgain);
}

function takeView(changed: PageView): void {
  const before = view.value;
  view.value = changed;
  refresh();
  if (follows.value) void selectPlace(changed.count - 1);
  const [rows, bad] = [changed.total - (before?.total ?? 0), changed.violations - (before?.violations ?? 0)];
  if (rows > 0) announcement.value = `${rows} new${bad > 0 ? `, ${bad} violations` : ""}`;
}

/** Called when rows may have changed: visible ones are read again, others are dropped. */
function refresh(): void {
  const last = Math.floor(Math.max(0, (view.value?.count ?? 0) - 1) / page);
  const shown = [...pages.keys()].slice(-3);
  for (const number of [...pages.keys()]) if (!shown.includes(number) && number !== last) pages.delete(number);
  for (const number of new Set([...shown, last])) void fetchPage(number);
  void readOverview();
}

let readingOverview = false;

async function readOverview(): Promise<void> {
  if (readingOverview) return;
  readingOverview = true;
  const read = await tryCall("overview", { buckets });
  readingOverview = false;
  if (read !== undefined) overview.value = read;
}

/** Reads which recordings there are, and which of them are live. */
export async function readRecordings(): Promise<void> {
  const read = await tryCall("recordings", {});
  if (read !== undefined) recordings.value = read;
}

/** Milliseconds between two looks for sessions that have begun, while the page is seen. */
const lookAgain = 5_000;

/** Shows the recording of the conversation that has begun, unless another one was chosen in the menu. */
export async function openNext(): Promise<void> {
  if (recording !== undefined) return;
  // A late response for the previous recording must not change the selection.
  follows.value = false;
  selected.value = undefined;
  frame.value = undefined;
  await open();
  await readRecordings();
}

/** Settles when the list is the one of the last filter, and the last search in it has ended: what a key moves in, and from where. */
let settling: Promise<void> = Promise.resolve();

/** Counts the views that were asked for. */
let asked = 0;

/** Opens a recording, or sets the filter. */
export function open(name = recording): Promise<void> {
  settling = openView(name);
  return settling;
}

async function openView(name: string | undefined): Promise<void> {
  asked += 1;
  const own = asked;
  try {
    const span = onlySpan.value;
    const opened = await call("open", {
      filter: filter.value,
      ...(name !== undefined && { recording: name }),
      ...(span !== undefined && { span }),
    });
    if (opened === null) return;
    const isLast = own === asked;
    if ("fault" in opened) {
      if (isLast) filterFault.value = opened.fault;
      return;
    }
    const isFirst = view.value === undefined;
    recording = name;
    epoch += 1;
    pages.clear();
    wanted.clear();
    batch(() => {
      playback.value = undefined;
      view.value = opened;
      if (isLast) filterFault.value = undefined;
      failure.value = undefined;
      follows.value = opened.live && selected.value === undefined;
      arrivals.value += 1;
    });
    document.title = `${opened.recording} · parlance`;
    refresh();
    if (selected.value === undefined) await selectPlace(follows.value ? opened.count - 1 : 0);
    else await readSelected(selected.value);
    if (opened.compares && isFirst) panel.value = "compare";
  } catch (error) {
    failure.value = messageOf(error);
  }
}

let reading: Promise<void> = Promise.resolve();

/** The frame of the selected row, once it is read; a key may be pressed earlier. */
export async function selectedFrame(): Promise<PageFrame | undefined> {
  for (let last: typeof reading | undefined; last !== reading; ) {
    last = reading;
    await last;
  }
  return frame.value;
}

/** Selects a row by its number: the filter may hide it. Its place in the list is known once it is read. */
export function select(n: number, range?: readonly [number, number]): Promise<void> {
  const read = readSelected(n, range);
  settling = Promise.all([settling, read]).then(() => undefined);
  return read;
}

/** Counts the selections, so that a row that is read late does not take the place of one selected meanwhile. */
let selections = 0;

function readSelected(n: number, range?: readonly [number, number]): Promise<void> {
  selections += 1;
  selected.value = n;
  reading = readFrame(n, range);
  return reading;
}

async function readFrame(n: number, range: readonly [number, number] | undefined): Promise<void> {
  let read: PageFrame | null;
  let place: number | null;
  try {
    [read, place] = await Promise.all([call("frame", { n }), call("place", { n })]);
  } catch (error) {
    failure.value = messageOf(error);
    return;
  }
  if (selected.value !== n) return;
  batch(() => {
    failure.value = undefined;
    frame.value = read ?? undefined;
    selectedPlace.value = place ?? undefined;
    selection.value = range ?? read?.verdicts.find((verdict) => verdict.range !== undefined)?.range;
  });
}

/** Does something with the list once it is that of the filter as it is typed: a key may come before that filter is applied. */
function inList(act: () => Promise<void>): void {
  settling = settling.then(act).catch(() => undefined); // The connection shows that it is lost.
  reading = settling;
}

/** Moves the selection. */
export function move(to: (place: number) => number): void {
  // A step settles with its place; the frame there is read meanwhile.
  inList(async () => {
    follows.value = false;
    void selectPlace(to(selectedPlace.value ?? -1));
  });
}

/** Has the list stay at the end of a live recording, or stop. */
export function toggleFollowing(): void {
  inList(async () => {
    follows.value = view.value?.live === true && !follows.value;
    if (follows.value) await selectPlace((view.value?.count ?? 0) - 1);
  });
}

/** Selects a row by its index in the list, and reads its frame. */
export async function selectPlace(place: number): Promise<void> {
  const count = listed.value;
  if (count === 0) return;
  const at = Math.min(Math.max(0, place), count - 1);
  selectedPlace.value = at;
  // A list that follows new rows selects the last one itself.
  if (!follows.value && playback.value === undefined && panel.value !== "timeline") panel.value = "frame";
  const row = rowAt(at);
  if (row === undefined) {
    reading = selectUnread(at);
    await reading;
  } else if (row.n !== undefined) await readSelected(row.n);
}

/** The row that is selected now. Its frame may still be on its way. */
async function selectedRow(): Promise<PageRow | undefined> {
  const place = selectedPlace.value;
  if (place === undefined) return frame.value?.row;
  return rowAt(place) ?? (await call("rows", { from: place, count: 1 }))[0];
}

/** Selects the other half of the pair. */
export function selectPair(): void {
  inList(async () => {
    follows.value = false;
    const pair = (await selectedRow())?.pair;
    if (pair !== undefined) await readSelected(pair);
  });
}

async function selectUnread(place: number): Promise<void> {
  selections += 1;
  const own = selections;
  const [read] = (await tryCall("rows", { from: place, count: 1 })) ?? [];
  if (read?.n === undefined || own !== selections) return;
  selected.value = read.n;
  await readFrame(read.n, undefined);
}

/** Selects the next row with a violation, or the one before; after the last one comes the first. */
export function selectViolation(back: boolean): void {
  inList(async () => {
    follows.value = false;
    await findViolation(back);
  });
}

async function findViolation(back: boolean): Promise<void> {
  const seen = epoch;
  const next = await call("violation", { from: selectedPlace.value ?? -1, back });
  const place = next ?? (await call("violation", { from: back ? (view.value?.count ?? 0) : -1, back }));
  if (seen !== epoch) return; // The place is one of a former list.
  if (next === null) announcement.value = place === null ? "no violation" : `the ${back ? "last" : "first"} violation`;
  if (place !== null) await selectPlace(place);
}

/** Focuses what a change of the state brings. The page is rendered in a microtask, and so has it before the next key. */
export function focusOn(selector: string): void {
  queueMicrotask(() => {
    const element = document.querySelector<HTMLElement>(selector);
    element?.focus();
    // The next text takes the place of the last one.
    if (element instanceof HTMLInputElement) element.select();
  });
}

/** Adds a condition to the filter, or sets it. */
export function addFilter(condition: string): void {
  filter.value = filter.value.trim() === "" ? condition : `${filter.value} ${condition}`;
  void open();
}

/** The condition of the filter that a range of time makes, in seconds. */
const timesOf = /(?:^|\s)t:([\d.]+)\.\.([\d.]+)(?=\s|$)/;

/** Where a range of time begins that a second key ends, in milliseconds. */
const timeMark = signal<number | undefined>(undefined);

/** The range of time in the filter, or its beginning alone, in milliseconds; empty without one. */
export const shownTimes = computed((): readonly number[] => {
  if (timeMark.value !== undefined) return [timeMark.value, timeMark.value];
  return (
    timesOf
      .exec(filter.value)
      ?.slice(1)
      .map((seconds) => Number(seconds) * 1_000) ?? []
  );
});

/** Has the filter show only the rows between two times, in milliseconds, in place of an earlier range. */
export function showTimes(from: number, to: number): void {
  const [first = 0, last = 0] = [from, to].sort((a, b) => a - b);
  // No row may be lost to the rounding.
  const seconds = (time: number): string => (time / 1_000).toFixed(6);
  const range = `t:${seconds(Math.max(0, first - 0.001))}..${seconds(last + 0.001)}`;
  filter.value = `${filter.value.replace(timesOf, "").trim()} ${range}`.trim();
  timeMark.value = undefined;
  void open();
}

/** Begins a range of time at the selected row, or ends it there. */
export function markTime(): void {
  inList(async () => {
    const at = (await selectedRow())?.at;
    if (at === undefined) return;
    if (timeMark.value !== undefined) return showTimes(timeMark.value, at);
    timeMark.value = at;
    announcement.value = "the range of time begins here: m at another row ends it";
  });
}

/** Forgets everything that hides rows. */
export function showAllRows(): void {
  timeMark.value = undefined;
  filter.value = "";
  onlySpan.value = undefined;
  void open();
}

/** Shows the rows of one span in the list, or those of all. */
export function showOnlySpan(n: number | undefined): void {
  onlySpan.value = n;
  void open();
}

/** Writes the recording, the row and the filter into the address, so that it opens the same view on any machine with the file. */
function writeAddress(): void {
  if (view.value === undefined) return;
  const query = new URLSearchParams();
  if (recording !== undefined) query.set("recording", recording);
  if (filter.value !== "") query.set("q", filter.value);
  if (onlySpan.value !== undefined) query.set("span", String(onlySpan.value));
  // A reload goes on following.
  const path = selected.value === undefined || follows.value ? "" : `/${selected.value}`;
  const hash = `#${path}${query.size > 0 ? `?${query}` : ""}`;
  if (hash !== location.hash) history.replaceState(null, "", hash === "#" ? location.pathname : hash);
}

function readAddress(): void {
  const [, n, query] = /^#(?:\/(\d+))?(?:\?(.*))?$/.exec(location.hash) ?? [];
  const values = new URLSearchParams(query ?? "");
  recording = values.get("recording") ?? recording;
  filter.value = values.get("q") ?? filter.value;
  const span = values.get("span");
  if (span !== null && /^\d+$/.test(span)) onlySpan.value = Number(span);
  if (n !== undefined) selected.value = Number(n);
}
