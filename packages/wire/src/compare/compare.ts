import type { Conversation } from "../conversation/conversation.js";
import { Comparable, type ComparisonOptions, type DefinitionList, definitionLists } from "./comparable.js";
import type { ComparedItem } from "./compared.js";
import { differencesOf, type ValueChange } from "./differences.js";

/** A change of one definition of a server. */
export interface DefinitionChange {
  /** The name of the definition: of a tool, resource, template or prompt. */
  readonly name: string;
  /** The change of the definition. */
  readonly is: "added" | "removed" | "changed";
  /** The differences, for one that changed. */
  readonly changes: readonly ValueChange[];
}

/** The definitions of one list. */
export interface DefinitionComparison {
  /** The list that the definitions come from. */
  readonly list: DefinitionList;
  /** The number of definitions that are equal in both. */
  readonly unchanged: number;
  /** The definitions that differ. */
  readonly changes: readonly DefinitionChange[];
}

/** A message that only one conversation has, or that differs. */
export type ItemChange =
  | {
      readonly is: "only left";
      /** The item, which only the first conversation has. */
      readonly left: ComparedItem;
      readonly right?: undefined;
    }
  | {
      readonly is: "only right";
      readonly left?: undefined;
      /** The item, which only the second conversation has. */
      readonly right: ComparedItem;
    }
  | {
      readonly is: "changed";
      /** The item of the first conversation. */
      readonly left: ComparedItem;
      /** The item of the second conversation. */
      readonly right: ComparedItem;
      /** Differences in the message, then in its response. */
      readonly changes: readonly ValueChange[];
      /** Whether the status or the broken rules differ. */
      readonly outcome: boolean;
    };

/** A call that took much longer or shorter. That alone does not make two conversations differ. */
export interface LatencyChange {
  /** The request in the first conversation. */
  readonly left: ComparedItem;
  /** The request in the second conversation. */
  readonly right: ComparedItem;
}

/** The differences between two conversations. */
export interface Comparison {
  /** Differences of revisions, capabilities and names. */
  readonly contract: readonly ValueChange[];
  /** Differences of definitions, by list. */
  readonly definitions: readonly DefinitionComparison[];
  /** Differences of requests, notifications and noise, in order. */
  readonly items: readonly ItemChange[];
  /** The number of requests, notifications and noise that are equal in both. */
  readonly same: number;
  /** Requests whose response took notably longer or shorter. */
  readonly latencies: readonly LatencyChange[];
  /** Whether the conversations do not differ. */
  readonly equal: boolean;
}

/**
 * Compares two conversations: the contract, the definitions of the server, and all messages.
 *
 * @example
 * const { equal, items } = compareConversations(before, after);
 */
