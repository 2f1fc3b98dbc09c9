import type { JSX } from "preact";
import { useCallback, useRef } from "preact/hooks";
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
  view,
} from "./state.js";
import { VirtualRows } from "./virtual-rows.js";

const rowHeight = 22;

const columns = ["n", "time (s)", "from", "kind", "id ↔ pair", "method, or what it says", "latency", "size", "verdict"];

/** The rows that match the filter, in the order of their arrival. */
export function FrameList(): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const count = listed.value;
  // A playback may not have come to the selected row.
  const place = (selectedPlace.value ?? count) < count ? selectedPlace.value : undefined;
  const marked = spanRows.value;
  void arrivals.value; // Rows that are drawn empty are drawn again when they are there.
  const render = useCallback(
    (at: number) => {
      const row = rowAt(at);
      return <Row key={at} place={at} row={row} isSelected={at === place} isOfSpan={marked.has(row?.n)} />;
    },
    [place, marked, arrivals.value],
  );
  return (
    <section class="frames" aria-label="Frames">
      <Overview />
      <VirtualRows
        element={list}
        class="grid"
        role="grid"
        aria-label="Frames"
        aria-rowcount={count + 1}
        aria-colcount={columns.length + 1}
        aria-activedescendant={place === undefined ? undefined : `row-${place}`}
        tabIndex={0}
        count={count}
        rowHeight={rowHeight}
        reveal={place}
        render={render}
        head={
          <div class="row head" role="row" aria-rowindex={1}>
            {columns.map((name) => (
              <span key={name} role="columnheader" class={cellClass(name)}>
                {name}
              </span>
            ))}
            <span role="columnheader" class="waterfall">
              waterfall
            </span>
          </div>
        }
      />
      {count === 0 && (
        <p class="empty">{view.value?.total === 0 ? "Nothing has crossed yet." : "No frame matches the filter."}</p>
      )}
    </section>
  );
}

function cellClass(name: string): string {
  return { "time (s)": "time", "id ↔ pair": "id", "method, or what it says": "what" }[name] ?? name;
}

interface RowOptions {
  readonly place: number;
  readonly row: PageRow | undefined;
  readonly isSelected: boolean;
  /** It belongs to the span that the timeline shows. */
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
      {row === undefined ? <span role="gridcell">…</span> : <Cells row={row} />}
    </div>
  );
}

/** Adds the condition of the cell, or else of the call. */
function filterByCell(row: PageRow, target: EventTarget | null): void {
  const column = target instanceof Element ? target.closest('[role="gridcell"]')?.classList[0] : undefined;
  const conditions = conditionsOf(row);
  addFilter(conditions[column ?? ""] ?? conditions.n ?? `kind:${row.kind}`);
}

function Cells({ row }: { readonly row: PageRow }): JSX.Element {
  const { n, at, from, kind, id, pair, what, latency, waits, refusal, size, rules } = row;
  return (
    <>
      <span role="gridcell" class="n">
        {n}
      </span>
      <span role="gridcell" class="time">
        {secondsText(at)}
      </span>
      <span role="gridcell" class={`from ${from ?? ""}`}>
        {from !== undefined && <Icon name={from} />} {from}
      </span>
      <span role="gridcell" class="kind">
        {kind}
      </span>
      <span role="gridcell" class="id">
        {id}
        {pair !== undefined && <span class="pair"> ↔ {pair}</span>}
      </span>
      <span role="gridcell" class="what" title={what}>
        {what}
      </span>
      <span role="gridcell" class="latency">
        {latency !== undefined && durationText(latency)}
        {waits && "waiting"}
        {refusal !== undefined && `HTTP ${refusal}`}
      </span>
      <span role="gridcell" class="size">
        {size === undefined ? "" : bytesText(size)}
      </span>
      <span role="gridcell" class="verdict">
        {rules.map(({ id: rule, level }) => (
          <span key={rule} class={level}>
            <Icon name={level} /> {rule}
          </span>
        ))}
      </span>
      <span role="gridcell" class="waterfall">
        <Bar row={row} />
      </span>
    </>
  );
}

/** When the row crossed, and of a request how long its response took. */
function Bar({ row: { at, until, waits, from } }: { readonly row: PageRow }): JSX.Element {
  const whole = duration.value;
  const end = Math.min(until ?? (waits ? whole : at), playback.value?.at ?? Number.POSITIVE_INFINITY);
  const style = { left: `${(at / whole) * 100}%`, width: `max(3px, ${((end - at) / whole) * 100}%)` };
  return <i class={`bar ${from ?? ""} ${waits ? "waits" : ""}`} style={style} />;
}

/** How much crossed when, over the whole recording. A click goes there. */
function Overview(): JSX.Element {
  const buckets = overview.value;
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  const whole = duration.value;
  return (
    // For the eye and the mouse: the list and its keys lead to every row as well.
    <div
      class="overview"
      aria-hidden="true"
      onClick={({ currentTarget, clientX }) => {
        const { left, width } = currentTarget.getBoundingClientRect();
        const before = buckets.slice(0, Math.floor(((clientX - left) / width) * buckets.length));
        follows.value = false;
        void selectPlace(before.reduce((sum, { count }) => sum + count, 0));
      }}
      title={`${secondsText(whole)} s`}
    >
      {playback.value !== undefined && <b style={{ left: `${(playback.value.at / whole) * 100}%` }} />}
      {buckets.map(({ count, bad }, index) => (
        <i key={index} class={bad ? "bad" : ""} style={{ height: `${count === 0 ? 0 : 15 + (count / most) * 85}%` }} />
      ))}
    </div>
  );
}
