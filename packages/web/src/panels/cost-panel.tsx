import type { JSX } from "preact";
import { bytesText, count } from "../format.js";
import type { PageCost, PageCosts, PageRefusal } from "../protocol.js";
import { FrameLink, useFacts } from "./facts.js";

/** What the tools take of the context of a model, and what model providers refuse of them. */
export function CostPanel(): JSX.Element {
  const costs = useFacts("costs");
  return (
    <section class="panel" aria-label="Cost" tabIndex={0}>
      {costs !== undefined && <Costs costs={costs} />}
    </section>
  );
}

function Costs({
  costs: { tokenizer, totals, definitions, results, refusals },
}: {
  readonly costs: PageCosts;
}): JSX.Element {
  return (
    <>
      <p>
        {count(totals.definitions.count, "tool")}: {bytesText(totals.definitions.bytes)} of definitions, about{" "}
        <b>{count(totals.definitions.tokens ?? 0, "token")}</b> in every request to a model ·{" "}
        {count(totals.results.count, "result")} of tools: {bytesText(totals.results.bytes)}{" "}
        <span class="unused">· tokens by {tokenizer}</span>
      </p>
      <div class="sides">
        <CostTable title="The most expensive definitions" costs={definitions} />
        <CostTable title="The largest results" costs={results} />
      </div>
      <Refusals refusals={refusals} />
    </>
  );
}

function CostTable({ title, costs }: { readonly title: string; readonly costs: readonly PageCost[] }): JSX.Element {
  return (
    <table>
      <caption>
        <b>{title}</b>
      </caption>
      <thead>
        <tr>
          <th scope="col">tool</th>
          <th scope="col" class="number">
            tokens
          </th>
          <th scope="col" class="number">
            bytes
          </th>
          <th scope="col">place</th>
        </tr>
      </thead>
      <tbody>
        {costs.map(({ n, tool, bytes, tokens }, index) => (
          <tr key={index}>
            <th scope="row">
              <code>{tool}</code>
            </th>
            <td class="number">{tokens.toLocaleString("en")}</td>
            <td class="number">{bytes.toLocaleString("en")}</td>
            <td>
              <FrameLink n={n} />
            </td>
          </tr>
        ))}
        {costs.length === 0 && (
          <tr>
            <td colSpan={4}>none</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Refusals({ refusals }: { readonly refusals: readonly PageRefusal[] }): JSX.Element {
  if (refusals.length === 0) return <p class="ok">No model provider is known to refuse a definition.</p>;
  return (
    <table>
      <caption>
        <b>What model providers refuse</b>
      </caption>
      <thead>
        <tr>
          <th scope="col">rule</th>
          <th scope="col">found</th>
          <th scope="col">pointer</th>
          <th scope="col">place</th>
        </tr>
      </thead>
      <tbody>
        {refusals.map(({ rule, n, pointer, range, says, spec }) => (
          <tr key={`${rule} ${n} ${pointer}`}>
            <th scope="row">
              <a href={spec} target="_blank" rel="noreferrer">
                {rule}
              </a>
            </th>
            <td>{says}</td>
            <td>
              <code class="place">{pointer}</code>
            </td>
            <td>
              <FrameLink n={n} range={range} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
