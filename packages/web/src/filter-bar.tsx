import type { JSX } from "preact";
import { filter, filterFault, open, view } from "./state.js";

/** The fields of filters, for completion. The command's own help has the whole grammar. */
const fields = [
  "method:",
  "tool:",
  "kind:req",
  "kind:res",
  "kind:err",
  "kind:ntf",
  "kind:noise",
  "kind:stderr",
  "kind:http",
  "dir:c2s",
  "dir:s2c",
  "id:",
  "lat>100ms",
  "size>10KB",
  "verdict:must",
  "verdict:should",
  "rule:",
  "who:server",
  "who:client",
  "status:",
  "/result/isError=true",
  "call(1)",
  "pair(1)",
];

/** The filter of the list, in the language of `parlance tail` and `check`. */
export function FilterBar(): JSX.Element {
  const fault = filterFault.value;
  const { count = 0, total = 0 } = view.value ?? {};
  return (
    <search class="filter">
      <label for="filter">Filter</label>
      <input
        id="filter"
        type="text"
        list="fields"
        autocomplete="off"
        spellcheck={false}
        placeholder="method:tools/call lat>100ms or verdict:must"
        value={filter.value}
        aria-invalid={fault !== undefined}
        aria-describedby="filter-state"
        onInput={({ currentTarget }) => {
          filter.value = currentTarget.value;
          void open();
        }}
      />
      <datalist id="fields">
        {fields.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      <output id="filter-state" class={fault === undefined ? "" : "fault"}>
        {fault === undefined
          ? `${count.toLocaleString("en")} of ${total.toLocaleString("en")}`
          : `${fault.says}, at ${fault.at + 1}`}
      </output>
      {filter.value !== "" && (
        <button
          type="button"
          onClick={() => {
            filter.value = "";
            void open();
          }}
        >
          clear
        </button>
      )}
    </search>
  );
}
