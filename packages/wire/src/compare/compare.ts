import { metaKeys, methods } from "@parlance/mcp/protocol";
import type { Conversation } from "../conversation/conversation.js";
import { alignSteps } from "./align.js";
import { type ComparedItem, comparedItems } from "./compared.js";
import { contractOf, type DefinitionList, definitionLists, definitionsOf } from "./contract.js";
import {
  canonicalJson,
  differencesOf,
  ignoring,
  significant,
  type ValueChange,
  volatilePointers,
} from "./differences.js";

/** What can be set about a comparison. */
export interface ComparisonOptions {
  /** JSON pointers from a message to places that do not count, besides those that differ in every run; `*` is any one token. */
  readonly ignore?: readonly string[];
}

/** What happened to one definition of a server. */
export interface DefinitionChange {
  readonly name: string;
  readonly is: "added" | "removed" | "changed";
  readonly changes: readonly ValueChange[];
}

/** The definitions of one list. */
export interface DefinitionComparison {
  readonly list: DefinitionList;
  readonly unchanged: number;
  readonly changes: readonly DefinitionChange[];
}

/** Something that was said on one side alone, or otherwise. */
export type ItemChange =
  | { readonly is: "only left"; readonly left: ComparedItem; readonly right?: undefined }
  | { readonly is: "only right"; readonly left?: undefined; readonly right: ComparedItem }
  | {
      readonly is: "changed";
      readonly left: ComparedItem;
      readonly right: ComparedItem;
      /** In the message, then in its answer. */
      readonly changes: readonly ValueChange[];
      /** The status, or the broken rules, are others. */
      readonly outcome: boolean;
    };

/** A call that took much longer, or much shorter. That alone makes no difference between two conversations. */
export interface LatencyChange {
  readonly left: ComparedItem;
  readonly right: ComparedItem;
}

/** In what two conversations differ. */
export interface Comparison {
  readonly contract: readonly ValueChange[];
  readonly definitions: readonly DefinitionComparison[];
  readonly items: readonly ItemChange[];
  /** Requests, notifications and noise that both have alike. */
  readonly same: number;
  readonly latencies: readonly LatencyChange[];
  /** There is no difference. */
  readonly equal: boolean;
}

/** What every request and every answer of the stateless era repeats: it belongs to the contract. */
const repeatedPointers: readonly string[] = [
  ...[metaKeys.protocolVersion, metaKeys.clientCapabilities, metaKeys.clientInfo].map(
    (key) => `/params/_meta/${key.replaceAll("/", "~1")}`,
  ),
  `/result/_meta/${metaKeys.serverInfo.replaceAll("/", "~1")}`,
];

/** Compares two conversations: the contract, the definitions of the server, and everything that was said. */
export function compareConversations(
  left: Conversation,
  right: Conversation,
  options: ComparisonOptions = {},
): Comparison {
  const steps = comparisonSteps(left, right, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same in small steps, for a caller that does something else between two of them. */
export function* comparisonSteps(
  left: Conversation,
  right: Conversation,
  { ignore = [] }: ComparisonOptions = {},
): Generator<void, Comparison> {
  const ignores = ignoring([...volatilePointers, ...repeatedPointers, ...ignore]);
  const itemsOf = function* (conversation: Conversation): Generator<void, readonly KeyedItem[]> {
    const items: KeyedItem[] = [];
    for (const item of comparedItems(conversation)) {
      const counted = {
        ...item,
        value: significant(item.value, ignores),
        answer: significant(item.answer, ignores),
      };
      items.push({ ...counted, kindKey: kindOf(counted), key: keyOf(counted) });
      yield;
    }
    return items;
  };
  const contract = differencesOf(contractOf(left), contractOf(right));
  const definitions = compareDefinitions(left, right);
  const [lefts, rights] = [yield* itemsOf(left), yield* itemsOf(right)];
  const pairs = yield* alignSteps(
    lefts,
    rights,
    ({ key }) => key,
    ({ kindKey }) => kindKey,
  );
  const items: ItemChange[] = [];
  for (const { left: a, right: b } of pairs) {
    if (a !== undefined && b !== undefined) items.push(...changesOf(a, b));
    else if (a !== undefined) items.push({ is: "only left", left: a });
    else if (b !== undefined) items.push({ is: "only right", right: b });
    yield;
  }
  const isSame =
    contract.length === 0 && items.length === 0 && definitions.every(({ changes }) => changes.length === 0);
  return {
    contract,
    definitions,
    items,
    same: pairs.length - items.length,
    latencies: pairs.flatMap(latencyChange),
    equal: isSame,
  };
}

/** An item, and what it is paired by: made once, because it is long. */
interface KeyedItem extends ComparedItem {
  readonly kindKey: string;
  readonly key: string;
}

function compareDefinitions(left: Conversation, right: Conversation): readonly DefinitionComparison[] {
  const [before, after] = [definitionsOf(left), definitionsOf(right)];
  return definitionLists.map(({ list }) => {
    const [old, fresh] = [before.get(list), after.get(list)];
    const names = new Set([...(old?.keys() ?? []), ...(fresh?.keys() ?? [])]);
    const changes = [...names].flatMap((name): readonly DefinitionChange[] => {
      const [a, b] = [old?.get(name), fresh?.get(name)];
      if (a === undefined) return [{ name, is: "added", changes: [] }];
      if (b === undefined) return [{ name, is: "removed", changes: [] }];
      const found = differencesOf(a, b);
      return found.length === 0 ? [] : [{ name, is: "changed", changes: found }];
    });
    return { list, unchanged: names.size - changes.length, changes };
  });
}

/** What only the contract is made of: two sides that introduce themselves otherwise still make the same call. */
const openers: ReadonlySet<string | undefined> = new Set([methods.initialize, methods.discover]);
const listers: ReadonlySet<string | undefined> = new Set(definitionLists.map(({ method }) => method));

function kindOf({ kind, from, method, target }: ComparedItem): string {
  return JSON.stringify([kind, from, method, target]);
}

function keyOf(item: ComparedItem): string {
  return `${kindOf(item)} ${openers.has(item.method) ? "" : canonicalJson(item.value)}`;
}

function changesOf(left: ComparedItem, right: ComparedItem): readonly ItemChange[] {
  const isOpener = openers.has(left.method);
  const isTold = isOpener || listers.has(left.method);
  const bothAnswered = left.answer !== undefined && right.answer !== undefined;
  const outcome = left.status !== right.status || left.rules.join() !== right.rules.join();
  const changes = [
    ...(isOpener ? [] : differencesOf(left.value, right.value)),
    // What the answers of these say is compared as the contract and as definitions.
    ...(isTold || !bothAnswered ? [] : differencesOf(left.answer, right.answer)),
  ];
  return outcome || changes.length > 0 ? [{ is: "changed", left, right, changes, outcome }] : [];
}

/** How many times as long is worth telling, and how many milliseconds at least. */
const largeRatio = 10;
const largeDifference = 25;

function latencyChange({
  left,
  right,
}: {
  readonly left: ComparedItem | undefined;
  readonly right: ComparedItem | undefined;
}): readonly LatencyChange[] {
  if (left?.latency === undefined || right?.latency === undefined) return [];
  const [shorter, longer] = [left.latency, right.latency].sort((a, b) => a - b) as [number, number]; // Two go in.
  return longer >= shorter * largeRatio && longer - shorter >= largeDifference ? [{ left, right }] : [];
}
