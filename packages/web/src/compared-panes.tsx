import { useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { call } from "./connection.js";
import { count } from "./format.js";
import { lineAt } from "./json/json-lines.js";
import { bytesOf, JsonPane, readLines } from "./json/json-pane.js";
import { FrameLink, TableHead } from "./panels/facts.js";
import type { PageChanges, PageFrame, PageValue } from "./protocol.js";
import { frame, select } from "./state.js";

/**
 * Facts about the selected frame, read again when the selection changes. Null if there are none; undefined until they have been
 * read.
 */
function useOfFrame<Facts>(read: (shown: PageFrame) => Promise<Facts | null>): Facts | null | undefined {
  const [facts, setFacts] = useState<{ readonly of: PageFrame; readonly is: Facts | null }>();
  useSignalEffect(() => {
    const shown = frame.value;
    if (shown === undefined) return;
    read(shown).then(
      (is) => frame.value === shown && setFacts({ of: shown, is }),
      () => undefined, // The state of the connection is shown elsewhere.
    );
  });
  return facts?.of === frame.value ? facts?.is : undefined;
}

/** The response of the selected request, or the request of the selected response. */
export function PairPane({ shown }: { readonly shown: PageFrame }): JSX.Element {
  const other = useOfFrame(async ({ row: { pair } }) => (pair === undefined ? null : call("frame", { n: pair })));
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const read = useMemo(() => readLines(bytesOf(other ?? undefined), folded), [other, folded]);
  if (other === undefined) return <div class="pane" />;
  if (other === null) return <Nothing>{shown.pending ?? "No other frame belongs to this one."}</Nothing>;
  const { kind, n } = other.row;
  return (
    <JsonPane
      {...read}
      title={`${kind} ${n}`}
      verdicts={other.verdicts}
      folded={folded}
      onFold={setFolded}
      range={undefined}
      onSelect={(offset) => n !== undefined && void select(n, lineAt(read.lines, offset)?.value)}
    />
  );
}

/** The differences between the selected frame and the previous one of the same method. */
export function ChangesPane(): JSX.Element {
  const changes = useOfFrame(async ({ row: { n } }) => (n === undefined ? null : call("changes", { n })));
  if (changes === undefined) return <div class="pane" />;
  if (changes === null) return <Nothing>No message before this one has the same method.</Nothing>;
  return <Changes changes={changes} />;
}

function Nothing({ children }: { readonly children: string }): JSX.Element {
  return (
    <div class="pane">
      <p class="nothing">{children}</p>
    </div>
  );
}

function Changes({ changes: { before, count: all, changes } }: { readonly changes: PageChanges }): JSX.Element {
  const after = frame.value?.row.n ?? 0;
  return (
    <div class="pane">
      <h3>
        {all === 0 ? "no difference" : count(all, "difference")} from <FrameLink n={before} />{" "}
        <small>without ids, tokens and times</small>
      </h3>
      <div class="changes" role="group" aria-label="Changes" tabIndex={0}>
        <table>
          <TableHead columns={["pointer", `frame ${before}`, `frame ${after}`]} isUnseen={changes.length === 0} />
          <tbody>
            {changes.map(({ pointer, ...values }) => (
              <tr key={pointer}>
                <th scope="row">
                  <code>{pointer}</code>
                </th>
                <Value n={before} value={values.before} sign="removed" />
                <Value n={after} value={values.after} sign="added" />
              </tr>
            ))}
          </tbody>
        </table>
        {all > changes.length && <p class="nothing">and {all - changes.length} more</p>}
      </div>
    </div>
  );
}

interface ValueOptions {
  readonly n: number;
  readonly value: PageValue | undefined;
  readonly sign: "added" | "removed";
}

function Value({ n, value, sign }: ValueOptions): JSX.Element {
  return (
    <td class={sign}>
      {value === undefined ? (
        <span class="unused">absent</span>
      ) : (
        <button type="button" class="value" onClick={() => void select(n, value.range)}>
          {value.json}
        </button>
      )}
    </td>
  );
}
