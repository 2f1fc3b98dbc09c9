import { escapeControls } from "@parlance/mcp/jsonrpc";
import { methods } from "@parlance/mcp/protocol";
import type { PageCost, PageCosts, PageDuration } from "@parlance/web/protocol";
import {
  type Conversation,
  latencyOf,
  literalOf,
  nodeAt,
  type RecordedOperation,
  type WireMessage,
} from "@parlance/wire";
import { estimateTokenCount } from "tokenx";

type Session = Conversation["sessions"][number];
type Tool = NonNullable<ReturnType<Session["tools"]["get"]>>;

/** The tokenizer. Every provider has its own, and some are not public. */
const tokenizer = "tokenx, an estimate without a model's vocabulary";

/** The maximum number of definitions and results on a page, the most expensive first. */
const most = 10;

/** A cache of the costs of definitions, because a page reads them often. */
const known = new WeakMap<Tool, PageCost>();

/** The tokens that the tools of a recording take, and their features that model providers refuse. */
export function costsOf(conversation: Conversation | undefined): PageCosts {
  const sessions = conversation?.sessions ?? [];
  const definitions = sessions.flatMap(({ tools }) => [...tools.values()].flatMap((tool) => definitionOf(tool) ?? []));
  const answers = sessions.flatMap(({ operations }) => operations.flatMap((operation) => resultOf(operation) ?? []));
  const largest = answers.toSorted((a, b) => b.frame.entry.len - a.frame.entry.len).slice(0, most);
  return {
    tokenizer,
    totals: {
      definitions: {
        count: definitions.length,
        bytes: sum(definitions.map(({ bytes }) => bytes)),
        tokens: sum(definitions.map(({ tokens }) => tokens)),
      },
      results: { count: answers.length, bytes: sum(answers.map(({ frame }) => frame.entry.len)), tokens: undefined },
    },
    definitions: definitions.toSorted((a, b) => b.tokens - a.tokens).slice(0, most),
    results: largest.flatMap((answer) => {
      const tool = answer.operation?.request.names ?? "";
      return costOf(answer, `${answer.pointer}/result`, tool) ?? [];
    }),
    slowest: slowestOf(sessions.flatMap(({ operations }) => operations)),
    refusals: (conversation?.portability() ?? []).map(({ rule, n, pointer = "", range, says, spec }) => ({
      rule: rule.id,
      n,
      pointer: escapeControls(pointer),
      range,
      says,
      spec,
    })),
  };
}

/** The cost of a tool definition as the server sent it. */
export function definitionOf(tool: Tool): PageCost | undefined {
  const before = known.get(tool);
  if (before !== undefined) return before;
  const cost = costOf(tool.listed, tool.pointer, String(tool.definition.name));
  if (cost !== undefined) known.set(tool, cost);
  return cost;
}

/** The result of a call of a tool. */
function resultOf({ request, answer }: RecordedOperation): WireMessage | undefined {
  return request.method === methods.callTool && answer?.kind === "res" ? answer : undefined;
}

/** The slowest requests, without subscriptions, which last until the client ends them. */
function slowestOf(operations: readonly RecordedOperation[]): readonly PageDuration[] {
  const latencies = new Map<string, number[]>();
  const answered = operations.flatMap(({ request: { frame, method = "", names }, answer }) => {
    const latency = answer && latencyOf(answer);
    if (latency === undefined || method === methods.listen) return [];
    latencies.set(method, [...(latencies.get(method) ?? []), latency]);
    return [{ n: frame.n, method, names, latency }];
  });
  return answered
    .toSorted((a, b) => b.latency - a.latency)
    .slice(0, most)
    .map(({ n, method, names, latency }) => ({
      n,
      method: escapeControls(method),
      names: names && escapeControls(names),
      latency,
      usual: medianWithout(latency, latencies.get(method) ?? []),
    }));
}

function medianWithout(latency: number, all: readonly number[]): number | undefined {
  const others = all.toSpliced(all.indexOf(latency), 1).sort((a, b) => a - b);
  return others[(others.length - 1) >> 1];
}

function costOf({ frame }: WireMessage, pointer: string, tool: string): PageCost | undefined {
  const { root } = frame.json;
  const node = root && nodeAt(root, pointer);
  if (node === undefined) return undefined;
  const tokens = estimateTokenCount(literalOf(node, frame.bytes));
  return { n: frame.n, tool: escapeControls(tool), bytes: node.end - node.start, tokens };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
