import { ExactNumber } from "@parlance/mcp/jsonrpc";
import { signal } from "@preact/signals";
import type { JSX, TargetedKeyboardEvent } from "preact";
import { onControlEnter, submits } from "../controls.js";
import { count, durationText, nameText, proseText } from "../format.js";
import { Icon } from "../icons.js";
import type { PageCall, PageFault, PageOffer } from "../protocol.js";
import {
  act,
  actFailure,
  acting,
  cancel,
  checked,
  choose,
  chosen,
  complete,
  draft,
  drafted,
  edited,
  enter,
  enterJson,
  found,
  isActOpen,
  offers,
  send,
  show,
  sought,
  written,
} from "./act-state.js";
import { Members } from "./argument-form.js";
import { CallResult } from "./call-result.js";
import { Editor } from "./editor.js";
import { membersOf, Unreadable } from "./fields.js";
import { InputRequests, Roots } from "./input-requests.js";
import { JsonEditor } from "./json-editor.js";
import { Reconnect } from "./reconnect.js";
import { readRequests, SavedRequests, SaveRequest } from "./saved-requests.js";

/** The panel that acts on the server. */
export function ActPanel(): JSX.Element | null {
  const server = acting.value;
  if (server === undefined || !isActOpen.value) return null;
  const running = server.calls.filter(({ state }) => state === "running");
  return (
    <section class="act" aria-label="Server">
      {server.phase === "over" && (
        <p class="pending">
          The server is gone. {server.canReconnect ? "Reconnect, or run" : "Run"} the command again to call it.
        </p>
      )}
      {server.phase === "opening" && <p class="pending">Connecting …</p>}
      <Reconnect server={server} />
      {actFailure.value !== undefined && (
        <p class="fault" role="alert">
          {actFailure.value}
        </p>
      )}
      <InputRequests />
      {running.map((call) => (
        <Running key={call.key} call={call} />
      ))}
      {edited.value !== undefined ? (
        <Editor />
      ) : chosen.value === undefined ? (
        <Offers />
      ) : (
        <Offer key={chosen.value.name} offer={chosen.value} />
      )}
    </section>
  );
}

/** A running call, with its progress. */
function Running({ call }: { readonly call: PageCall }): JSX.Element {
  const { method, about, progress } = call;
  const name = nameText(about === "" ? method : about);
  return (
    <div class="running">
      <p>
        <Icon name="waits" /> <b>{name}</b> {proseText(progress?.message ?? "")}
      </p>
      <progress
        aria-label={`progress of ${name}`}
        max={progress?.total ?? 1}
        value={progress?.total === undefined ? undefined : progress.progress}
      />
      {progress !== undefined && (
        <span>
          {progress.progress}
          {progress.total === undefined ? "" : ` of ${progress.total}`}
        </span>
      )}
      <button type="button" onClick={() => cancel(call)}>
        cancel
      </button>
    </div>
  );
}

const groups = [
  ["tool", "Tools"],
  ["resource", "Resources"],
  ["template", "Resource templates"],
  ["prompt", "Prompts"],
] as const;

function Offers(): JSX.Element {
  const all = found.value;
  return (
    <>
      <search>
        <label class="unseen" for="sought">
          Find a tool, a resource or a prompt
        </label>
        <input
          id="sought"
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder="find a tool, a resource, a prompt"
          value={sought.value}
          onInput={({ currentTarget }) => (sought.value = currentTarget.value)}
          onKeyDown={({ key }) => {
            if (key === "Enter" && all[0] !== undefined) choose(all[0]);
          }}
        />
        <button type="button" title="read the lists again" onClick={refresh}>
          refresh
        </button>
      </search>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrows move between the buttons in it */}
      <div class="offers" onKeyDown={moveFocus}>
        <SavedRequests />
        {offers.value.length === 0 && <p>The server offers nothing.</p>}
        {offers.value.length > 0 && all.length === 0 && <p>Nothing has these words.</p>}
        {groups.map(([kind, title]) => {
          const some = all.filter((offer) => offer.kind === kind);
          return (
            some.length > 0 && (
              <div key={kind}>
                <h2>
                  {title} <small>{some.length}</small>
                </h2>
                <ul>
                  {some.map((offer) => (
                    <li key={offer.name}>
                      <OfferButton offer={offer} />
                    </li>
                  ))}
                </ul>
              </div>
            )
          );
        })}
        <Calls />
        <Roots />
      </div>
    </>
  );
}

function refresh(): void {
  void act("listAgain", {});
  void readRequests();
}

/** Moves the focus between buttons with the arrow keys. */
function moveFocus(event: TargetedKeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const place = buttons.findIndex((button) => button.matches(":focus"));
  event.preventDefault();
  buttons[place + step]?.focus();
}

