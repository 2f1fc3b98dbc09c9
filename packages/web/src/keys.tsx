import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { filter, follows, frame, open, select, selectedPlace, selectPlace, selectViolation, view } from "./state.js";

/** Whether the list of keys is open. */
export const isHelpOpen = signal(false);

interface Key {
  readonly keys: readonly string[];
  readonly does: string;
  readonly run: () => void;
}

const lines = 20;

const move = (by: number) => (): void => {
  follows.value = false;
  selectPlace((selectedPlace.value ?? -1) + by);
};

const keys: readonly Key[] = [
  { keys: ["j", "ArrowDown"], does: "next row", run: move(1) },
  { keys: ["k", "ArrowUp"], does: "previous row", run: move(-1) },
  { keys: ["PageDown"], does: `${lines} rows on`, run: move(lines) },
  { keys: ["PageUp"], does: `${lines} rows back`, run: move(-lines) },
  { keys: ["g", "Home"], does: "first row", run: move(Number.NEGATIVE_INFINITY) },
  { keys: ["G", "End"], does: "last row", run: move(Number.POSITIVE_INFINITY) },
  {
    keys: ["f"],
    does: "follow a live recording, or stop following",
    run: () => {
      follows.value = view.value?.live === true && !follows.value;
      if (follows.value) selectPlace((view.value?.count ?? 0) - 1);
    },
  },
  { keys: ["n"], does: "next violation", run: () => void selectViolation(false) },
  { keys: ["N"], does: "previous violation", run: () => void selectViolation(true) },
  {
    keys: ["]", "["],
    does: "the response of a request, or the request of a response",
    run: () => {
      const pair = frame.value?.row.pair;
      if (pair !== undefined) void select(pair);
    },
  },
  { keys: ["/"], does: "write a filter", run: () => document.getElementById("filter")?.focus() },
  {
    keys: ["Escape"],
    does: "clear the filter",
    run: () => {
      filter.value = "";
      void open();
    },
  },
  { keys: ["?"], does: "this list", run: () => (isHelpOpen.value = true) },
];

/** Handles the keys of the page. Those of an input belong to it, but for the one that leaves it. */
export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isHelpOpen.value) return;
    const { target } = event;
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
      if (event.key === "Escape" || (event.key === "Enter" && target instanceof HTMLInputElement))
        document.querySelector<HTMLElement>('[role="grid"]')?.focus();
      return;
    }
    // The other panes scroll by these.
    const scrolls = target instanceof Element && target.closest(".hex, .json, .verdicts") !== null;
    if (scrolls && /^(?:Arrow|Page|Home|End)/.test(event.key)) return;
    const key = keys.find((each) => each.keys.includes(event.key));
    if (key === undefined) return;
    event.preventDefault();
    key.run();
  });
}

const names: Readonly<Record<string, string>> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };

/** The list of keys. */
export function Help(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={() => (isHelpOpen.value = false)}>
      <h2 id="keys">Keys</h2>
      <dl>
        {keys.map(({ keys: all, does }) => (
          <div key={does}>
            <dt>
              {all.map((key) => (
                <kbd key={key}>{names[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p>
        A double click on a row filters by its call. Tab leads from the list to the bytes, the JSON and the verdicts.
      </p>
      <form method="dialog">
        <button type="submit">close</button>
      </form>
    </dialog>
  );
}
