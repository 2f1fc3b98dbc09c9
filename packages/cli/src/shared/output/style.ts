import type { Level } from "@parlance/wire";

/** Puts a colour or a weight around a text. */
export type Paint = (text: string) => string;

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

/** The sign of a verdict by its level. */
export const signs: Readonly<Record<Level, string>> = { must: "✖", should: "!", may: "ℹ" };

/** Colours and weights. */
export type Style = Readonly<Record<keyof typeof codes, Paint>>;

/** A style with colours, or one without any effect. */
export function styleOf(coloured: boolean): Style {
  const paint = ([on, off]: readonly [number, number]): Paint =>
    coloured ? (text) => (text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`) : (text) => text;
  return {
    bold: paint(codes.bold),
    dim: paint(codes.dim),
    red: paint(codes.red),
    green: paint(codes.green),
    yellow: paint(codes.yellow),
    blue: paint(codes.blue),
    magenta: paint(codes.magenta),
    cyan: paint(codes.cyan),
  };
}

/** Whether to use colours: on a terminal, unless `NO_COLOR` or `FORCE_COLOR` decides. */
export function usesColour(isTerminal: boolean, env: NodeJS.ProcessEnv): boolean {
  const { NO_COLOR = "", FORCE_COLOR, TERM } = env;
  if (NO_COLOR !== "" || FORCE_COLOR === "0" || FORCE_COLOR === "false") return false;
  return FORCE_COLOR !== undefined || (isTerminal && TERM !== "dumb");
}
