import { escapeControls } from "@parlance/mcp/jsonrpc";
import { literalOf } from "@parlance/wire";
import { computed, signal } from "@preact/signals";
import type { JSX, TargetedMouseEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { edit, editable } from "./act/act-state.js";
import { ChangesPane, PairPane } from "./compared-panes.js";
import { conditionsOf } from "./conditions.js";
import { Copy } from "./copy.js";
import { bytesText, count, durationText, secondsText } from "./format.js";
import { Icon } from "./icons.js";
import { lineAt } from "./json/json-lines.js";
import { bytesOf, JsonPane, lineHeight, readLines } from "./json/json-pane.js";
import { Facts } from "./panels/facts.js";
import type { PageFrame, PageVerdict } from "./protocol.js";
import { addFilter, detailMode, frame, select, selection } from "./state.js";
import { VirtualRows } from "./virtual-rows.js";

/** The bytes of the frame. */
const bytes = computed(() => bytesOf(frame.value));

/** The offsets of folded values. */
const folded = signal<ReadonlySet<number>>(new Set());

const read = computed(() => readLines(bytes.value, folded.value));

/** Everything about the selected row. */
export function FrameDetail(): JSX.Element {
  const shown = frame.value;
  if (shown === undefined) return <section class="detail" aria-label="Frame" />;
  return (
    <section class="detail" aria-label="Frame">
      <Head shown={shown} />
      {shown.bytes === undefined ? <RowFacts shown={shown} /> : <Panes shown={shown} />}
      <Verdicts shown={shown} />
    </section>
  );
}

function Head({ shown }: { readonly shown: PageFrame }): JSX.Element {
  const { row, channel, session, revision, pending, writes } = shown;
  const { n, at, from, kind, id, pair, latency, size } = row;
  const way = from === undefined ? "" : from === "client" ? "client → server" : "server → client";
  const facts = [
    way,
    channel,
    `at ${secondsText(at)} s`,
    size === undefined ? undefined : bytesText(size),
    writes.length > 1 ? `${count(writes.length, "write")}` : undefined,
    latency === undefined ? undefined : `after ${durationText(latency)}`,
    session === undefined ? undefined : `session ${session}`,
    revision,
  ];
  const said = facts.filter((fact) => fact !== undefined && fact !== "").join("  ·  ");
  const conditions = Object.values(conditionsOf(row)).filter((condition) => condition !== undefined);
  return (
    <header class="about">
      <div>
        <h2>
          {kind} {n}
          {id !== undefined && <code> id {id}</code>}
        </h2>
        <p title={said}>{said}</p>
        {pair !== undefined && (
          <button type="button" onClick={() => void select(pair)}>
            {kind === "req" ? "response" : "request"} {pair} <kbd>]</kbd>
          </button>
        )}
        {shown.bytes !== undefined && <Copy shown={shown} />}
        {editable.value && (
          <button type="button" onClick={() => void edit()}>
            edit &amp; resend <kbd>e</kbd>
          </button>
        )}
      </div>
      <div>
        {pending !== undefined && (
          <p class="pending" title={pending}>
            <Icon name="waits" /> {pending}
          </p>
        )}
        <p class="conditions">
          {conditions.map((condition) => (
            <button key={condition} type="button" title={`filter by ${condition}`} onClick={() => addFilter(condition)}>
              {condition}
            </button>
          ))}
        </p>
        {shown.bytes !== undefined && <Views />}
      </div>
    </header>
  );
}

/** The views of a frame, with their keys. */
export const views = [
  { mode: "bytes", title: "Bytes and JSON", key: "b", does: "the bytes beside the JSON" },
  { mode: "pair", title: "Pair side by side", key: "s", does: "request and response side by side" },
  { mode: "changes", title: "Changes", key: "u", does: "the changes since the previous message of the same method" },
] as const;

function Views(): JSX.Element {
  return (
    <nav class="views" aria-label="Views of the frame">
      {views.map(({ mode, title, key }) => (
        <button
          key={mode}
          type="button"
          aria-pressed={mode === detailMode.value}
          onClick={() => (detailMode.value = mode)}
        >
          {title} <kbd>{key}</kbd>
        </button>
      ))}
    </nav>
  );
}

/** The selected frame, beside its bytes, the other message of its pair, or its changes. */
function Panes({ shown }: { readonly shown: PageFrame }): JSX.Element {
  const { row, verdicts } = shown;
  const mode = detailMode.value;
  const own = (
    <JsonPane
      key="own"
      {...read.value}
      title={mode === "bytes" ? undefined : `${row.kind} ${row.n}`}
      verdicts={verdicts}
      folded={folded.value}
      onFold={(next) => (folded.value = next)}
      range={selection.value}
      onSelect={selectValue}
    />
  );
  const [left, right] = {
    bytes: [<Bytes key="bytes" shown={shown} />, own],
    // The request is on the left.
    pair:
      row.kind === "req" ? [own, <PairPane key="pair" shown={shown} />] : [<PairPane key="pair" shown={shown} />, own],
    changes: [own, <ChangesPane key="changes" />],
  }[mode];
  return (
    <div class={`panes ${mode === "bytes" ? "" : "equal"}`}>
      {left}
      {right}
    </div>
  );
}

