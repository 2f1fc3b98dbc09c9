import { escapeControls } from "@parlance/mcp/jsonrpc";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { PageAnswer, PageInput } from "../protocol.js";
import { acting, answer, setRoots } from "./act-state.js";
import { Members } from "./argument-form.js";
import { membersOf, objectOf, startOf, unreadableIn } from "./fields.js";

/** The entered values, by the keys of the requests. */
const entered = signal<ReadonlyMap<number, unknown>>(new Map());

/** The pending input requests of the server. */
export function InputRequests(): JSX.Element {
  return (
    <>
      {acting.value?.inputs.map((input) => (
        <InputRequest key={input.key} input={input} />
      ))}
    </>
  );
}

const titles = {
  form: "The server asks you to fill in a form",
  url: "The server asks you to open a URL",
  sampling: "The server asks for a message of a model (sampling)",
} as const;

function InputRequest({ input }: { readonly input: PageInput }): JSX.Element {
  const { key, kind, message, schema = {}, url } = input;
  const start = objectOf(membersOf(schema).map((each) => [each.name, startOf(each.schema, schema, each.isRequired)]));
  const value = entered.value.get(key) ?? (kind === "form" ? start : "");
  const enter = (next: unknown): void => {
    entered.value = new Map([...entered.value, [key, next]]);
  };
  const respond = (action: PageAnswer["action"]): void =>
    void answer(key, action === "accept" && kind !== "url" ? { action, value } : { action });
  return (
    <form
      class="input-request"
      aria-label={titles[kind]}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (unreadableIn(value) === undefined) respond("accept");
      }}
    >
      <h2>{titles[kind]}</h2>
      <pre class="block" tabIndex={0}>
        {message.split("\n").map(escapeControls).join("\n")}
      </pre>
      {url !== undefined && (
        <p>
          {/^https?:/.test(url) ? (
            <a href={url} target="_blank" rel="noreferrer">
              {escapeControls(url)}
            </a>
          ) : (
            <code>{escapeControls(url)}</code>
          )}
        </p>
      )}
      {kind === "form" && (
        <Members root={schema} members={membersOf(schema)} path="" value={value} faults={[]} onChange={enter} />
      )}
      {kind === "sampling" && (
        <div class="argument">
          <label for={`sampling${key}`}>The text of the model</label>
          <textarea
            id={`sampling${key}`}
            rows={4}
            value={String(value)}
            onInput={({ currentTarget }) => enter(currentTarget.value)}
          />
        </div>
      )}
      <div class="buttons">
        <button type="submit" class="main">
          {kind === "url" ? "I have opened it" : "Send"}
        </button>
        <button type="button" onClick={() => respond("decline")}>
          decline
        </button>
        {kind !== "sampling" && (
          <button type="button" onClick={() => respond("cancel")}>
            cancel
          </button>
        )}
      </div>
    </form>
  );
}

/** The form for the roots. */
export function Roots(): JSX.Element {
  const roots = acting.value?.roots ?? [];
  return (
    <details class="drawer">
      <summary>Roots: {roots.length === 0 ? "no folder" : roots.join(", ")}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = new FormData(event.currentTarget).get("folders");
          if (typeof text === "string") void setRoots(text.split("\n").flatMap((each) => each.trim() || []));
        }}
      >
        <label for="folders">Folders that the server may work in, one a line</label>
        <textarea id="folders" name="folders" rows={3} spellcheck={false} defaultValue={roots.join("\n")} />
        <button type="submit">set</button>
      </form>
    </details>
  );
}
