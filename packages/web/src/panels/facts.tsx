import { useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../connection.js";
import type { PageMethods } from "../protocol.js";
import { panel, select, view } from "../state.js";

/** Milliseconds between two reads of facts about a growing recording. */
const pause = 250;

/** Facts about the open recording, read again when it has grown. Undefined until they have been read. */
export function useFacts<Name extends "contracts" | "costs" | "processes">(
  name: Name,
): ReturnType<PageMethods[Name]> | undefined {
  const [facts, setFacts] = useState<ReturnType<PageMethods[Name]>>();
  const timer = useRef<number | undefined>(undefined);
  useSignalEffect(() => {
    if (view.value === undefined) return;
    timer.current ??= window.setTimeout(
      () => {
        timer.current = undefined;
        call(name, {}).then(setFacts, () => undefined); // The state of the connection is shown elsewhere.
      },
      facts === undefined ? 0 : pause,
    );
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return facts;
}

interface FrameLinkOptions {
  readonly n: number;
  /** The bytes to select. */
  readonly range?: readonly [number, number] | undefined;
}

/** A button that shows a frame. */
export function FrameLink({ n, range }: FrameLinkOptions): JSX.Element {
  return (
    <button
      type="button"
      class="link"
      onClick={() => {
        panel.value = "frame";
        void select(n, range);
      }}
    >
      frame {n}
    </button>
  );
}

interface TableHeadOptions {
  readonly columns: readonly string[];
  /** The columns of numbers, which are aligned to the right. */
  readonly numbers?: readonly string[];
  /** Whether only screen readers have it. */
  readonly isUnseen?: boolean;
}

/** The titles of the columns of a table. */
export function TableHead({ columns, numbers = [], isUnseen = false }: TableHeadOptions): JSX.Element {
  return (
    <thead class={isUnseen ? "unseen" : undefined}>
      <tr>
        {columns.map((title) => (
          <th key={title} scope="col" class={numbers.includes(title) ? "number" : undefined}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** A fact by its name; it is left out if it is undefined. */
export type FactRow = readonly [name: string, value: string | undefined];

/** A list of facts. A name may come twice, such as that of an HTTP header. */
export function Facts({ rows }: { readonly rows: readonly FactRow[] }): JSX.Element {
  return (
    <dl>
      {rows.map(
        ([name, value], index) =>
          value !== undefined && (
            <div key={index}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
