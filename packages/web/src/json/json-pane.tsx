import { scanJson } from "@parlance/wire";
import type { JSX } from "preact";
import { Icon } from "../icons.js";
import type { PageFrame, PageVerdict } from "../protocol.js";
import { VirtualRows } from "../virtual-rows.js";
import { type JsonLine, linesOf } from "./json-lines.js";

/** The height of a line of bytes or JSON, in pixels. */
export const lineHeight = 18;

/** The bytes of a frame; undefined for a row without bytes. */
export function bytesOf(frame: PageFrame | undefined): Uint8Array | undefined {
  const base64 = frame?.bytes;
  return base64 === undefined ? undefined : Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** A frame as lines of JSON, or of text. */
export interface Lines {
  readonly lines: readonly JsonLine[];
  /** Why it is not JSON. */
  readonly fault: string | undefined;
}

/** The lines of a frame. @param folded the offsets of values that are folded */
export function readLines(bytes: Uint8Array | undefined, folded: ReadonlySet<number>): Lines {
  if (bytes === undefined || bytes.length === 0) return { lines: [], fault: undefined };
  const scan = scanJson(bytes);
  return scan.ok
    ? { lines: linesOf(scan.root, bytes, folded), fault: undefined }
    : { lines: linesOf(undefined, bytes, folded), fault: scan.fault.says };
}

interface JsonPaneOptions extends Lines {
  /** Default: JSON, or Text. */
  readonly title?: string | undefined;
  readonly verdicts: readonly PageVerdict[];
  readonly folded: ReadonlySet<number>;
  readonly onFold: (folded: ReadonlySet<number>) => void;
  /** The selected bytes. */
  readonly range: readonly [number, number] | undefined;
  /** Selects the value at a byte. */
  readonly onSelect: (offset: number) => void;
}

/** A message in its original spelling, line by line. */
export function JsonPane({ title, ...options }: JsonPaneOptions): JSX.Element {
  const { lines, fault, range } = options;
  const name = title ?? (fault === undefined ? "JSON" : "Text");
  // The line of the innermost value at the start of the selection.
  const revealed = range === undefined ? -1 : lines.findLastIndex((line) => line.start <= range[0]);
  return (
    <div class="pane">
      <h3>{name}</h3>
      {fault !== undefined && <p class="fault">not JSON: {fault}</p>}
      <VirtualRows
        class="json"
        role="group"
        aria-label={name}
        tabIndex={0}
        count={lines.length}
        rowHeight={lineHeight}
        reveal={revealed < 0 ? undefined : revealed}
        render={(place) => {
          const line = lines[place];
          return line === undefined ? null : <Line key={place} line={line} {...options} />;
        }}
      />
    </div>
  );
}

interface LineOptions extends JsonPaneOptions {
  readonly line: JsonLine;
}

function Line({ line, verdicts, folded, onFold, range, onSelect }: LineOptions): JSX.Element {
  const { depth, name, text, kind, start, end, foldable } = line;
  const isSelected = range !== undefined && start < range[1] && end > range[0];
  const verdict = verdicts.find((each) => each.range !== undefined && start <= each.range[0] && end > each.range[0]);
  const isFolded = folded.has(start);
  return (
    <div class={`line ${isSelected ? "selected" : ""}`} style={{ paddingLeft: `${depth * 2 + 1.5}ch` }}>
      {foldable && (
        <button
          type="button"
          class="fold"
          aria-expanded={!isFolded}
          aria-label={`${isFolded ? "unfold" : "fold"} ${name ?? "this value"}`}
          onClick={() => {
            const next = new Set(folded);
            if (!next.delete(start)) next.add(start);
            onFold(next);
          }}
        />
      )}
      <button type="button" class="value" onClick={() => onSelect(start)}>
        {name !== undefined && <span class="name">{name}: </span>}
        <span class={kind}>{text}</span>
      </button>
      {verdict !== undefined && verdict.range !== undefined && verdict.range[0] >= start && (
        <span class={`mark ${verdict.level}`}>
          <Icon name={verdict.level} /> {verdict.rule}
        </span>
      )}
    </div>
  );
}
