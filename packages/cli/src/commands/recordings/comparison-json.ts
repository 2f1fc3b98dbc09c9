import type { ComparedItem, Comparison } from "@parlance/wire";
import { jsonLine } from "../../shared/output/json-lines.js";

/** A comparison as one JSON object. Integers that a double cannot hold are strings. */
export function comparisonJson({ contract, definitions, items, same, latencies, equal }: Comparison): string {
  const changed = items.map(({ left, right, ...what }) => ({ ...what, left: place(left), right: place(right) }));
  const slower = latencies.map(({ left, right }) => ({
    ...place(left),
    before: left.latency,
    after: right.latency,
  }));
  const whole = { equal, same, contract, definitions, items: changed, latencies: slower };
  return jsonLine(
    JSON.parse(JSON.stringify(whole, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))),
  );
}

function place(item: ComparedItem | undefined): object | undefined {
  if (item === undefined) return undefined;
  const { n, from, kind, method, target, status, rules } = item;
  return { n, from, kind, method, target, status, rules };
}