export function compareConversations(
  left: Conversation,
  right: Conversation,
  options: ComparisonOptions = {},
): Comparison {
  const steps = comparisonSteps(comparableOf(left, options), comparableOf(right, options));
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function comparableOf({ rows }: Conversation, options: ComparisonOptions): Comparable {
  const comparable = new Comparable(options);
  for (const row of rows) comparable.take(row);
  return comparable;
}

/**
 * Compares two conversations in small steps, so that other work can run in between.
 *
 * @example
 * for (const _ of comparisonSteps(left, right)) await new Promise(setImmediate); // `left` and `right` are a `Comparable` each
 */
export function* comparisonSteps(left: Comparable, right: Comparable): Generator<void, Comparison> {
  const contract = differencesOf(left.contract, right.contract);
  const definitions = compareDefinitions(left.definitions, right.definitions);
  const pairs = yield* alignSteps(left.items, right.items);
  const items: ItemChange[] = [];
  for (const { left: a, right: b } of pairs) {
    if (a !== undefined && b !== undefined) items.push(...changesOf(a, b));
    else if (a !== undefined) items.push({ is: "only left", left: a });
    else if (b !== undefined) items.push({ is: "only right", right: b });
    yield;
  }
  return {
    contract,
    definitions,
    items,
    same: pairs.length - items.length,
    latencies: pairs.flatMap(latencyChange),
    equal: contract.length === 0 && items.length === 0 && definitions.every(({ changes }) => changes.length === 0),
  };
}

function compareDefinitions(
  before: Comparable["definitions"],
  after: Comparable["definitions"],
): readonly DefinitionComparison[] {
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

/** The responses to these methods are compared as definitions. */
const listers: ReadonlySet<string | undefined> = new Set(definitionLists.map(({ method }) => method));

function changesOf(left: ComparedItem, right: ComparedItem): readonly ItemChange[] {
  const outcome = left.status !== right.status || left.rules.join() !== right.rules.join();
  const isCompared = !left.isOpener && !listers.has(left.method);
  const bothAnswered = left.answerKey !== undefined && right.answerKey !== undefined;
  const changes = [
    ...(left.key === right.key ? [] : differencesOf(left.value, right.value)),
    ...(isCompared && bothAnswered && left.answerKey !== right.answerKey
      ? differencesOf(left.answer, right.answer)
      : []),
  ];
  return outcome || changes.length > 0 ? [{ is: "changed", left, right, changes, outcome }] : [];
}

/** The factor and the milliseconds from which a change of latency is reported. */
const largeRatio = 10;
const largeDifference = 25;

function latencyChange({ left, right }: Aligned): readonly LatencyChange[] {
  if (left?.latency === undefined || right?.latency === undefined) return [];
  const [shorter, longer] = [left.latency, right.latency].sort((a, b) => a - b) as [number, number]; // Sorting keeps the length.
  return longer >= shorter * largeRatio && longer - shorter >= largeDifference ? [{ left, right }] : [];
}

/** Two aligned items of two sequences, or one item without a counterpart. */
interface Aligned {
  readonly left: ComparedItem | undefined;
  readonly right: ComparedItem | undefined;
}

/** Two sequences whose lengths have a larger product are aligned by position alone. */
const largestTable = 4_000_000;

/**
 * Aligns two sequences. Items with equal keys are paired first, in order, wherever they are. Of the remaining items, those of the
 * same kind are paired in order (the longest common subsequence). This can take long, so it runs in steps.
 */
function* alignSteps(
  lefts: readonly ComparedItem[],
  rights: readonly ComparedItem[],
): Generator<void, readonly Aligned[]> {
  const partners = pairByOrdinal(lefts, rights, "key");
  yield;
  const taken = new Set(partners.values());
  const restLeft = lefts.filter((item) => !partners.has(item));
  const restRight = rights.filter((item) => !taken.has(item));
  const isSmall = restLeft.length * restRight.length <= largestTable;
  yield;
  const similar = isSmall ? longestCommon(restLeft, restRight) : pairByOrdinal(restLeft, restRight, "kindKey");
  yield;
  for (const [left, right] of similar) {
    partners.set(left, right);
    taken.add(right);
  }
  return [
    ...lefts.map((left): Aligned => ({ left, right: partners.get(left) })),
    ...rights.filter((right) => !taken.has(right)).map((right): Aligned => ({ left: undefined, right })),
  ];
}

function pairByOrdinal(
  lefts: readonly ComparedItem[],
  rights: readonly ComparedItem[],
  by: "key" | "kindKey",
): Map<ComparedItem, ComparedItem> {
  const waiting = new Map<string, ComparedItem[]>();
  for (const right of [...rights].reverse()) {
    const key = right[by];
    const others = waiting.get(key);
    if (others === undefined) waiting.set(key, [right]);
    else others.push(right);
  }
  const pairs = new Map<ComparedItem, ComparedItem>();
  for (const left of lefts) {
    const right = waiting.get(left[by])?.pop();
    if (right !== undefined) pairs.set(left, right);
  }
  return pairs;
}

function longestCommon(
  lefts: readonly ComparedItem[],
  rights: readonly ComparedItem[],
): Map<ComparedItem, ComparedItem> {
  const [a, b] = [lefts.map(({ kindKey }) => kindKey), rights.map(({ kindKey }) => kindKey)];
  const width = b.length + 1;
  // At row * width + column: the number of pairs that a from row on and b from column on allow.
  const lengths = new Uint32Array((a.length + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = a.length - 1; row >= 0; row -= 1)
    for (let column = b.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        a[row] === b[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
  const pairs = new Map<ComparedItem, ComparedItem>();
  for (let row = 0, column = 0; row < a.length && column < b.length; ) {
    const [left, right] = [lefts[row], rights[column]];
    if (a[row] === b[column] && left !== undefined && right !== undefined) {
      pairs.set(left, right);
      row += 1;
      column += 1;
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}
