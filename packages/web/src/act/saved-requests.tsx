import { escapeControls } from "@parlance/mcp/jsonrpc";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call, messageOf } from "../connection.js";
import { submits } from "../controls.js";
import type { PageRequest } from "../protocol.js";
import { announcement } from "../state.js";
import { type Drafted, isFound, openRequest } from "./act-state.js";

const requests = signal<readonly PageRequest[]>([]);
/** Why the saved requests cannot be read. */
const failure = signal<string | undefined>(undefined);

/** Reads the saved requests again, because other programs write them, too. */
export async function readRequests(): Promise<void> {
  try {
    requests.value = await call("requests", {});
    failure.value = undefined;
  } catch (error) {
    failure.value = messageOf(error);
  }
}

/** The list of saved requests, each with a button that opens it. */
export function SavedRequests(): JSX.Element | null {
  useEffect(() => void readRequests(), []);
  const found = requests.value.filter((each) => isFound(JSON.stringify(Object.values(each))));
  if (found.length === 0 && failure.value === undefined) return null;
  return (
    <div>
      <h2>
        Saved requests <small>{found.length}</small>
      </h2>
      {failure.value !== undefined && <p class="fault">{failure.value}</p>}
      <ul>
        {found.map((each) => (
          <li key={each.name}>{"fault" in each ? <p class="fault">{each.fault}</p> : <Saved request={each} />}</li>
        ))}
      </ul>
    </div>
  );
}

function Saved({ request }: { readonly request: Exclude<PageRequest, { fault: string }> }): JSX.Element {
  const { name, method, params, description } = request;
  const about = params.name ?? params.uri;
  return (
    <button type="button" class="offer" onClick={() => openRequest(request)}>
      <code>@{name}</code>
      <small class="hint">{escapeControls(typeof about === "string" ? `${method} ${about}` : method)}</small>
      {description !== undefined && <span class="says">{escapeControls(description)}</span>}
    </button>
  );
}

interface SaveOptions {
  /** The request; undefined while its text is invalid. */
  readonly request: Drafted | undefined;
  /** The suggested name. */
  readonly suggested: string;
}

/** A form that saves a request under a name. Replacing an existing one takes a second press. */
export function SaveRequest({ request, suggested }: SaveOptions): JSX.Element {
  const [name, setName] = useState(/^[\w-][\w.-]{0,99}$/.test(suggested) ? suggested : "");
  const [outcome, setOutcome] = useState<{ readonly is: "taken" | "saved" | "failed"; readonly says: string }>();
  const save = async (): Promise<void> => {
    try {
      if (request === undefined) throw new Error("The request cannot be read");
      const path = await call("saveRequest", { name, ...request, replaces: outcome?.is === "taken" });
      if (path === null)
        setOutcome({ is: "taken", says: "There is a request of this name: press again to replace it" });
      else setOutcome({ is: "saved", says: `Saved to ${path}` });
    } catch (error) {
      setOutcome({ is: "failed", says: messageOf(error) });
    }
  };
  useEffect(() => {
    if (outcome !== undefined) announcement.value = outcome.says;
  }, [outcome]);
  return (
    <details class="drawer">
      <summary>Save this request</summary>
      <form onSubmit={submits(save)}>
        <label for="request-name">Name of its file, without .json</label>
        <div class="item">
          <input
            id="request-name"
            type="text"
            autocomplete="off"
            spellcheck={false}
            value={name}
            aria-invalid={outcome?.is === "failed"}
            onInput={({ currentTarget }) => {
              setName(currentTarget.value);
              setOutcome(undefined);
            }}
          />
          <button type="submit">{outcome?.is === "taken" ? "Replace" : "Save"}</button>
        </div>
        {outcome !== undefined && <p class={outcomeClasses[outcome.is]}>{outcome.says}</p>}
      </form>
    </details>
  );
}

const outcomeClasses = { taken: "pending", saved: "says", failed: "fault" } as const;
