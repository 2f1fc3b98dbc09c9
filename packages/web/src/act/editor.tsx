import type { JSX } from "preact";
import { onControlEnter, Radios, submits } from "../controls.js";
import { acting, choose, edited, editedFaults, editedSchema, message, resend } from "./act-state.js";
import { CallResult } from "./call-result.js";
import { JsonEditor } from "./json-editor.js";
import { SaveRequest } from "./saved-requests.js";

const modes = [
  ["valid", "as a valid request"],
  ["raw", "as it is written"],
] as const;

const consequences = {
  raw: "Nothing is repaired. The client does not know of it: what answers it is in the list.",
  valid: "The client writes a new id and its own members of _meta.",
} as const;

/** Edits a message that the client has sent, and sends it again. */
export function Editor(): JSX.Element | null {
  const open = edited.value;
  if (open === undefined) return null;
  const { from, text, raw, isRaw, ends } = open;
  const mode = isRaw ? "raw" : "valid";
  const { method, params, fault } = message.value ?? {};
  const sent = method === undefined || params === undefined ? undefined : { method, params };
  const rows = Math.min(24, Math.max(12, (isRaw ? raw : text).split("\n").length + 1));
  const set = (next: Partial<typeof open>): void => {
    edited.value = { ...open, ...next };
  };
  return (
    <div class="chosen">
      <button type="button" class="back" onClick={() => choose(undefined)}>
        all
      </button>
      <h2>Edit {from}, and send it again</h2>
      <form noValidate onSubmit={submits(resend)} onKeyDown={onControlEnter(resend)}>
        <Radios
          legend="How it is sent"
          name="mode"
          choices={modes}
          chosen={mode}
          onChoose={(next) => set({ isRaw: next === "raw" })}
        />
        <div class="argument">
          <label class="unseen" for="edited">
            Message
          </label>
          {isRaw ? (
            <textarea
              id="edited"
              spellcheck={false}
              rows={rows}
              value={raw}
              onInput={({ currentTarget }) => set({ raw: currentTarget.value })}
            />
          ) : (
            <JsonEditor
              id="edited"
              rows={rows}
              text={text}
              schema={editedSchema.value}
              faults={editedFaults.value}
              unreadable={fault}
              onInput={(next) => set({ text: next })}
            />
          )}
        </div>
        {isRaw && (
          <label>
            <input type="checkbox" checked={ends} onChange={() => set({ ends: !ends })} /> add a newline, which ends a
            message on stdio
          </label>
        )}
        <p class="says">{consequences[mode]}</p>
        <div class="buttons">
          <button
            type="submit"
            class="main"
            aria-keyshortcuts="Control+Enter"
            disabled={fault !== undefined || acting.value?.phase !== "open"}
          >
            Send
          </button>
          <span class="says">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </span>
        </div>
      </form>
      {!isRaw && <SaveRequest key={from} request={sent} suggested={from.replace(/^@|^frame .*/, "")} />}
      {!isRaw && <CallResult />}
    </div>
  );
}
