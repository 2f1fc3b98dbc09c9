import type { JSX, TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { count, durationText, secondsText } from "../format.js";
import type { PageSpan, PageSpanDetail, PageSpanPart } from "../protocol.js";
import { onlySpan, select, selected, showOnlySpan } from "../state.js";
import { FrameLink, TableHead } from "./facts.js";
import {
  followTimeline,
  isZoomed,
  lanesWidth,
  pan,
  shownRange,
  span,
  timeline,
  zoomBy,
  zoomTo,
} from "./timeline-state.js";

/** The height of a lane, in pixels. */
const laneHeight = 22;

/** The space above the first lane in pixels, for the outline of a selected span. */
const gap = 3;

/** The number of labels on the time axis. */
const labels = 6;

/** The distance in pixels from which dragging selects a part of the recording. */
const dragged = 5;

/** Operations as spans; those that ran at the same time are in separate lanes. */
export function TimelinePanel(): JSX.Element {
  useEffect(followTimeline, []);
  const chosen = span.value;
  return (
    <section class="panel timeline" aria-label="Timeline">
      <Axis />
      <Lanes />
      {timeline.value.spans.length === 0 && <p class="nothing">No operation runs in this time.</p>}
      {chosen !== undefined && <SpanDetail shown={chosen} />}
    </section>
  );
}

/** The time axis, and the buttons that change the shown part. */
function Axis(): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      lanesWidth.value = element.current?.clientWidth ?? 0;
    });
    if (element.current !== null) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const [from, until] = shownRange.value;
  const times = Array.from({ length: labels }, (_, index) => from + ((until - from) * index) / labels);
  return (
    <div ref={element} class="axis">
      {times.map((time, index) => (
        <span key={index}>{secondsText(time).slice(0, -3)} s</span>
      ))}
      <div class="zoom">
        <button type="button" aria-label="Shorter time" onClick={() => zoomBy(0.5)}>
          +
        </button>
        <button type="button" aria-label="Longer time" disabled={!isZoomed.value} onClick={() => zoomBy(2)}>
          −
        </button>
        <button type="button" disabled={!isZoomed.value} onClick={showAll}>
          all
        </button>
      </div>
    </div>
  );
}

function showAll(): void {
  zoomTo(0, Number.POSITIVE_INFINITY);
}

/** The share of the shown time that is before a time, in percent. */
function percent(time: number): number {
  const [from, until] = shownRange.value;
  return Math.min(100, Math.max(0, ((time - from) / (until - from)) * 100));
}

function extent(at: number, until = Number.POSITIVE_INFINITY): { readonly left: string; readonly width: string } {
  return { left: `${percent(at)}%`, width: `${percent(until) - percent(at)}%` };
}

