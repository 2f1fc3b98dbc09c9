import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { acting, choose, edit, focusInPanel } from "./act/act-state.js";
import { toggleColumns } from "./columns.js";
import { views } from "./frame-detail.js";
import { loadPanel, panels } from "./panels/panels.js";
import { togglePlayback } from "./player.js";
import {
  detailMode,
  focusOn,
  markTime,
  move,
  panel,
  selectedFrame,
  selectPair,
  selectViolation,
  showAllRows,
  toggleFollowing,
} from "./state.js";

/** Whether the list of keys is open. */
export const isHelpOpen = signal(false);

interface Key {
  readonly keys: readonly string[];
  readonly does: string;
  readonly run: () => void | Promise<void>;
}

const lines = 20;

const by = (rows: number) => (): void => move((place) => place + rows);

const keys: readonly Key[] = [
  { keys: ["j", "ArrowDown"], does: "next row", run: by(1) },
  { keys: ["k", "ArrowUp"], does: "previous row", run: by(-1) },
  { keys: ["PageDown"], does: `${lines} rows on`, run: by(lines) },
  { keys: ["PageUp"], does: `${lines} rows back`, run: by(-lines) },
  { keys: ["g", "Home"], does: "first row", run: by(Number.NEGATIVE_INFINITY) },
  { keys: ["G", "End"], does: "last row", run: by(Number.POSITIVE_INFINITY) },
  {
    keys: ["f"],
    does: "follow a live recording, or stop following",
    run: toggleFollowing,
  },
  { keys: ["n"], does: "next violation", run: () => selectViolation(false) },
  { keys: ["N"], does: "previous violation", run: () => selectViolation(true) },
  {
    keys: ["]", "["],
    does: "the response of a request, or the request of a response",
    run: selectPair,
  },
  ...panels.map(({ name, title, key }) => ({
    keys: [key],
    does: `panel: ${title}`,
    run: () => {
      panel.value = name;
      const shown = { frame: '[role="grid"]', timeline: ".lanes" }[name as string] ?? ".panel";
      return loadPanel(name).then(() => focusOn(shown));
    },
  })),
  ...views.map(({ mode, key, does }) => ({
    keys: [key],
    does,
    run: () => {
      panel.value = "frame";
      detailMode.value = mode;
    },
  })),
  {
    keys: ["t"],
    does: "the tools, resources and prompts of the server",
    run: () => {
      if (acting.value === undefined) return;
      choose(undefined);
      focusInPanel("#sought");
    },
  },
  {
    keys: ["a"],
    does: "answer the input requests of the server",
    run: () => document.querySelector<HTMLElement>(".input-request :is(input, textarea, select, button)")?.focus(),
  },
  { keys: ["e"], does: "edit the selected request, and send it again", run: edit },
  {
    keys: ["y"],
    does: "copy the selected frame: raw, as cURL, as a command line, as a test",
    run: async () => {
      // At once if it is there, for the next key; it copies the frame that is being read.
      if (document.getElementById("copy") === null) await selectedFrame();
      focusOn("#copy");
    },
  },
  { keys: ["x"], does: "export what the filter shows", run: () => document.getElementById("export")?.focus() },
  { keys: ["r"], does: "play the recording back, or show all of it again", run: togglePlayback },
  { keys: ["m"], does: "begin a range of time here, or end it and show only its rows", run: markTime },
  { keys: ["/"], does: "write a filter", run: () => document.getElementById("filter")?.focus() },
  {
    keys: ["Escape"],
    does: "clear the filter",
    run: showAllRows,
  },
  { keys: ["o"], does: "choose the columns of the list", run: toggleColumns },
  { keys: ["?"], does: "this list", run: () => (isHelpOpen.value = true) },
];

/** The keys that do the same in the panel of the server as in the list. */
const fromPanel: ReadonlySet<string> = new Set(["?", "/", "t", "a"]);

function isField(target: EventTarget | null): boolean {
  return [HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement].some((type) => target instanceof type);
}

/** Handles the keys of the page. Keys in an input belong to it, except the one that leaves it. */
export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isHelpOpen.value) return;
    const { target } = event;
    const isInPanel = target instanceof Element && target.closest(".act") !== null;
    const isInForm = target instanceof Element && target.closest(".act, .intercept") !== null;
    if (isField(target) || (isInPanel && !fromPanel.has(event.key))) {
      const leaves =
        event.key === "Escape" || (event.key === "Enter" && target instanceof HTMLInputElement && !isInForm);
      if (leaves) document.querySelector<HTMLElement>('[role="grid"]')?.focus();
      return;
    }
    // The other panes scroll by these.
    const scrolls =
      target instanceof Element && target.closest(".hex, .text, .json, .changes, .verdicts, .panel") !== null;
    if (scrolls && /^(?:Arrow|Page|Home|End)/.test(event.key)) return;
    const key = keys.find((each) => each.keys.includes(event.key));
    if (key === undefined) return;
    event.preventDefault();
    void key.run();
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
      <p>A double click on a cell filters by it. Tab leads from the list to the bytes, the JSON and the verdicts.</p>
      <form method="dialog">
        <button type="submit">close</button>
      </form>
    </dialog>
  );
}
