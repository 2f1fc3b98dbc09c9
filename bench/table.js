import { median, quantile } from "./statistics.js";

/** @import { Cell, Entry, MemoryMeasure, Suite } from "./types.d.ts" */

/**
 * Rounds as figures. A ratio is taken round by round, against the floor's round a moment before.
 * @param {Suite} suite
 * @param {readonly Entry[]} entries
 * @param {Readonly<Record<string, string>>} versions of packages
 * @returns {Cell[]}
 */
export function cellsOf(suite, entries, versions) {
  const [floorName] = suite.contestants;
  return entries.map((entry) => {
    const { contestant, fault } = entry;
    const rounds = entry.rounds.map((round) => round.microseconds);
    const version = versions[entry.package ?? ""];
    const cell = { case: entry.case, contestant, version, fault, bar: suite.bars[contestant]?.[entry.case] };
    if (rounds.length === 0) return cell;
    const floor = entries.find((each) => each.case === entry.case && each.contestant === floorName)?.rounds ?? [];
    const middle = median(rounds);
    return {
      ...cell,
      median: middle,
      min: Math.min(...rounds),
      spread: (quantile(rounds, 0.75) - quantile(rounds, 0.25)) / middle,
      ratio: median(rounds.map((round, index) => round / (floor[index]?.microseconds ?? Number.NaN))),
      bytes: entry.rounds.at(-1)?.bytes,
    };
  });
}

/**
 * The cells as text for people: one row per case, one column per contestant.
 * @param {Suite} suite
 * @param {readonly Cell[]} cells
 */
export function print({ memory }, cells) {
  const cases = unique(cells.map((cell) => cell.case));
  const contestants = unique(cells.map((cell) => cell.contestant));
  const weighed = unique(cells.filter((cell) => cell.bytes !== undefined).map((cell) => cell.case));
  /**
   * @param {(cell: Cell) => string} show
   * @param {readonly string[]} [rows]
   */
  const grid = (show, rows = cases) => [
    ["", ...contestants.map((name) => titleOf(name, cells))],
    ...rows.map((name) => [
      name,
      ...contestants.map((contestant) => {
        const cell = cells.find((each) => each.case === name && each.contestant === contestant);
        return cell?.median === undefined ? "–" : show(cell);
      }),
    ]),
  ];
  return [
    "CPU per message: median in µs, × floor, and the bar where there is one",
    align(grid(showMedian)),
    "",
    "Fastest round in µs, and the width of the middle half of the rounds",
    align(grid(showSpread)),
    ...(memory === undefined
      ? []
      : ["", `${memory.title}, in ${memory.unit}`, align(grid(memoryIn(memory, cells), weighed))]),
    ...notes(cells),
  ].join("\n");
}

/** @param {Cell} cell */
function showMedian({ median: middle = 0, ratio = 0, bar }) {
  const verdict = bar === undefined ? "" : ` ≤${bar.toFixed(2)} ${ratio <= bar ? "✓" : "✗"}`;
  return `${digits(middle)} ×${ratio.toFixed(2)}${verdict}`;
}

/** @param {Cell} cell */
function showSpread({ min = 0, spread = 0 }) {
  return `${digits(min)} ${(spread * 100).toFixed(1)}%`;
}

/**
 * @param {MemoryMeasure} memory
 * @param {readonly Cell[]} cells
 */
function memoryIn({ unit, bar }, cells) {
  const scale = { KB: 1024, MB: 1024 * 1024 }[unit];
  return (/** @type {Cell} */ { case: name, contestant, bytes = 0 }) => {
    const floor = cells.find((cell) => cell.case === name)?.bytes ?? 0;
    const [size, most] = [bytes / scale, bar(floor / scale)];
    const verdict = contestant === "parlance" ? ` ≤${digits(most)} ${size <= most ? "✓" : "✗"}` : "";
    return digits(size) + verdict;
  };
}

/** @param {number} value */
function digits(value) {
  return value < 100 ? value.toPrecision(3) : value.toFixed(0);
}

/**
 * @param {string} contestant
 * @param {readonly Cell[]} cells
 */
function titleOf(contestant, cells) {
  const version = cells.find((cell) => cell.contestant === contestant && cell.version !== undefined)?.version;
  return version === undefined ? contestant : `${contestant} ${version}`;
}

/**
 * One line per contestant and fault.
 * @param {readonly Cell[]} cells
 */
function notes(cells) {
  const lines = cells
    .filter((cell) => cell.fault !== undefined)
    .map((cell) => `${cell.contestant} was left out: ${cell.fault}`);
  return lines.length === 0 ? [] : ["", ...unique(lines)];
}

/** @param {readonly string[][]} rows */
function align(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** @param {readonly string[]} values */
function unique(values) {
  return [...new Set(values)];
}
