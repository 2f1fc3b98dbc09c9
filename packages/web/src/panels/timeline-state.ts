import { computed, effect, signal } from "@preact/signals";
import { tryCall } from "../connection.js";
import type { PageSpanDetail, PageTimeline } from "../protocol.js";
import { duration, frame, panel, view } from "../state.js";

/** Milliseconds between two reads of a growing timeline. */
const pause = 250;

/** The shortest part of a recording that is shown, in milliseconds. */
const shortest = 0.1;

/** The part of the recording that is shown, in milliseconds; undefined for all of it. */
const zoom = signal<readonly [from: number, until: number] | undefined>(undefined);

/** The part of the recording that is shown, in milliseconds. */
export const shownRange = computed(() => zoom.value ?? ([0, duration.value] as const));

/** Whether only a part is shown. */
export const isZoomed = computed(() => zoom.value !== undefined);

/** The width of the lanes, in pixels. */
export const lanesWidth = signal(0);

export const timeline = signal<PageTimeline>({ lanes: 0, spans: [] });

/** The span of the selected row. */
export const span = signal<PageSpanDetail | undefined>(undefined);

const none: ReadonlySet<number | undefined> = new Set();

/** The rows of the span, while the timeline is visible. */
export const spanRows = computed(
  (): ReadonlySet<number | undefined> =>
    panel.value === "timeline" && span.value !== undefined ? new Set(span.value.rows) : none,
);

/** Shows a part of the recording, clamped to its times. */
export function zoomTo(from: number, until: number): void {
  const length = Math.max(until - from, shortest);
  const start = Math.max(0, Math.min(from, duration.value - length));
  zoom.value = start === 0 && length >= duration.value ? undefined : [start, Math.min(start + length, duration.value)];
}

/** Shows a longer or shorter part of the recording, around a time. */
export function zoomBy(factor: number, around: number = middle()): void {
  const [from, until] = shownRange.value;
  zoomTo(around - (around - from) * factor, around + (until - around) * factor);
}

/** Moves the shown part by a share of its length. */
export function pan(share: number): void {
  const [from, until] = shownRange.value;
  const by = (until - from) * share;
  if (zoom.value !== undefined) zoomTo(from + by, until + by);
}

/** The middle of the selected span if it is visible, or else of the shown part. */
function middle(): number {
  const [from, until] = shownRange.value;
  const { at, until: end = at } = span.value ?? { at: -1 };
  const [first, last] = [Math.max(from, at), Math.min(until, end)];
  return first <= last ? (first + last) / 2 : (from + until) / 2;
}

let isReading = false;
let isStale = false;

async function read(): Promise<void> {
  isStale = isReading;
  if (isReading || lanesWidth.value === 0) return;
  isReading = true;
  const [from, until] = shownRange.value;
  const found = await tryCall("timeline", { from, until, pixels: lanesWidth.value });
  if (found !== undefined) timeline.value = found;
  await new Promise((resolve) => setTimeout(resolve, view.value?.live === true ? pause : 0));
  isReading = false;
  if (isStale) await read();
}

/** Reads the shown spans while the timeline is open. Returns a function that stops this. */
export function followTimeline(): () => void {
  const endReading = effect(() => {
    void [view.value, shownRange.value, lanesWidth.value];
    void read();
  });
  const endSpan = effect(() => {
    const n = frame.value?.row.n;
    void view.value;
    if (n === undefined) span.value = undefined;
    else
      void tryCall("span", { n }).then((found) => {
        if (found !== undefined && frame.value?.row.n === n) span.value = found ?? undefined;
      });
  });
  return () => {
    endReading();
    endSpan();
  };
}
