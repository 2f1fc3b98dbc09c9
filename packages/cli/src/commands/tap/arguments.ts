import type { FaultPlan } from "../../shared/faults/fault.js";

/** The arguments of `parlance tap`. */
export interface TapArguments {
  readonly command: string;
  readonly args: readonly string[];
  readonly record?: string | undefined;
  readonly name?: string | undefined;
  readonly verbose?: boolean | undefined;
  /** Whether to show the recording in the browser. */
  readonly ui?: boolean | undefined;
  readonly faults?: FaultPlan | undefined;
  /** The filters of breakpoints. */
  readonly breakpoints?: readonly string[] | undefined;
  /** The path of the socket from which another parlance command sets breakpoints and faults. */
  readonly control?: string | undefined;
  /** Whether another parlance command started the tap, and not a host. */
  readonly launched?: boolean | undefined;
}

/** An option of a tap: its flags in the syntax of commander, and its line on the help page. Without a line it is hidden. */
interface TapOption {
  readonly flags: string;
  readonly description?: string;
}

/** The options of a tap, except those on faults. */
export const tapOptions: readonly TapOption[] = [
  { flags: "--record <file>", description: "record to this file; a file that is not empty is never overwritten" },
  { flags: "--name <name>", description: "the server's name in the name of the recording" },
  { flags: "-v, --verbose", description: "print the path of the recording and each violation to stderr" },
  { flags: "--ui", description: "also show the recording in the browser, and print the address to stderr" },
  { flags: "--launched" },
  { flags: "--control <path>" },
  // `parlance wrap` stores the original members here, for `unwrap` to restore. The tap ignores them.
  { flags: "--wrapped-url <member>" },
  { flags: "--wrapped-type <literal>" },
];

/**
 * Parses the usual command line of a tap, by the same table as commander: loading commander would delay the server. Undefined for
 * any other command line, which commander parses, with the help page and error messages.
 */
export function parseTapArguments(argv: readonly string[]): TapArguments | undefined {
  const at = argv.indexOf("--");
  const [command, ...args] = argv.slice(at + 1);
  if (argv[0] !== "tap" || at < 0 || command === undefined || command === "") return undefined;
  const given = new Map<string, string>();
  const words = argv.slice(1, at).values();
  for (const word of words) {
    const names = tapOptions.map(({ flags }) => flags.split(/,? /)).find((each) => each.includes(word));
    if (names === undefined) return undefined;
    const hasValue = names.at(-1)?.startsWith("<") === true;
    const value = hasValue ? words.next().value : "";
    if (value === undefined || (hasValue && /^(-|$)/.test(value))) return undefined;
    given.set(names.find((name) => name.startsWith("--")) ?? word, value);
  }
  const [record, name, control] = [given.get("--record"), given.get("--name"), given.get("--control")];
  const [verbose, ui, launched] = [given.has("--verbose"), given.has("--ui"), given.has("--launched")];
  return { command, args, record, name, verbose, ui, launched, control };
}
