import { useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Options, onControlEnter, Radios, submits } from "../controls.js";
import { bytesText, count } from "../format.js";
import { Icon } from "../icons.js";
import type { PageHeld, PageRule } from "../protocol.js";
import { FrameLink } from "./facts.js";
import {
  changeRules,
  changes,
  type DraftKind,
  deadlines,
  draftFault,
  draftOfShown,
  editDraft,
  heldMessages,
  interceptFailure,
  interception,
  readTouched,
  release,
  sendDraft,
  showHeld,
  shownHeld,
  touched,
} from "./intercept-state.js";

/** Breakpoints and faults, and the held messages, which the user can send, change, drop or answer. */
export function InterceptPanel(): JSX.Element {
  const { passedOver = 0, letGo = 0 } = interception.value ?? {};
  const [held, shown] = [heldMessages.value, shownHeld.value];
  return (
    <section class="panel intercept" aria-label="Intercept" tabIndex={0} onKeyDown={onKey}>
      <div>
        <h2>{held.length === 0 ? "No message is held" : `${count(held.length, "message")} held`}</h2>
        {interceptFailure.value !== undefined && (
          <p class="must" role="alert">
            {interceptFailure.value}
          </p>
        )}
        {passedOver > 0 && (
          <p class="should">
            {count(passedOver, "message")} sent on although a breakpoint matches: no more than 100, or 4 MiB, are held.
          </p>
        )}
        {letGo > 0 && <p class="should">{count(letGo, "message")} sent without you.</p>}
        {held.length > 1 && (
          <ul class="held">
            {held.map((each) => (
              <li key={each.key}>
                <button type="button" aria-pressed={each.key === shown?.key} onClick={() => showHeld(each)}>
                  <Title held={each} />
                </button>
              </li>
            ))}
          </ul>
        )}
        {shown === undefined ? (
          <p class="unused">A breakpoint holds the messages that its filter matches, until you release them here.</p>
        ) : (
          <Held key={shown.key} held={shown} />
        )}
      </div>
      <Rules />
    </section>
  );
}

/** Handles the keys of the panel while no field has the focus. */
function onKey(event: KeyboardEvent): void {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || shownHeld.value === undefined) return;
  if (target instanceof HTMLElement && target.matches("input, textarea, select")) return;
  if (key === "r") release({ did: "send" });
  else if (key === "Delete") release({ did: "drop" });
  else if (key === "e") document.getElementById("held-text")?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

const kinds = { break: "breakpoint", fault: "fault" } as const;

function Title({ held: { from, method, id, kind, bytes } }: { readonly held: PageHeld }): JSX.Element {
  return (
    <>
      <Icon name={from} /> {kind} {method !== undefined && <code>{method}</code>}
      {id !== undefined && (
        <>
          {" "}
          id <code>{id}</code>
        </>
      )}{" "}
      of the {from}, {bytesText(bytes)}
    </>
  );
}

function Held({ held }: { readonly held: PageHeld }): JSX.Element {
  const { filter, behind, isText } = held;
  const draft = draftOfShown.value;
  const fault = draftFault.value;
  return (
    <form onSubmit={submits(sendDraft)} onKeyDown={onControlEnter(sendDraft)}>
      <h3>
        <Title held={held} />
      </h3>
      <p class="unused">
        {behind === undefined ? <TimeLeft held={held} /> : "waits for the message before it"}
        {filter !== undefined && (
          <>
            , held by <code>{filter === "" ? "every message" : filter}</code>
          </>
        )}
      </p>
      {held.isAnswerable && draft !== undefined && (
        <Radios
          legend="What is sent"
          name="held-kind"
          choices={draftKinds}
          chosen={draft.kind}
          onChoose={(kind) => editDraft({ kind })}
        />
      )}
      <p class="buttons">
        <button type="button" onClick={() => release({ did: "send" })}>
          Send unchanged <kbd>r</kbd>
        </button>
        <button type="submit" disabled={draft === undefined || fault !== undefined} aria-keyshortcuts="Control+Enter">
          {draft === undefined || draft.kind === "change" ? "Send changed" : "Answer"} <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </button>
        <button type="button" onClick={() => release({ did: "drop" })}>
          Drop <kbd>Del</kbd>
        </button>
      </p>
      {draft !== undefined && (
        <>
          <label class="unseen" for="held-text">
            Message
          </label>
          <textarea
            id="held-text"
            spellcheck={false}
            rows={Math.min(16, Math.max(5, draft.texts[draft.kind].split("\n").length))}
            value={draft.texts[draft.kind]}
            aria-invalid={fault !== undefined}
            aria-describedby={fault === undefined ? undefined : "held-fault"}
            onInput={({ currentTarget }) => editDraft({ texts: { ...draft.texts, [draft.kind]: currentTarget.value } })}
          />
          {fault !== undefined && (
            <p class="must" id="held-fault">
              {fault}
            </p>
          )}
          <label>
            <input type="checkbox" checked={draft.isRaw} onChange={() => editDraft({ isRaw: !draft.isRaw })} /> as it is
            written, JSON or not
          </label>
        </>
      )}
      {!isText && <p>Its bytes are not UTF-8: it can be sent unchanged or dropped.</p>}
    </form>
  );
}

