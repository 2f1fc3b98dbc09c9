import { originCheck } from "@parlance/mcp/http";
import { type Command, InvalidArgumentError } from "commander";

/** The option that `addOriginOption` adds. */
export interface OriginFlags {
  readonly allowOrigin?: readonly string[];
}

/** Adds the option of the commands that serve HTTP on this machine. */
export function addOriginOption(command: Command): Command {
  return command.option(
    "--allow-origin <origin>",
    "accept requests of web pages of this origin, besides this machine's (repeatable)",
    origins,
  );
}

function origins(text: string, others: readonly string[] = []): readonly string[] {
  const problem = originProblem(text);
  if (problem === undefined) return [...others, text];
  throw new InvalidArgumentError(`${problem}.`);
}

/** The error for an invalid origin. */
function originProblem(text: string): string | undefined {
  try {
    originCheck({ allowedOrigins: [text] });
    return undefined;
  } catch (error) {
    return (error as TypeError).message; // The only possible error.
  }
}
