import type { JSX } from "preact";
import { acting, examine } from "../act/act-state.js";
import { Icon } from "../icons.js";
import type { PageCheck, PageFailure } from "../protocol.js";

/** The checks of `parlance doctor`: the faults of the server, with remedies. */
export function DoctorPanel(): JSX.Element {
  const { failure, examination } = acting.value ?? {};
  const checks = examination?.checks ?? [];
  const made = checks.filter(({ state }) => state !== "not tried");
  const untried = checks.filter(({ state }) => state === "not tried").map(({ name }) => name);
  return (
    <section class="panel doctor" aria-label="Doctor" tabIndex={0} aria-busy={examination?.isOver === false}>
      {acting.value === undefined && <p>Only the page of parlance run --ui can examine a server.</p>}
      {failure !== undefined && <FailureCard failure={failure} />}
      {acting.value !== undefined && (
        <p>
          <button type="button" disabled={examination?.isOver === false} onClick={examine}>
            {examination?.isOver === false ? "Examining …" : "Examine the server"}
          </button>{" "}
          <span class="unused">as parlance doctor does; a command is started once more, and no tool is called</span>
        </p>
      )}
      <ul class="checks">
        {made.map((each) => (
          <Check key={each.name} check={each} />
        ))}
      </ul>
      {untried.length > 0 && <p class="unused">skipped, because they need the failed check: {untried.join(", ")}</p>}
    </section>
  );
}

const words = { ok: "ok", failed: "failed", absent: "nothing to check", "not tried": "not tried" } as const;

function Check({ check }: { readonly check: PageCheck }): JSX.Element {
  const { name, state, notes, rule } = check;
  return (
    <li class={`card ${state === "failed" ? "must" : state}`}>
      <h2>
        {state === "failed" && <Icon name="must" />} {name} <b class={state}>{words[state]}</b>
      </h2>
      <Evidence failure={check} />
      {notes.map((note) => (
        <p key={note} class="demands">
          {note}
        </p>
      ))}
      {rule !== undefined && (
        <a href={rule} target="_blank" rel="noreferrer">
          specification
        </a>
      )}
    </li>
  );
}

/** The failure that stopped the command. */
function FailureCard({ failure }: { readonly failure: PageFailure }): JSX.Element {
  return (
    <article class="card must">
      <h2>
        <Icon name="must" /> the conversation failed
      </h2>
      <Evidence failure={failure} />
    </article>
  );
}

function Evidence({ failure: { says, seen, remedy } }: { readonly failure: PageFailure }): JSX.Element {
  return (
    <>
      <p>{says}</p>
      {seen.map((line, index) => (
        <p key={index} class="piece">
          <code>{line}</code>
        </p>
      ))}
      {remedy !== undefined && (
        <p>
          <b class="remedy">what to do:</b> {remedy}
        </p>
      )}
    </>
  );
}
