import { computed, signal } from "@preact/signals";
import type { JSX, TargetedKeyboardEvent } from "preact";
import { Export } from "./act/export.js";
import { Columns } from "./columns.js";
import { tryCall } from "./connection.js";
import { nextSuggestion, Suggestions } from "./controls.js";
import { Icon } from "./icons.js";
import type { FilterTerms } from "./protocol.js";
import { filter, filterFault, onlySpan, open, showOnlySpan, view } from "./state.js";

/** The conditions of filters, for completion. The command's own help has the whole grammar. */
const conditions = [
  "method:",
  "tool:",
  ...["req", "res", "err", "ntf", "noise", "stderr", "http", "life"].map((kind) => `kind:${kind}`),
  "dir:c2s",
  "dir:s2c",
  "id:",
  "lat>100ms",
  "size>10k",
  "t:",
  ...["must", "should", "may", "ok"].map((level) => `verdict:${level}`),
  "rule:",
  "who:server",
  "who:client",
  "code:",
  "status:",
  "/result/isError=true",
  "call(",
  "pair(",
];

/** The values in the recording, and the saved filters, read when the filter gets the focus. */
const terms = signal<FilterTerms>({ values: [], saved: [] });
const isOpen = signal(false);
/** The offset of the caret. */
const caret = signal(0);
/** The index of the highlighted suggestion. */
const highlighted = signal(-1);

/** The maximum number of suggestions. */
const most = 12;

/** The start of the word at the caret, after a negation. */
const wordStart = computed(() => {
  const before = filter.value.slice(0, caret.value);
  return before.length - (/(?:[^\s()"]*|[^\s()"]+"[^"]*)$/.exec(before)?.[0].replace(/^[-!]/, "").length ?? 0);
});

const suggestions = computed((): readonly string[] => {
  const word = filter.value.slice(wordStart.value, caret.value);
  if (filter.value === "") return [...terms.value.saved, ...conditions].slice(0, most);
  if (word === "") return [];
  const known = [...conditions, ...terms.value.values];
  return known.filter((each) => each !== word && each.toLowerCase().startsWith(word.toLowerCase())).slice(0, most);
});

/** Replaces the word at the caret with a suggestion. */
function accept(suggestion: string): void {
  const isValue = /[:(]$/.test(suggestion);
  const start = filter.value === "" ? 0 : wordStart.value;
  const before = filter.value.slice(0, start) + suggestion + (isValue ? "" : " ");
  filter.value = before + filter.value.slice(caret.value);
  caret.value = before.length;
  highlighted.value = -1;
  isOpen.value = isValue;
  void open();
}

function onKeyDown(event: TargetedKeyboardEvent<HTMLInputElement>): void {
  const { key } = event;
  const shown = isOpen.value ? suggestions.value : [];
  const chosen = shown[highlighted.value];
  if (key === "ArrowDown" || key === "ArrowUp") {
    if (!isOpen.value) isOpen.value = true;
    highlighted.value = nextSuggestion(highlighted.value, key, suggestions.value.length);
  } else if ((key === "Enter" || key === "Tab") && chosen !== undefined) accept(chosen);
  else if (key === "Escape" && shown.length > 0) isOpen.value = false;
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** The filter of the list, in the language of `parlance tail` and `check`. */
export function FilterBar(): JSX.Element {
  const fault = filterFault.value;
  const { count = 0, total = 0 } = view.value ?? {};
  const shown = isOpen.value ? suggestions.value : [];
  return (
    <search class="filter">
      <label for="filter">Filter</label>
      <div class="completed">
        <input
          id="filter"
          type="text"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={shown.length > 0}
          aria-controls="suggestions"
          aria-activedescendant={shown[highlighted.value] === undefined ? undefined : `suggestion-${highlighted.value}`}
          autocomplete="off"
          spellcheck={false}
          placeholder="method:tools/call lat>100ms or verdict:must"
          value={filter.value}
          aria-invalid={fault !== undefined}
          aria-describedby="filter-state"
          onFocus={() => void readTerms()}
          onBlur={() => (isOpen.value = false)}
          onKeyDown={onKeyDown}
          onInput={({ currentTarget }) => {
            caret.value = currentTarget.selectionStart ?? currentTarget.value.length;
            highlighted.value = -1;
            isOpen.value = true;
            filter.value = currentTarget.value;
            void open();
          }}
        />
        <Suggestions
          id="suggestion"
          shown={shown}
          highlighted={highlighted.value}
          onAccept={accept}
          render={(suggestion) => [
            suggestion,
            terms.value.saved.includes(suggestion) && <small key="saved">saved</small>,
          ]}
        />
      </div>
      <output id="filter-state" class={fault === undefined ? "" : "fault"}>
        {fault === undefined ? (
          `${count.toLocaleString("en")} of ${total.toLocaleString("en")}`
        ) : (
          <>
            <Icon name="must" /> {fault.says}, at {fault.at + 1}
          </>
        )}
      </output>
      {onlySpan.value !== undefined && (
        <button type="button" aria-pressed={true} onClick={() => showOnlySpan(undefined)}>
          only the operation of frame {onlySpan.value} <span aria-hidden="true">×</span>
        </button>
      )}
      {filter.value !== "" && <Actions />}
      <Export />
      <Columns />
    </search>
  );
}

/** The buttons for a filter that is not empty. */
function Actions(): JSX.Element {
  const text = filter.value.trim();
  const isSaved = terms.value.saved.includes(text);
  return (
    <>
      {filterFault.value === undefined && (
        <button type="button" aria-pressed={isSaved} onClick={() => void save(text, !isSaved)}>
          {isSaved ? "saved" : "save"}
        </button>
      )}
      <button
        type="button"
        onClick={() => {
          filter.value = "";
          void open();
        }}
      >
        clear
      </button>
    </>
  );
}

async function readTerms(): Promise<void> {
  const read = await tryCall("terms", {});
  if (read !== undefined) terms.value = read;
}

async function save(text: string, saved: boolean): Promise<void> {
  const kept = await tryCall("saveFilter", { filter: text, saved });
  if (kept !== undefined) terms.value = { ...terms.value, saved: kept };
}
