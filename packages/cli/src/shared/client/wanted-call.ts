import { usageFailure } from "../failure.js";
import { splitWords } from "../target/split-words.js";
import { parseArguments, type WrittenArgument } from "./tool-arguments.js";

/** A call that a person asks for. */
export interface WantedCall {
  readonly tool: string;
  readonly args: readonly WrittenArgument[];
}

/** Reads a call as `--call` takes it. @throws Failure */
export function parseCall(text: string): WantedCall {
  const [tool, ...args] = splitWords(text) ?? [];
  if (tool === undefined)
    throw usageFailure(`--call ${text}: name the tool, close the quotes`, '--call "add a:=2 b:=3"');
  return { tool, args: parseArguments(args) };
}
