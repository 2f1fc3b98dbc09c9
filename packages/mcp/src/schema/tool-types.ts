import type { Schema } from "./compile.js";

/** The input and output schema of one tool. A tool definition has both members. */
export interface ToolSchemas {
  readonly inputSchema?: Schema | undefined;
  readonly outputSchema?: Schema | undefined;
}

/**
 * Tools by name, for typed calls: `connect<Tools>()`. Types only; the client validates against the server's tool list.
 */
export type ToolTypes = Readonly<Record<string, ToolSchemas>>;
