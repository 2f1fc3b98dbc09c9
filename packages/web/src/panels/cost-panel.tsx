import type { JSX } from "preact";
import { bytesText, count, durationText } from "../format.js";
import type { PageCost, PageCosts, PageDuration, PageRefusal } from "../protocol.js";
import { FrameLink, TableHead, useFacts } from "./facts.js";

/** The tokens that the tools take, and their features that model providers refuse. */
export function CostPanel(): JSX.Element {
  const costs = useFacts("costs");
  return (
    <section class="panel" aria-label="Cost" tabIndex={0}>
      {costs !== undefined && <Costs costs={costs} />}
    </section>
  );
}

function Costs({
  costs: { tokenizer, totals, definitions, results, slowest, refusals },
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
      <Slowest requests={slowest} />
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
      <TableHead columns={["tool", "tokens", "bytes", "place"]} numbers={["tokens", "bytes"]} />
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

function Slowest({ requests }: { readonly requests: readonly PageDuration[] }): JSX.Element | null {
  if (requests.length === 0) return null;
  return (
    <table>
      <caption>
        <b>The slowest requests</b>
      </caption>
      <TableHead
        columns={["request", "took", "others of the method", "place"]}
        numbers={["took", "others of the method"]}
      />
      <tbody>
        {requests.map(({ n, method, names, latency, usual }) => (
          <tr key={n}>
            <th scope="row">
              <code>
                {method} {names}
              </code>
            </th>
            <td class="number">{durationText(latency)}</td>
            <td class="number">{usual === undefined ? "" : `${durationText(usual)} median`}</td>
            <td>
              <FrameLink n={n} />
            </td>
          </tr>
        ))}
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
      <TableHead columns={["rule", "found", "pointer", "place"]} />
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