/** The pointer of the selected value. */
const pointer = computed(() => {
  const range = selection.value;
  return range === undefined ? undefined : lineAt(read.value.lines, range[0])?.pointer;
});

/** Selects the innermost value at a byte. */
function selectValue(offset: number): void {
  selection.value = lineAt(read.value.lines, offset)?.value ?? [offset, offset + 1];
}

const perLine = 16;

/** Whether the bytes show as text. */
const asText = signal(false);

function Bytes({ shown: { writes, row } }: { readonly shown: PageFrame }): JSX.Element {
  const all = bytes.value ?? new Uint8Array(0);
  const range = selection.value;
  return (
    <div class="pane">
      <h3>
        Bytes{" "}
        <small>
          {bytesText(all.length)}
          {range !== undefined && ` · ${range[0]}–${range[1] - 1} selected`}
        </small>
        <button type="button" aria-pressed={asText.value} onClick={() => (asText.value = !asText.value)}>
          as text
        </button>
        {pointer.value !== undefined && pointer.value !== "" && (
          <button
            type="button"
            class="pointer"
            title="apply as filter"
            onClick={() => addFilter(filterOf(pointer.value ?? "", all))}
          >
            {pointer.value}
          </button>
        )}
      </h3>
      {writes.length > 1 && <Writes writes={writes} size={all.length} />}
      {asText.value ? (
        <Text key={row.n} all={all} range={range} />
      ) : (
        <VirtualRows
          class="hex"
          role="group"
          aria-label="Bytes in hexadecimal digits"
          tabIndex={0}
          count={Math.ceil(all.length / perLine)}
          rowHeight={lineHeight}
          reveal={range === undefined ? undefined : Math.floor(range[0] / perLine)}
          render={(place) => <HexLine key={place} place={place} all={all} range={range} />}
        />
      )}
    </div>
  );
}

/** The most writes that show. */
const mostWrites = 100;

interface WritesOptions {
  readonly writes: PageFrame["writes"];
  /** Bytes of the frame. */
  readonly size: number;
}

/** The writes in which the frame came, each with its bytes and the time since the one before. */
function Writes({ writes, size }: WritesOptions): JSX.Element {
  return (
    <p class="writes">
      <span>{count(writes.length, "write")}:</span>
      {writes.slice(0, mostWrites).map(([offset, at], index) => {
        const end = writes[index + 1]?.[0] ?? size;
        const before = writes[index - 1]?.[1];
        return (
          <button
            key={offset}
            type="button"
            aria-pressed={selection.value?.[0] === offset && selection.value[1] === end}
            title={`at ${secondsText(at)} s`}
            onClick={() => (selection.value = [offset, end])}
          >
            {offset}–{end - 1} {before === undefined ? `at ${secondsText(at)} s` : `+${durationText(at - before)}`}
          </button>
        );
      })}
      {writes.length > mostWrites && <span>and {writes.length - mostWrites} more</span>}
    </p>
  );
}

/** Bytes that show as text around the selection; the digits have all. */
const longestText = 50_000;

interface TextOptions {
  readonly all: Uint8Array;
  readonly range: readonly [number, number] | undefined;
}

/** The bytes as text, with the selected ones marked. */
function Text({ all, range }: TextOptions): JSX.Element {
  const element = useRef<HTMLPreElement>(null);
  const [start, end] = range ?? [0, 0];
  useEffect(() => element.current?.querySelector("mark")?.scrollIntoView({ block: "nearest" }), [start, end]);
  const first = Math.max(0, start - longestText / 2);
  const last = Math.min(all.length, first + longestText);
  const text = (from: number, to: number): string =>
    new TextDecoder()
      .decode(all.subarray(from, Math.min(to, last)))
      .split("\n")
      .map(escapeControls)
      .join("\n");
  return (
    <pre ref={element} class="text" role="group" aria-label="Bytes as text" tabIndex={0}>
      {first > 0 && "… "}
      {text(first, start)}
      <mark>{text(start, end)}</mark>
      {text(end, last)}
      {last < all.length && " …"}
    </pre>
  );
}

/** A condition that finds frames with the selected value. */
function filterOf(at: string, all: Uint8Array): string {
  const range = selection.value;
  const literal = range === undefined ? "" : literalOf({ start: range[0], end: range[1] }, all);
  return /^(?:"[^"\\]{1,80}"|-?\d+|true|false|null)$/.test(literal) ? `${at}=${literal}` : `${at} has`;
}

interface HexLineOptions {
  readonly place: number;
  readonly all: Uint8Array;
  readonly range: readonly [number, number] | undefined;
}

