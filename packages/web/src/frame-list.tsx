import { computed } from "@preact/signals";
import type { ComponentChildren, JSX, TargetedPointerEvent } from "preact";
import { useCallback, useState } from "preact/hooks";
import { type Column, type ColumnName, shownColumns } from "./columns.js";
import { conditionsOf } from "./conditions.js";
import { bytesText, durationText, secondsText } from "./format.js";
import { Icon } from "./icons.js";
import { spanRows } from "./panels/timeline-state.js";
import type { PageRow } from "./protocol.js";
import {
  addFilter,
  arrivals,
  duration,
  follows,
  listed,
  overview,
  playback,
  rowAt,
  selectedPlace,
  selectPlace,
  shownTimes,
  showTimes,
  view,
} from "./state.js";
import { VirtualRows } from "./virtual-rows.js";

const rowHeight = 22;

/** The rows that match the filter, in the order of their arrival. */
export function FrameList(): JSX.Element {
  const count = listed.value;
  // A playback may not have reached the selected row.
  const place = (selectedPlace.value ?? count) < count ? selectedPlace.value : undefined;
  const marked = spanRows.value;
  const shown = shownColumns.value;
  void arrivals.value; // Rows that are drawn empty are drawn again when they are there.
  const render = useCallback(
    (at: number) => {
      const row = rowAt(at);
      return <Row key={at} place={at} row={row} isSelected={at === place} isOfSpan={marked.has(row?.n)} />;
    },
    [place, marked, shown, arrivals.value],
  );
  return (
    <section class="frames" aria-label="Frames">
      <Overview />
      <VirtualRows
        class="grid"
        role="grid"
        aria-label="Frames"
        aria-rowcount={count + 1}
        aria-colcount={shown.length}
        aria-activedescendant={place === undefined ? undefined : `row-${place}`}
        tabIndex={0}
        count={count}
        rowHeight={rowHeight}
        reveal={place}
        render={render}
        head={
          <div class="row head" role="row" aria-rowindex={1}>
            {shown.map(({ name, title }) => (
              <span key={name} role="columnheader" class={name}>
                {title}
              </span>
            ))}
          </div>
        }
      />
      {count === 0 && (
        <p class="empty">{view.value?.total === 0 ? "There are no messages yet." : "No frame matches the filter."}</p>
      )}
    </section>
  );
}

interface RowOptions {
  readonly place: number;
  readonly row: PageRow | undefined;
  readonly isSelected: boolean;
  /** Whether it belongs to the span that the timeline shows. */
  readonly isOfSpan: boolean;
}

function Row({ place, row, isSelected, isOfSpan }: RowOptions): JSX.Element {
  const bad = row?.rules.some(({ level }) => level === "must") === true;
  return (
    // The grid has the focus, and its keys select rows.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      class={`row ${row?.kind ?? ""} ${bad ? "bad" : ""} ${isSelected ? "selected" : ""} ${isOfSpan ? "of-span" : ""}`}
      id={`row-${place}`}
      role="row"
      aria-rowindex={place + 2}
      aria-selected={isSelected}
      onClick={() => {
        follows.value = false;
        void selectPlace(place);
      }}
      onDblClick={({ target }) => row !== undefined && filterByCell(row, target)}
    >
      {row === undefined ? <span role="gridcell">…</span> : shownColumns.value.map(cellOf(row, place))}
    </div>
  );
}

/** Adds the filter condition of the cell, or else of the call. */
function filterByCell(row: PageRow, target: EventTarget | null): void {
  const column = target instanceof Element ? target.closest('[role="gridcell"]')?.classList[0] : undefined;
  const conditions = conditionsOf(row);
  addFilter(conditions[column ?? ""] ?? conditions.n ?? `kind:${row.kind}`);
}

function cellOf(row: PageRow, place: number): (column: Column) => JSX.Element {
  return ({ name }) => (
    <span
      key={name}
      role="gridcell"
      class={name === "from" ? `from ${row.from ?? ""}` : name}
      title={name === "what" ? row.what : undefined}
    >
      {cells[name](row, place)}
    </span>
  );
}