function OfferButton({ offer }: { readonly offer: PageOffer }): JSX.Element {
  const { name, title, description, hints } = offer;
  return (
    <button type="button" class="offer" onClick={() => choose(offer)}>
      <code>{nameText(name)}</code>
      {title !== undefined && <b>{nameText(title)}</b>}
      {hints.map((hint) => (
        <small class="hint" key={hint}>
          {nameText(hint)}
        </small>
      ))}
      {description !== undefined && <span class="says">{proseText(description)}</span>}
    </button>
  );
}

const outcomes = { running: "running", done: "", failed: "failed", cancelled: "cancelled" } as const;

/** The calls made from the page. */
function Calls(): JSX.Element | null {
  const calls = acting.value?.calls ?? [];
  if (calls.length === 0) return null;
  return (
    <div>
      <h2>Calls</h2>
      <ul>
        {calls.map((call) => (
          <li key={call.key}>
            <button
              type="button"
              class="offer"
              onClick={() => {
                choose(offers.value.find(({ name }) => name === call.about));
                void show(call);
              }}
            >
              <code>{nameText(call.about === "" ? call.method : call.about)}</code>
              <small class={call.state === "failed" ? "must" : "hint"}>
                {outcomes[call.state]} {durationText(call.took)}
              </small>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

const verbs = { tool: "Call", resource: "Read", template: "Read", prompt: "Get" } as const;

/** Whether the arguments are entered as JSON. */
const asJson = signal(false);

function Offer({ offer }: { readonly offer: PageOffer }): JSX.Element {
  const { kind, name, title, description, hints, schema } = offer;
  const members = membersOf(schema);
  const { faults, command } = checked.value;
  const others = asJson.value ? [] : faults.filter(({ path }) => path === "");
  const isOpen = acting.value?.phase === "open";
  return (
    <div class="chosen">
      <button type="button" class="back" onClick={() => choose(undefined)}>
        all
      </button>
      <h2>
        {kind} <code>{nameText(name)}</code>
      </h2>
      {title !== undefined && <p class="title">{nameText(title)}</p>}
      {hints.length > 0 && <p class="hint">{nameText(hints.join(" · "))}</p>}
      {description !== undefined && <p class="says">{proseText(description)}</p>}
      <form noValidate onSubmit={submits(send)} onKeyDown={onControlEnter(send)}>
        {asJson.value ? (
          <JsonArguments schema={schema} faults={faults} />
        ) : (
          <Members
            root={schema}
            members={members}
            path=""
            value={draft.value}
            faults={faults}
            onChange={enter}
            suggest={kind === "tool" ? undefined : complete}
          />
        )}
        {others.map(({ path, message }) => (
          <p class="fault" key={`${path} ${message}`}>
            {proseText(`${path} ${message}`)}
          </p>
        ))}
        <div class="buttons">
          <button type="submit" class="main" disabled={!isOpen}>
            {verbs[kind]}
            {faults.length > 0 ? " anyway" : ""}
          </button>
          {kind === "resource" && acting.value?.canSubscribe === true && <Subscribe uri={name} />}
          {kind === "tool" && (
            <button type="button" aria-pressed={asJson.value} onClick={() => (asJson.value = !asJson.value)}>
              as JSON
            </button>
          )}
        </div>
      </form>
      {command !== undefined && (
        <p class="command">
          <code>{proseText(command)}</code>
        </p>
      )}
      <SaveRequest request={drafted.value} suggested={name} />
      <CallResult />
    </div>
  );
}

/** A button that subscribes to the resource, with the number of updates. */
function Subscribe({ uri }: { readonly uri: string }): JSX.Element {
  const known = acting.value?.subscriptions.find((each) => each.uri === uri);
  return (
    <>
      <button
        type="button"
        aria-pressed={known !== undefined}
        onClick={() => void act("subscribe", { uri, ends: known !== undefined })}
      >
        {known === undefined ? "subscribe" : "subscribed"}
      </button>
      {known !== undefined && <span class="says">{count(known.updates, "update")}</span>}
    </>
  );
}

interface JsonArgumentsOptions {
  readonly schema: PageOffer["schema"];
  readonly faults: readonly PageFault[];
}

function JsonArguments({ schema, faults }: JsonArgumentsOptions): JSX.Element {
  const value = draft.value;
  const text = value instanceof Unreadable ? value.text : (written.value ?? ExactNumber.stringify(value, 2));
  return (
    <div class="argument">
      <label for="arguments">arguments</label>
      <JsonEditor
        id="arguments"
        text={text}
        rows={Math.min(20, text.split("\n").length + 1)}
        schema={schema}
        faults={value instanceof Unreadable ? [] : faults}
        unreadable={value instanceof Unreadable ? value.says : undefined}
        onInput={enterJson}
      />
    </div>
  );
}