/** A line of bytes: one element with up to three parts, before, in and after the selection. */
function HexLine({ place, all, range }: HexLineOptions): JSX.Element {
  const offset = place * perLine;
  const line = all.subarray(offset, offset + perLine);
  const from = Math.min(Math.max((range?.[0] ?? 0) - offset, 0), line.length);
  const to = Math.min(Math.max((range?.[1] ?? 0) - offset, from), line.length);
  const parts = [line.subarray(0, from), line.subarray(from, to), line.subarray(to)] as const;
  return (
    // The same is in the pane beside it, where every value is a button.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    // biome-ignore lint/a11y/noStaticElementInteractions: see above
    <div class="line" onClick={(event) => selectValue(offset + byteAt(event))}>
      <span class="offset">{offset.toString(16).padStart(4, "0")}</span>
      <span class="digits">
        {digits(parts[0])}
        <mark>{digits(parts[1])}</mark>
        {digits(parts[2])}
        {"   ".repeat(perLine - line.length)}
      </span>
      <span class="glyphs">
        {glyphs(parts[0])}
        <mark>{glyphs(parts[1])}</mark>
        {glyphs(parts[2])}
      </span>
    </div>
  );
}

/** The clicked byte of a line, by its column: three characters for the digits of a byte, or one for its glyph. */
function byteAt({ currentTarget, target, clientX }: TargetedMouseEvent<HTMLElement>): number {
  const column = target instanceof Element ? target.closest(".digits, .glyphs") : null;
  if (column === null) return 0;
  const { left } = column.getBoundingClientRect();
  const width =
    Number.parseFloat(getComputedStyle(currentTarget).getPropertyValue("--character")) ||
    column.getBoundingClientRect().width / (column.textContent?.length ?? 1);
  const characters = (clientX - left) / width;
  return Math.min(perLine - 1, Math.max(0, Math.floor(column.className === "digits" ? characters / 3 : characters)));
}

function digits(part: Uint8Array): string {
  return Array.from(part, (byte) => `${byte.toString(16).padStart(2, "0")} `).join("");
}

function glyphs(part: Uint8Array): string {
  return Array.from(part, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join("");
}

function RowFacts({ shown: { headers, facts, row } }: { readonly shown: PageFrame }): JSX.Element {
  return (
    <div class="pane facts">
      <p>{row.what}</p>
      <Facts rows={[...facts, ...headers]} />
    </div>
  );
}

function Verdicts({ shown: { verdicts, unjudged, row } }: { readonly shown: PageFrame }): JSX.Element {
  return (
    <div class="verdicts" role="region" aria-label="Verdicts" tabIndex={0}>
      {unjudged !== undefined && <p>not judged: {unjudged}</p>}
      {verdicts.length === 0 && unjudged === undefined && (
        <p class="ok">{row.n === undefined ? "" : "breaks no rule"}</p>
      )}
      {verdicts.map((verdict) => (
        <VerdictCard key={`${verdict.rule} ${verdict.pointer} ${verdict.says}`} verdict={verdict} />
      ))}
    </div>
  );
}

const strength = { must: "broke it", should: "should not", may: "worth knowing" } as const;

function VerdictCard({ verdict }: { readonly verdict: PageVerdict }): JSX.Element {
  const {
    rule,
    level,
    party,
    pointer: at,
    range,
    header,
    says,
    demands,
    sentence,
    version,
    spec,
    right,
    mend,
  } = verdict;
  return (
    <article class={`card ${level}`}>
      <h3>
        <Icon name={level} /> {rule}
        <b>{level === "must" ? `${party} ${strength.must}` : `${party}: ${strength[level]}`}</b>
        {at !== undefined && at !== "" && <code>{at}</code>}
        {header !== undefined && <code>header {header}</code>}
        {range !== undefined && (
          <button type="button" onClick={() => (selection.value = range)}>
            bytes {range[0]}–{range[1] - 1}
          </button>
        )}
        <button type="button" onClick={() => addFilter(`rule:${rule}`)}>
          all of {rule}
        </button>
      </h3>
      <div class="sides">
        <div>
          <p>{says}</p>
          <p class="demands">{demands}</p>
          {sentence !== undefined && <blockquote>{sentence}</blockquote>}
          <a href={spec} target="_blank" rel="noreferrer">
            specification {version}
          </a>
        </div>
        <div class="mends">
          {right !== undefined && <Right parts={right} />}
          {mend !== undefined && (
            <p>
              <b class="remedy">change the code:</b> {mend.says}
              {mend.code !== undefined && <code>{mend.code}</code>}
            </p>
          )}
        </div>
      </div>
    </article>
  );
}

/** The message as it should have been. */
function Right({
  parts: [before, changed, after],
}: {
  readonly parts: NonNullable<PageVerdict["right"]>;
}): JSX.Element {
  return (
    <p>
      <b class="remedy">right would be:</b>{" "}
      {before + changed + after === "" ? (
        "no message"
      ) : (
        <code>
          {before}
          <ins>{changed}</ins>
          {after}
        </code>
      )}
    </p>
  );
}
