import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { call, messageOf } from "./connection.js";
import { Options, submits } from "./controls.js";
import { shellWord } from "./format.js";
import { bytesOf } from "./json/json-pane.js";
import type { PageFrame } from "./protocol.js";
import { announcement, failure, filter, selectedFrame, view } from "./state.js";

/** A form in which a frame can be copied. */
interface CopyFormat {
  readonly title: string;
  /** Resolves to undefined for a frame without this form. */
  readonly read: (shown: PageFrame) => Promise<string | undefined> | string | undefined;
}

const formats: readonly CopyFormat[] = [
  { title: "raw", read: (shown) => new TextDecoder().decode(bytesOf(shown)) },
  { title: "cURL", read: (shown) => exported(shown, "curl") },
  { title: "command line", read: async ({ row: { n = 0 } }) => (await call("commandLine", { n })) ?? undefined },
  { title: "test", read: (shown) => exported(shown, "test") },
  { title: "link", read: ({ row: { n } }) => (n === undefined ? undefined : linkTo(n)) },
];

/** Matches the messages that open a session, without which a server refuses requests. */
const opening = "method:initialize or method:notifications/initialized";

/** The request of a frame in a format of `parlance export`, with its secrets covered; undefined for other frames. */
function exported({ row, channel }: PageFrame, to: "curl" | "test"): Promise<string> | undefined {
  const { n, kind, from, pair } = row;
  const isAnswer = kind === "res" || kind === "err";
  const request = isAnswer === (from === "server") ? (isAnswer ? pair : n) : undefined;
  if (request === undefined) return undefined;
  // A request over HTTP has the session id in a header.
  const isAlone = to === "curl" && (channel === "http" || channel === "sse");
  const filter = `n:${request}${isAlone ? "" : ` or ${opening}`}`;
  return call("export", { recording: view.value?.recording ?? "", to, filter });
}

/** The command that shows the same frame through the same filter, also in a redacted copy of the recording. */
function linkTo(n: number): string {
  const text = filter.value.trim();
  const matching = text === "" ? "" : ` --filter ${shellWord(text)}`;
  return `parlance open ${shellWord(view.value?.recording ?? "last")} --frame ${n}${matching}`;
}

const chosen = signal(0);
/** The last copied frame. */
const copied = signal<PageFrame | undefined>(undefined);

/** A menu that copies the selected frame or its request, in a chosen form. */
export function Copy({ shown }: { readonly shown: PageFrame }): JSX.Element {
  return (
    <form class="export" onSubmit={submits(copy)}>
      <select
        id="copy"
        aria-label="Form of the copy"
        value={chosen.value}
        onChange={({ currentTarget }) => {
          chosen.value = Number(currentTarget.value);
          copied.value = undefined;
        }}
      >
        <Options of={formats.map(({ title }, index) => [index, title])} />
      </select>
      <button type="submit">
        {copied.value === shown ? "copied" : "copy"} <kbd>y</kbd>
      </button>
    </form>
  );
}

/** Copies the selected frame, which may still be on its way to the page. */
async function copy(): Promise<void> {
  const { title, read } = formats[chosen.value] ?? { title: "", read: () => undefined };
  const shown = await selectedFrame();
  if (shown === undefined) return;
  try {
    const text = await read(shown);
    if (text === undefined)
      throw new Error(`Only requests of the client, and their responses, can be copied as ${title}`);
    await navigator.clipboard.writeText(text);
    failure.value = undefined;
    copied.value = shown;
    announcement.value = `copied as ${title}`;
  } catch (error) {
    failure.value = messageOf(error);
  }
}
