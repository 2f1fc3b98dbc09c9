import { setImmediate as turn } from "node:timers/promises";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import type { PageComparedItem, PageComparison, PageDifference } from "@parlance/web/protocol";
import { Comparable, type Comparison, comparisonSteps } from "@parlance/wire";
import { jsonText, messageText } from "../../shared/output/comparison-lines.js";
import type { LiveRecording } from "./live-recording.js";

type ComparedItem = NonNullable<Comparison["items"][number]["left"]>;

/** The maximum number of messages, of definitions of each list, and of places of one item on a page. */
const mostItems = 200;
const mostPlaces = 20;

/** The maximum number of characters of a value. */
const longest = 400;

/** The number of rows and steps before the event loop turns. */
const together = 1_000;

/** Compares two recordings, as `parlance diff` does. */
export async function comparisonOf(before: LiveRecording, after: LiveRecording): Promise<PageComparison> {
  const steps = comparisonSteps(await comparableOf(before), await comparableOf(after));
  let step = steps.next();
  for (let taken = 1; step.done !== true; taken += 1) {
    if (taken % together === 0) await turn();
    step = steps.next();
  }
  const { equal, same, contract, definitions, items, latencies } = step.value;
  return {
    before: before.name,
    after: after.name,
    equal,
    same,
    contract: differencesOf(contract),
    definitions: definitions.map(({ list, unchanged, changes }) => ({
      list,
      unchanged,
      changes: changes.slice(0, mostItems).map(({ name, is, changes: places }) => ({
        name: escapeControls(name),
        is,
        differences: differencesOf(places),
      })),
    })),
    items: items.slice(0, mostItems).map((item) => ({
      before: item.left && itemOf(item.left),
      after: item.right && itemOf(item.right),
      differences: item.is === "changed" ? differencesOf(item.changes) : [],
      outcome: item.is === "changed" && item.outcome,
    })),
    itemCount: items.length,
    latencies: latencies.slice(0, mostItems).map(({ left, right }) => ({
      what: textOf(right),
      n: right.n,
      before: left.latency ?? 0,
      after: right.latency ?? 0,
    })),
  };
}

async function comparableOf({ conversation }: LiveRecording): Promise<Comparable> {
  const comparable = new Comparable();
  for (const [index, row] of conversation.rows.entries()) {
    comparable.take(row);
    if (index % together === together - 1) await turn();
  }
  return comparable;
}

function itemOf(item: ComparedItem): PageComparedItem {
  const { n, from, status, rules } = item;
  return { n, from, what: textOf(item), status: status && escapeControls(status), rules };
}

function textOf({ method, target, value }: ComparedItem): string {
  return escapeControls(messageText(method, target, value));
}

function differencesOf(changes: Comparison["contract"]): readonly PageDifference[] {
  return changes.slice(0, mostPlaces).map(({ pointer, before, after }) => ({
    pointer: escapeControls(pointer),
    before: before === undefined ? undefined : escapeControls(jsonText(before, longest)),
    after: after === undefined ? undefined : escapeControls(jsonText(after, longest)),
  }));
}
