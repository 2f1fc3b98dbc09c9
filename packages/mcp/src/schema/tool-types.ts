import type { Schema } from "./compile.js";

/** What the types of a tool's calls come from: the definition that the server was given has both. */
export interface ToolSchemas {
  readonly inputSchema?: Schema | undefined;
  readonly outputSchema?: Schema | undefined;
}

/** The tools of a server by name, for typed calls. They are types alone: what comes is checked by what the server lists. */
export type ToolTypes = Readonly<Record<string, ToolSchemas>>;
