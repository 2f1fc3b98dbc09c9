import { latencyOf, type Row } from "../conversation/row.js";
import { type Filter, type FilterContext, parseFilter, parseQuantity } from "./filter.js";
import { comparisons, compileFilter, countOf } from "./match.js";
import { type Parsed, parsedBy, Unexpected } from "./pattern.js";

/** The measure of an expectation over the rows that match its filter. */
export type Aggregate = "count" | "min" | "max" | "p50" | "p95" | "p99";

/** A condition on a recording: `count(tool:search)>=1`, `p95(tool:search)<200ms`. */
export interface Expectation {
  /** The text as written. */
  readonly text: string;
  /** The quantity that is measured. */
  readonly aggregate: Aggregate;
  /** The messages that are counted. */
  readonly filter: Filter;
  /** How the measured value is compared with `wanted`. */
  readonly op: ">" | "<" | ">=" | "<=" | "=" | "!=";
  /** The number of messages, or milliseconds. */
  readonly wanted: number;
}

/** An expectation, or why the text is not one. */
export type ParsedExpectation = Parsed<{
  /** The expectation. */
  readonly expectation: Expectation;
}>;

/** The result of an expectation. */
export interface ExpectationResult {
  /** The expectation that was evaluated. */
  readonly expectation: Expectation;
  /** Whether it holds. */
  readonly holds: boolean;
  /** The measured value; undefined if there was no response to measure. */
  readonly found: number | undefined;
}

const form = /^\s*(count|min|max|p50|p95|p99)\s*\(([\s\S]*)\)\s*(>=|<=|!=|>|<|==?|:)\s*(\S+)\s*$/;

/**
 * Reads an expectation. Never throws.
 *
 * @example
 * const parsed = parseExpectation("p95(tool:search)<200ms");
 */
export function parseExpectation(text: string, context: FilterContext = {}): ParsedExpectation {
  return parsedBy(() => ({ expectation: expectationIn(text, context) }));
}

function expectationIn(text: string, context: FilterContext): Expectation {
  const [, aggregate, inner, op, value] = form.exec(text) ?? [];
  if (aggregate === undefined || inner === undefined || op === undefined || value === undefined)
    throw new Unexpected(
      0,
      "an expectation is count(filter)>=1, or min max p50 p95 p99 of the latency: p95(filter)<200ms",
    );
  const parsed = parseFilter(inner, context);
  const innerAt = text.indexOf("(") + 1;
  if (!parsed.ok) throw new Unexpected(innerAt + parsed.fault.at, parsed.fault.says);
  const wanted = parseQuantity(value, aggregate === "count" ? "plain" : "milliseconds");
  if (wanted === undefined)
    throw new Unexpected(
      text.lastIndexOf(value),
      `${aggregate === "count" ? "a number" : "a duration as 200ms or 1.5s"} was expected, got ${JSON.stringify(value)}`,
    );
  return {
    text: text.trim(),
    aggregate: aggregate as Aggregate, // The pattern matches no other text.
    filter: parsed.filter,
    op: (op === ":" || op === "==" ? "=" : op) as Expectation["op"],
    wanted,
  };
}

/** Checks an expectation on all rows of a recording. */
export function checkExpectation(expectation: Expectation, rows: readonly Row[]): ExpectationResult {
  const { aggregate, op, wanted } = expectation;
  const found = aggregate === "count" ? count(expectation, rows) : latency(expectation, aggregate, rows);
  return { expectation, found, holds: found !== undefined && comparisons[op](found, wanted) };
}

function count({ filter }: Expectation, rows: readonly Row[]): number {
  const messages = countOf(filter);
  return rows.reduce((sum, row) => sum + messages(row), 0);
}

const places: Readonly<Record<Exclude<Aggregate, "count">, number>> = {
  min: 0,
  p50: 0.5,
  p95: 0.95,
  p99: 0.99,
  max: 1,
};

/** A percentile of latencies, by nearest rank. */
function latency(
  { filter }: Expectation,
  aggregate: Exclude<Aggregate, "count">,
  rows: readonly Row[],
): number | undefined {
  const matches = compileFilter(filter);
  const latencies = rows
    .filter(matches)
    .flatMap(({ messages }) => messages.map(latencyOf))
    .filter((each) => each !== undefined)
    .sort((a, b) => a - b);
  return latencies[Math.max(0, Math.ceil(places[aggregate] * latencies.length) - 1)];
}
