import type { PageRow } from "./protocol.js";

/** The filter conditions that match a row, by the columns that show their values. */
export function conditionsOf(row: PageRow): Readonly<Record<string, string | undefined>> {
  const { n, pair, from, kind, id, method, names, latency, size, rules } = row;
  const [rule] = rules;
  return {
    n: n === undefined || pair === undefined ? undefined : `pair(${n})`,
    call: id === undefined || pair === undefined ? undefined : `call(${id})`,
    from: from === undefined ? undefined : `dir:${from === "client" ? "c2s" : "s2c"}`,
    kind: `kind:${kind}`,
    id: id === undefined ? undefined : `id:${id}`,
    what: method === undefined ? undefined : `method:${wordOf(method)}`,
    names: method !== "tools/call" || names === undefined ? undefined : `tool:${wordOf(names)}`,
    latency: latency === undefined ? undefined : `lat>=${Math.floor(latency)}ms`,
    size: size === undefined ? undefined : `size>=${size}`,
    verdict: rule && `rule:${rule.id}`,
  };
}

/** A value in the syntax of filters. */
function wordOf(value: string): string {
  return /^[\w./:-]+$/.test(value) ? value : JSON.stringify(value);
}
