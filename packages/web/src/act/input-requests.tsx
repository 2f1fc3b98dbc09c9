import { escapeControls } from "@parlance/mcp/jsonrpc";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { submits } from "../controls.js";
import type { PageAnswer, PageInput } from "../protocol.js";
import { act, acting } from "./act-state.js";
import { Members } from "./argument-form.js";
import { membersOf, startOfMembers, unreadableIn } from "./fields.js";

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
  const members = membersOf(schema);
  const value = entered.value.get(key) ?? (kind === "form" ? startOfMembers(members, schema) : "");
  const enter = (next: unknown): void => {
    entered.value = new Map([...entered.value, [key, next]]);
  };
  const respond = (action: PageAnswer["action"]): void =>
    void act("answer", { key, answer: action === "accept" && kind !== "url" ? { action, value } : { action } });
  return (
    <form
      class="input-request"
      aria-label={titles[kind]}
      noValidate
      onSubmit={submits(() => {
        if (unreadableIn(value) === undefined) respond("accept");
      })}
    >
      <h2>{titles[kind]}</h2>
      <pre class="block" tabIndex={0}>
        {message.split("\n").map(escapeControls).join("\n")}
      </pre>
      {url !== undefined && <RequestedUrl url={url} />}
      {kind === "form" && (
        <Members root={schema} members={members} path="" value={value} faults={[]} onChange={enter} />
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

/**
 * The whole URL that a server asks to open, and its host apart, because a URL can hide it.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#safe-url-handling
 */
function RequestedUrl({ url }: { readonly url: string }): JSX.Element {
  const shown = escapeControls(url);
  const host = /^https?:/.test(url) && URL.canParse(url) ? new URL(url).host : undefined;
  if (host === undefined)
    return (
      <p>
        <code class="requested-url">{shown}</code> This is not a web page: the page has no link to it.
      </p>
    );
  return (
    <>
      <p>
        <a class="requested-url" href={url} target="_blank" rel="noreferrer">
          {shown}
        </a>
      </p>
      <p>
        It is a page of <strong>{host}</strong>
        {/(?:^|\.)xn--/.test(host) && ": the name has letters that look like others"}
      </p>
    </>
  );
}

/** The form for the roots. */
export function Roots(): JSX.Element {
  const roots = acting.value?.roots ?? [];
  return (
    <details class="drawer">
      <summary>Roots: {roots.length === 0 ? "no folder" : roots.join(", ")}</summary>
      <form
        onSubmit={submits((form) => {
          const text = new FormData(form).get("folders");
          if (typeof text === "string")
            void act("setRoots", { folders: text.split("\n").flatMap((each) => each.trim() || []) });
        })}
      >
        <label for="folders">Folders that the server may work in, one a line</label>
        <textarea id="folders" name="folders" rows={3} spellcheck={false} defaultValue={roots.join("\n")} />
        <button type="submit">set</button>
      </form>
    </details>
  );
}
