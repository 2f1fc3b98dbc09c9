import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Options, submits } from "../controls.js";
import type { PageActing } from "../protocol.js";
import { act } from "./act-state.js";

const eras = [
  ["handshake", "with initialize"],
  ["stateless", "without initialize"],
] as const;

/** The negotiated revision, and a form that starts another conversation in a chosen one. */
export function Reconnect({ server }: { readonly server: PageActing }): JSX.Element {
  const { revision, asked, versions, canReconnect } = server;
  const [chosen, setChosen] = useState("");
  const wanted = asked.revision ?? eras.find(([era]) => era === asked.era)?.[1];
  const words = wanted === undefined ? "" : revision === undefined ? `; asked for: ${wanted}` : ", as asked";
  return (
    <details class="drawer">
      <summary>
        Protocol: {revision ?? "not negotiated"}
        {words}
      </summary>
      <form
        onSubmit={submits(() => {
          const era = eras.find(([each]) => each === chosen)?.[0];
          const next = era !== undefined ? { era } : chosen === "" ? {} : { revision: chosen };
          return act("reconnect", { asked: next });
        })}
      >
        <label for="spoken">Connect again, and speak</label>
        <div class="item">
          <select id="spoken" value={chosen} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
            <option value="">the newest that both support</option>
            <optgroup label="Only this era">
              <Options of={eras} />
            </optgroup>
            <optgroup label="Only this revision">
              <Options of={versions.toReversed().map((version) => [version, version])} />
            </optgroup>
          </select>
          <button type="submit" disabled={!canReconnect}>
            Reconnect
          </button>
        </div>
        <p class="says">It ends this conversation, whose recording stays.</p>
      </form>
    </details>
  );
}
