import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { call, messageOf } from "../connection.js";
import { Options } from "../controls.js";
import { bytesText, count, durationText } from "../format.js";
import { Icon } from "../icons.js";
import type { PageComparedItem, PageComparison, PageDifference, PageItemChange } from "../protocol.js";
import { open, panel, recordings, select, view } from "../state.js";
import { FrameLink, TableHead } from "./facts.js";

/** The recording to compare with; undefined for the one on the command line. */
const other = signal<string | undefined>(undefined);

const comparison = signal<PageComparison | null | undefined>(undefined);

/** Why the comparison failed. */
const failure = signal<string | undefined>(undefined);

/** Compares again whenever another recording is chosen, or the open one changes. Returns a function that stops this. */
function follow(): () => void {
  return effect(() => {
    const [name, shown] = [other.value, view.value?.recording];
    comparison.value = undefined;
    call("compare", name === undefined ? {} : { recording: name }).then(
      (found) => {
        if (name !== other.value || shown !== view.value?.recording) return;
        comparison.value = found;
        failure.value = undefined;
      },
      (error: unknown) => {
        if (name !== other.value || shown !== view.value?.recording) return;
        failure.value = messageOf(error);
      },
    );
  });
}

/** The differences between the open recording and another one, apart from ids, tokens and times. */
export function ComparePanel(): JSX.Element {
  useEffect(follow, []);
  const found = comparison.value;
  return (
    <section class="panel compare" aria-label="Compare" tabIndex={0}>
      <header>
        <label for="before">Before</label>
        <Choice chosen={other.value ?? found?.before} />
        <p>
          After <strong>{view.value?.recording}</strong>
        </p>
        {found && <Summary found={found} />}
      </header>
      {failure.value !== undefined && <p class="must">{failure.value}</p>}
      {found === null && <p class="nothing">Choose the recording that this one is compared with.</p>}
      {found && <Differences found={found} />}
    </section>
  );
}

function Choice({ chosen }: { readonly chosen: string | undefined }): JSX.Element {
  const names = recordings.value.filter(({ name }) => name !== view.value?.recording);
  return (
    <select id="before" value={chosen ?? ""} onChange={({ currentTarget: { value } }) => (other.value = value)}>
      {chosen === undefined && <option value="">choose a recording</option>}
      {chosen !== undefined && !names.some(({ name }) => name === chosen) && <option value={chosen}>{chosen}</option>}
      <Options of={names.map(({ name, bytes }) => [name, `${name} (${bytesText(bytes)})`])} />
    </select>
  );
}

function Summary({ found: { equal, same, itemCount } }: { readonly found: PageComparison }): JSX.Element {
  const alike = `${count(same, "message")} alike`;
  return <p class={equal ? "ok" : ""}>{equal ? `no difference: ${alike}` : `${itemCount} differ, ${alike}`}</p>;
}

function Differences({ found }: { readonly found: PageComparison }): JSX.Element {
  const { before, contract, definitions, items, itemCount, latencies } = found;
  return (
    <>
      {contract.length > 0 && (
        <article>
          <h2>Contract</h2>
          <Places places={contract} />
        </article>
      )}
      {definitions.map(
        ({ list, unchanged, changes }) =>
          changes.length > 0 && (
            <article key={list}>
              <h2>
                {list} <small>{unchanged} unchanged</small>
              </h2>
              {changes.map(({ name, is, differences }) => (
                <div key={name}>
                  <h3 class={is}>
                    <b>{is}</b> <code>{name}</code>
                  </h3>
                  <Places places={differences} />
                </div>
              ))}
            </article>
          ),
      )}
      {items.length > 0 && (
        <article>
          <h2>Conversation</h2>
          {items.map((item) => (
            <Item key={`${item.before?.n} ${item.after?.n}`} item={item} before={before} />
          ))}
          {itemCount > items.length && (
            <p class="nothing">and {itemCount - items.length} more: parlance diff has all</p>
          )}
        </article>
      )}
      {latencies.length > 0 && (
        <article>
          <h2>Timing</h2>
          {latencies.map(({ n, what, before: earlier, after }) => (
            <p key={n}>
              <code>{what}</code> {durationText(earlier)} → {durationText(after)} <FrameLink n={n} />
            </p>
          ))}
        </article>
      )}
    </>
  );
}

/** The values of both recordings side by side. */
function Places({ places }: { readonly places: readonly PageDifference[] }): JSX.Element | null {
  if (places.length === 0) return null;
  return (
    <table class="places">
      <TableHead columns={["pointer", "before", "after"]} />
      <tbody>
        {places.map(({ pointer, before, after }) => (
          <tr key={pointer}>
            <th scope="row">
              <code>{pointer === "" ? "/" : pointer}</code>
            </th>
            <td class="removed">{before === undefined ? <span class="unused">absent</span> : <code>{before}</code>}</td>
            <td class="added">{after === undefined ? <span class="unused">absent</span> : <code>{after}</code>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ItemOptions {
  readonly item: PageItemChange;
  /** The name of the other recording. */
  readonly before: string;
}

function Item({ item, before: name }: ItemOptions): JSX.Element {
  const { before, after, differences, outcome } = item;
  const { from = "client", what = "" } = after ?? before ?? {};
  const is = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  return (
    <div>
      <h3 class={is}>
        <b>{is}</b> <Icon name={from} /> <code>{what}</code>
        {outcome && before !== undefined && after !== undefined && (
          <span>
            {outcomeText(before)} → <strong class={isWorse(before, after) ? "must" : ""}>{outcomeText(after)}</strong>
          </span>
        )}
        {before !== undefined && (
          <button
            type="button"
            class="link"
            onClick={() => {
              panel.value = "frame";
              void open(name).then(() => select(before.n));
            }}
          >
            before: frame {before.n}
          </button>
        )}
        {after !== undefined && <FrameLink n={after.n} />}
      </h3>
      <Places places={differences} />
    </div>
  );
}

function outcomeText({ status, rules }: PageComparedItem): string {
  return [status === "ok" && rules.length > 0 ? undefined : status, ...rules].filter(Boolean).join(" ");
}

function isWorse(before: PageComparedItem, after: PageComparedItem): boolean {
  return after.rules.length > before.rules.length || (before.status === "ok" && after.status !== "ok");
}
