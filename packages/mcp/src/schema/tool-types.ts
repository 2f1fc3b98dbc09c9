import type { Schema } from "./compile.js";

/** The input and output schema of one tool. A tool definition has both members. */
export type ToolSchemas = Readonly<{
  /** The schema of the arguments; undefined for a tool without any. */
  inputSchema?: Schema | undefined;
  /** The schema of the structured output; undefined for a tool without any. */
  outputSchema?: Schema | undefined;
}>;

/**
 * Tools by name, for typed calls: `connect<Tools>()`. Types only; the client validates against the server's tool list.
 */
export interface ToolTypes {
  /** The schemas of the tool of that name. */
  readonly [name: string]: ToolSchemas;
}
