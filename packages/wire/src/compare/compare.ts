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

/** Options of a comparison. */
export interface ComparisonOptions {
  /** JSON pointers from a message to places that do not count, besides those that differ in every run; `*` is any one token. */
  readonly ignore?: readonly string[];
}

/** A change of one definition of a server. */
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

/** A message that only one conversation has, or that differs. */
export type ItemChange =
  | { readonly is: "only left"; readonly left: ComparedItem; readonly right?: undefined }
  | { readonly is: "only right"; readonly left?: undefined; readonly right: ComparedItem }
  | {
      readonly is: "changed";
      readonly left: ComparedItem;
      readonly right: ComparedItem;
      /** Differences in the message, then in its response. */
      readonly changes: readonly ValueChange[];
      /** The status or the broken rules differ. */
      readonly outcome: boolean;
    };

/** A call that took much longer or shorter. That alone does not make two conversations differ. */
export interface LatencyChange {
  readonly left: ComparedItem;
  readonly right: ComparedItem;
}

/** The differences between two conversations. */
export interface Comparison {
  readonly contract: readonly ValueChange[];
  readonly definitions: readonly DefinitionComparison[];
  readonly items: readonly ItemChange[];
  /** The number of requests, notifications and noise that are equal in both. */
  readonly same: number;
  readonly latencies: readonly LatencyChange[];
  /** The conversations do not differ. */
  readonly equal: boolean;
}

/** Members that every stateless request and response repeats: they belong to the contract. */
const repeatedPointers: readonly string[] = [
  ...[metaKeys.protocolVersion, metaKeys.clientCapabilities, metaKeys.clientInfo].map(
    (key) => `/params/_meta/${key.replaceAll("/", "~1")}`,
  ),
  `/result/_meta/${metaKeys.serverInfo.replaceAll("/", "~1")}`,
];

/** Compares two conversations: the contract, the definitions of the server, and all messages. */
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

/** As `compareConversations`, in small steps, so that the caller can do other work in between. */
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

/** An item with its key, which is computed once because it is long. */
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

/** Members that belong to the contract alone: a different clientInfo does not make a call different. */
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
    // The responses to these are compared as the contract and as definitions.
    ...(isTold || !bothAnswered ? [] : differencesOf(left.answer, right.answer)),
  ];
  return outcome || changes.length > 0 ? [{ is: "changed", left, right, changes, outcome }] : [];
}

/** The factor and the milliseconds from which a change of latency is reported. */
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