/** The remaining time of a held message. */
function TimeLeft({ held: { key } }: { readonly held: PageHeld }): JSX.Element {
  const now = useSignal(performance.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = performance.now();
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil(((deadlines.value.get(key) ?? now.value) - now.value) / 1_000));
  return (
    <>
      sent in {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, "0")}
    </>
  );
}

const draftKinds: readonly (readonly [kind: DraftKind, words: string])[] = [
  ["change", "change it"],
  ["result", "answer with a result"],
  ["error", "answer with an error"],
];

/** The available faults, in the syntax of `--fault`. */
const faults = {
  stdio: [
    "delay 2s",
    "drop",
    "dup",
    "reorder 2",
    "corrupt",
    "truncate 60%",
    "split 3x200ms",
    "wrong-id",
    "string-id",
    'noise "text"',
    'stderr "text"',
    "close",
    "exit 3",
  ],
  http: ["delay 2s", "drop", "close", "http 429 retry-after 2", "sse-cut after 2"],
} as const;

/** The directions of messages, with the conditions that they add to a filter. */
const directions = [
  ["", "both ways"],
  ["dir:c2s ", "of the client"],
  ["dir:s2c ", "of the server"],
] as const;

/** The breakpoints and faults, and a form to add one. */
function Rules(): JSX.Element {
  const { rules = [], transport = "stdio" } = interception.value ?? {};
  useSignalEffect(readTouched);
  const add = async (form: HTMLFormElement): Promise<void> => {
    const read = (): readonly string[] =>
      ["direction", "filter", "what"].map((name) => String(new FormData(form).get(name) ?? ""));
    const entered = read();
    const [direction = "", filter = "", what = ""] = entered;
    const matched = `${direction}${filter.trim()}`.trim();
    const rule = { isOn: true, kind: what.trim() === "" ? "break" : "fault" } as const;
    const added = { ...rule, text: rule.kind === "break" ? matched : `${matched} => ${what.trim()}` };
    const isSet = await changeRules((known) => [...known.filter((each) => each.text !== added.text), added]);
    // The next one may have been entered meanwhile.
    if (isSet && read().join("\n") === entered.join("\n")) form.reset();
  };
  return (
    <div>
      <h2>Breakpoints and faults</h2>
      <form class="rule-form" onSubmit={submits(add)}>
        <label>
          Messages
          <select name="direction">
            <Options of={directions} />
          </select>
        </label>
        <label>
          Filter
          <input name="filter" spellcheck={false} placeholder="method:tools/call" />
        </label>
        <label>
          What happens
          <input name="what" list="faults" spellcheck={false} placeholder="held, or a fault: drop" />
        </label>
        <datalist id="faults">
          {faults[transport].map((fault) => (
            <option key={fault} value={fault} />
          ))}
        </datalist>
        <button type="submit">Add</button>
      </form>
      <ul aria-busy={changes.value > 0}>
        {rules.map((rule) => (
          <Rule key={rule.text} rule={rule} />
        ))}
      </ul>
    </div>
  );
}

function Rule({ rule }: { readonly rule: PageRule }): JSX.Element {
  const { kind, text, isOn } = rule;
  const frames = touched.value.get(text) ?? [];
  return (
    <li>
      <label>
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ currentTarget: { checked } }) =>
            void changeRules((rules) => rules.map((each) => (each.text === text ? { ...each, isOn: checked } : each)))
          }
        />{" "}
        {kinds[kind]} <code>{text === "" ? "every message" : text}</code>
      </label>{" "}
      {frames.map((n) => (
        <FrameLink key={n} n={n} />
      ))}{" "}
      <button type="button" onClick={() => void changeRules((rules) => rules.filter((each) => each.text !== text))}>
        remove<span class="unseen"> {text}</span>
      </button>
    </li>
  );
}
