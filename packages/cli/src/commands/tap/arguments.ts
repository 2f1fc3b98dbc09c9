import type { FaultPlan } from "../../shared/faults/fault-option.js";

/** The arguments of `parlance tap`. */
export interface TapArguments {
  readonly command: string;
  readonly args: readonly string[];
  readonly record?: string;
  readonly name?: string;
  readonly verbose?: boolean;
  readonly faults?: FaultPlan | undefined;
  /** Started by another parlance command, not by a host. */
  readonly launched?: boolean;
}

/** Options with a value in which `parlance wrap` keeps what `unwrap` puts back. They mean nothing to the tap. */
export const wrapOptions: readonly string[] = ["--wrapped-url", "--wrapped-type"];

/**
 * The command line of a tap as a host starts it. Undefined for everything else, which is read with more care: with help,
 * and with words for what is wrong.
 */
export function parseTapArguments(argv: readonly string[]): TapArguments | undefined {
  const at = argv.indexOf("--");
  const [command, ...args] = argv.slice(at + 1);
  if (argv[0] !== "tap" || at < 0 || command === undefined || command === "") return undefined;
  let parsed: TapArguments = { command, args };
  const own = argv.slice(1, at).values();
  for (const word of own) {
    if (word === "-v" || word === "--verbose") parsed = { ...parsed, verbose: true };
    else if (word === "--launched") parsed = { ...parsed, launched: true };
    else if (word === "--record" || word === "--name") {
      const { value = "" } = own.next();
      if (value === "" || value.startsWith("-")) return undefined;
      parsed = { ...parsed, [word.slice(2)]: value };
    } else if (wrapOptions.includes(word)) own.next();
    else return undefined;
  }
  return parsed;
}
