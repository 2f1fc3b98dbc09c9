import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { call, messageOf } from "../connection.js";
import { Options, submits } from "../controls.js";
import { announcement, failure, filter, view } from "../state.js";

/** The formats, with the extensions of their files. */
const formats = [
  ["markdown", "bug report", ".md"],
  ["html", "page", ".html"],
  ["har", "HAR", ".har"],
  ["test", "test", ".test.ts"],
  ["curl", "shell commands", ".sh"],
  ["jsonl", "recording", ".parlance.jsonl"],
] as const;

const chosen = signal(0);

/** A menu that saves the filtered rows, in a format of `parlance export`. */
export function Export(): JSX.Element {
  return (
    <form class="export" onSubmit={submits(save)}>
      <select
        id="export"
        aria-label="Format of the export"
        value={chosen.value}
        onChange={({ currentTarget }) => (chosen.value = Number(currentTarget.value))}
      >
        <Options of={formats.map(([, words], index) => [index, words])} />
      </select>
      <button type="submit">
        export <kbd>x</kbd>
      </button>
    </form>
  );
}

async function save(): Promise<void> {
  const { recording = "" } = view.value ?? {};
  const [to, , end] = formats[chosen.value] ?? formats[0];
  try {
    const text = await call("export", { recording, to, filter: filter.value });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text]));
    link.download = `${recording}${end}`;
    link.click();
    URL.revokeObjectURL(link.href);
    announcement.value = `exported as ${link.download}`;
  } catch (error) {
    failure.value = messageOf(error);
  }
}
