import { parseFilter } from "@parlance/wire";
import { type Command, InvalidArgumentError } from "commander";
import { usageFailure } from "../failure.js";

/** The flags of `addBreakOption`, and the one that shows the page. */
export interface BreakFlags {
  readonly break?: readonly string[];
  readonly ui?: true;
}

/** Adds the option that sets breakpoints. */
export function addBreakOption(command: Command): Command {
  return command.option(
    "--break <filter>",
    "with --ui: hold matching messages until the page releases them; may be repeated",
    collect,
  );
}

/** The filters of the breakpoints. @throws Failure without a page, on which held messages could be released */
export function breakpointsOf({ break: filters = [], ui }: BreakFlags): readonly string[] {
  if (filters.length > 0 && ui !== true)
    throw usageFailure("--break needs --ui: only the page can release held messages", "add --ui");
  return filters;
}

function collect(text: string, others: readonly string[] = []): readonly string[] {
  const parsed = parseFilter(text);
  if (!parsed.ok) throw new InvalidArgumentError(`The filter cannot be read: ${parsed.fault.says}`);
  return [...others, text];
}