function Lanes(): JSX.Element {
  const [drag, setDrag] = useState<readonly [from: number, to: number]>();
  const { lanes, spans } = timeline.value;
  const active = shownSpan();
  const place = ({ clientX, currentTarget }: TargetedPointerEvent<HTMLElement>): number =>
    clientX - currentTarget.getBoundingClientRect().left;
  return (
    <div
      class="lanes"
      role="listbox"
      aria-label="Operations, by the time of their beginning"
      aria-activedescendant={active && `span-${active.n}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onWheel={onWheel}
      onPointerDown={(event) => setDrag([place(event), place(event)])}
      onPointerMove={(event) => drag !== undefined && setDrag([drag[0], place(event)])}
      onPointerLeave={() => setDrag(undefined)}
      onPointerUp={() => {
        if (drag !== undefined && isDragged(drag)) zoomTo(timeAt(Math.min(...drag)), timeAt(Math.max(...drag)));
        setDrag(undefined);
      }}
    >
      {spans.map((each) => (
        <Bar key={`${each.n} ${each.count}`} shown={each} isSelected={each === active} />
      ))}
      <div class="extent" role="presentation" style={{ height: `${lanes * laneHeight + gap}px` }} />
      {drag !== undefined && isDragged(drag) && (
        <i class="dragged" style={{ left: `${Math.min(...drag)}px`, width: `${Math.abs(drag[1] - drag[0])}px` }} />
      )}
    </div>
  );
}

function isDragged([from, to]: readonly [number, number]): boolean {
  return Math.abs(to - from) > dragged;
}

/** The time at a horizontal position of the lanes, in pixels. */
function timeAt(place: number): number {
  const [from, until] = shownRange.value;
  return from + (place / lanesWidth.value) * (until - from);
}

/** The selected span, or the merged narrow spans with it. */
function shownSpan(): PageSpan | undefined {
  const { n, at = 0 } = span.value ?? {};
  const { spans } = timeline.value;
  return (
    // The details of a span come later than the next key.
    spans.find((each) => each.n === selected.value) ??
    spans.find((each) => each.n === n) ??
    spans.find((each) => each.count > 1 && each.n < (n ?? 0) && at <= (each.until ?? Number.POSITIVE_INFINITY))
  );
}

interface BarOptions {
  readonly shown: PageSpan;
  readonly isSelected: boolean;
}

function Bar({ shown, isSelected }: BarOptions): JSX.Element {
  const { n, kind, count: spans, from, what, lane, at, until, isBad, parts, notices } = shown;
  const words = `${what}, ${until === undefined ? "waits" : durationText(until - at)}`;
  return (
    // The list has the focus, and its keys select spans.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      id={`span-${n}`}
      class={`span ${from} ${kind} ${until === undefined ? "waits" : ""} ${isBad ? "bad" : ""} ${spans > 1 ? "several" : ""}`}
      role="option"
      aria-selected={isSelected}
      aria-label={isBad ? `${words}, breaks a rule` : words}
      title={words}
      style={{ top: `${lane * laneHeight + gap}px`, ...extent(at, until) }}
      onClick={() => void select(n)}
      onDblClick={() => enter(shown)}
    >
      {parts.map(({ kind: part, at: begun, until: end }, index) => (
        <i key={index} class={part} style={within(shown, begun, end)} />
      ))}
      {notices.map((time, index) => (
        <i key={`tick ${index}`} class="tick" style={within(shown, time, time)} />
      ))}
      <b>{what}</b>
    </div>
  );
}

/** The place of a part in the visible part of its span, in percent. */
function within({ at, until }: PageSpan, begun: number, end: number | undefined): { left: string; width: string } {
  const [left, right] = [percent(at), percent(until ?? Number.POSITIVE_INFINITY)];
  const share = (time: number): number => ((percent(time) - left) / Math.max(right - left, Number.MIN_VALUE)) * 100;
  return {
    left: `${share(begun)}%`,
    width: `${share(end ?? Number.POSITIVE_INFINITY) - share(begun)}%`,
  };
}

/** Shows only the rows of a span; for merged narrow spans, zooms to them. */
function enter({ n, count: spans, at, until = Number.POSITIVE_INFINITY }: PageSpan): void {
  if (spans === 1) showOnlySpan(onlySpan.value === n ? undefined : n);
  else zoomTo(at, until);
}

function onKeyDown(event: TargetedKeyboardEvent<HTMLElement>): void {
  const { key } = event;
  const active = shownSpan();
  if (key === "ArrowRight") step(1);
  else if (key === "ArrowLeft") step(-1);
  else if (key === "ArrowDown") toLane(1);
  else if (key === "ArrowUp") toLane(-1);
  else if (key === "Enter" && active !== undefined) enter(active);
  else if (key === "+") zoomBy(0.5);
  else if (key === "-") zoomBy(2);
  else if (key === "0") showAll();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Selects the span that began before or after the selected one. */
function step(by: 1 | -1): void {
  const { spans } = timeline.value;
  const active = shownSpan();
  const next = spans[active === undefined ? 0 : spans.indexOf(active) + by];
  if (next === undefined) pan(by / 2);
  else reveal(next.n);
}

/** Selects the nearest span in the lane above or below. */
function toLane(by: 1 | -1): void {
  const active = shownSpan();
  const wanted = (active?.lane ?? -1) + by;
  const beside = timeline.value.spans.filter(({ lane }) => lane === wanted);
  const distance = ({ at }: PageSpan): number => Math.abs(at - (active?.at ?? 0));
  const [nearest] = beside.toSorted((a, b) => distance(a) - distance(b));
  if (nearest !== undefined) reveal(nearest.n);
}

function reveal(n: number): void {
  void select(n);
  document.getElementById(`span-${n}`)?.scrollIntoView({ block: "nearest" });
}

function onWheel(event: WheelEvent): void {
  const { ctrlKey, metaKey, deltaX, deltaY, offsetX, currentTarget, target } = event;
  if (ctrlKey || metaKey) zoomBy(deltaY > 0 ? 1.25 : 0.8, target === currentTarget ? timeAt(offsetX) : undefined);
  else if (Math.abs(deltaX) > Math.abs(deltaY)) pan(deltaX / lanesWidth.value);
  else return;
  event.preventDefault();
}

/** The maximum number of parts shown of a span. */
const mostParts = 100;

/** The selected span in words: which side waited, and its parts. */
function SpanDetail({ shown }: { readonly shown: PageSpanDetail }): JSX.Element {
  const { n, what, at, until, parts, partCount, noticeCount, rowCount } = shown;
  const isOnly = onlySpan.value === n;
  return (
    <article>
      <header>
        <h2>{what}</h2>
        <p>
          at {secondsText(at)} s · {until === undefined ? <b class="pending">waits</b> : durationText(until - at)}
          {waitText(shown)} · {count(rowCount, "row")}
          {noticeCount > 0 && ` · ${count(noticeCount, "notification")}`}
        </p>
        <button type="button" aria-pressed={isOnly} onClick={() => showOnlySpan(isOnly ? undefined : n)}>
          only these rows <kbd>⏎</kbd>
        </button>
      </header>
      <div class="parts" role="region" aria-label="Parts" tabIndex={0}>
        <table>
          <TableHead
            columns={["frame", "part", "from", "method", "after", "takes", "outcome"]}
            numbers={["after", "takes"]}
          />
          <tbody>
            {parts.slice(0, mostParts).map((part) => (
              <Part key={part.n} part={part} begun={at} />
            ))}
          </tbody>
        </table>
        {partCount > mostParts && <p class="nothing">and {partCount - mostParts} more</p>}
      </div>
    </article>
  );
}

function Part({ part, begun }: { readonly part: PageSpanPart; readonly begun: number }): JSX.Element {
  const { n, kind, from, what, at, until, outcome } = part;
  return (
    <tr>
      <td>
        <FrameLink n={n} />
      </td>
      <td>{kind}</td>
      <td>{from}</td>
      <td>
        <code>{what}</code>
      </td>
      <td class="number">{durationText(at - begun)}</td>
      <td class="number">{until === undefined ? "waits" : durationText(until - at)}</td>
      <td>{outcome}</td>
    </tr>
  );
}

/** Which side waited for the other, and how long. */
function waitText({ kind, from, waited }: PageSpanDetail): string {
  if (waited === 0) return "";
  const [asking, answering] = from === "client" ? ["client", "server"] : ["server", "client"];
  const who = kind === "sign-in" ? "no request was open" : `the ${answering} waited for the ${asking}`;
  return `, in which ${who} for ${durationText(waited)}`;
}
