import { computed, signal } from "@preact/signals";
import type { JSX } from "preact";
import { call, tryCall } from "./connection.js";

/** The columns of the list, from left to right. */
const columns = [
  { name: "n", title: "n" },
  { name: "time", title: "time (s)" },
  { name: "since", title: "since the row before" },
  { name: "from", title: "from" },
  { name: "kind", title: "kind" },
  { name: "id", title: "id ↔ pair" },
  { name: "what", title: "method, or what it says" },
  { name: "latency", title: "latency" },
  { name: "size", title: "size" },
  { name: "verdict", title: "verdict" },
  { name: "waterfall", title: "waterfall" },
] as const;

/** A column of the list. */
export type Column = (typeof columns)[number];

/** The name of a column, and of the class of its cells. */
export type ColumnName = Column["name"];

/** The columns that were chosen to be left out; the command keeps them for other pages. Undefined if none was chosen. */
const chosen = signal<readonly string[] | undefined>(undefined);

const hidden = computed(() => chosen.value ?? ["since"]);

/** The columns that show. A list without its methods has nothing to read. */
export const shownColumns = computed(() =>
  columns.filter(({ name }) => name === "what" || !hidden.value.includes(name)),
);

/** Reads which columns an earlier page has left out. */
export async function readColumns(): Promise<void> {
  const read = await call("hiddenColumns", {});
  chosen.value ??= read ?? undefined;
}

function toggle(name: ColumnName): void {
  const others = hidden.value.filter((each) => each !== name);
  const names = others.length < hidden.value.length ? others : [...others, name];
  chosen.value = names;
  void tryCall("hideColumns", { names });
}

/** Opens the choice of columns, or closes it. */
export function toggleColumns(): void {
  document.getElementById("columns")?.togglePopover();
}

/** The choice of columns. */
export function Columns(): JSX.Element {
  return (
    <>
      <button type="button" popovertarget="columns">
        columns <kbd>o</kbd>
      </button>
      <fieldset id="columns" popover="auto">
        <legend class="unseen">Columns</legend>
        {columns.map(
          ({ name, title }) =>
            name !== "what" && (
              <label key={name}>
                <input
                  type="checkbox"
                  // The first one gets the focus.
                  autofocus={name === "n"}
                  checked={!hidden.value.includes(name)}
                  onChange={() => toggle(name)}
                />{" "}
                {title}
              </label>
            ),
        )}
      </fieldset>
    </>
  );
}