/** The contents of the columns. */
const cells: Readonly<Record<ColumnName, (row: PageRow, place: number) => ComponentChildren>> = {
  n: ({ n }) => n,
  time: ({ at }) => secondsText(at),
  since: ({ at }, place) => {
    const before = place === 0 ? undefined : rowAt(place - 1);
    return before && `+${durationText(Math.max(0, at - before.at))}`;
  },
  from: ({ from }) => from && [<Icon key="icon" name={from} />, ` ${from}`],
  kind: ({ kind }) => kind,
  id: ({ id, pair }) => [id, pair !== undefined && <span class="pair"> ↔ {pair}</span>],
  what: ({ what }) => what,
  latency: ({ latency, waits, refusal }) =>
    latency !== undefined ? durationText(latency) : waits ? "waiting" : refusal && `HTTP ${refusal}`,
  size: ({ size }) => size !== undefined && bytesText(size),
  verdict: ({ rules }) =>
    rules.map(({ id: rule, level }) => (
      <span key={rule} class={level}>
        <Icon name={level} /> {rule}
      </span>
    )),
  waterfall: (row) => <Bar row={row} />,
};

/** When the row crossed, and of a request how long its response took. */
function Bar({ row: { at, until, waits, from } }: { readonly row: PageRow }): JSX.Element {
  const [first, last] = waterfall.value;
  const end = Math.min(until ?? (waits ? last : at), playback.value?.at ?? Number.POSITIVE_INFINITY, last);
  const { left, width } = extent(at - first, end - first, last - first);
  return <i class={`bar ${from ?? ""} ${waits ? "waits" : ""}`} style={{ left, width: `max(3px, ${width})` }} />;
}

/** The time that the waterfall shows: that of the filter, or of the whole recording. */
const waterfall = computed((): readonly [from: number, until: number] => {
  const [from = 0, until = 0] = shownTimes.value;
  return until > from ? [from, Math.min(until, duration.value)] : [0, duration.value];
});

/** Pixels from which a press that moves selects a range of time. */
const dragged = 4;

/** How much crossed when, over the whole recording. A click goes there; a press that moves filters by the time. */
function Overview(): JSX.Element {
  const [drag, setDrag] = useState<readonly [from: number, to: number]>();
  const buckets = overview.value;
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  const whole = duration.value;
  /** The time at the pointer, in milliseconds. */
  const timeAt = ({ clientX, currentTarget }: TargetedPointerEvent<HTMLElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width)) * whole;
  };
  const [from, to] = [...(drag ?? shownTimes.value)].sort((a, b) => a - b);
  return (
    // For the eye and the mouse: the list and its keys lead to every row, and choose a range of time, as well.
    <div
      class="overview"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag([timeAt(event), timeAt(event)]);
      }}
      onPointerMove={(event) => drag !== undefined && setDrag([drag[0], timeAt(event)])}
      onPointerCancel={() => setDrag(undefined)}
      onPointerUp={(event) => {
        const { width } = event.currentTarget.getBoundingClientRect();
        const at = timeAt(event);
        if (drag !== undefined && (Math.abs(at - drag[0]) / whole) * width >= dragged) showTimes(drag[0], at);
        else {
          const before = buckets.slice(0, Math.floor((at / whole) * buckets.length));
          follows.value = false;
          void selectPlace(before.reduce((sum, { count }) => sum + count, 0));
        }
        setDrag(undefined);
      }}
      title={`${secondsText(whole)} s: draw over it to see only that time`}
    >
      {from !== undefined && to !== undefined && <span class="brush" style={extent(from, to, whole)} />}
      {playback.value !== undefined && <b style={{ left: `${(playback.value.at / whole) * 100}%` }} />}
      {buckets.map(({ count, bad }, index) => (
        <i key={index} class={bad ? "bad" : ""} style={{ height: `${count === 0 ? 0 : 15 + (count / most) * 85}%` }} />
      ))}
    </div>
  );
}

function extent(from: number, to: number, whole: number): { readonly left: string; readonly width: string } {
  return { left: `${(from / whole) * 100}%`, width: `${((Math.min(to, whole) - from) / whole) * 100}%` };
}
