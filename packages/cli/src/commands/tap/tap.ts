import type { TapArguments } from "./arguments.js";
import { startServer } from "./tapped-process.js";

/**
 * Stands between a host and its server on stdio, and records what they say. What comes is passed on before it is looked
 * at; how the server ends is how this process ends.
 */
export async function tap(options: TapArguments): Promise<never> {
  const started = await startServer(options.command, options.args);
  // Load the rest while the server starts.
  const { runTap } = await import("./run-tap.js");
  return runTap(started, options);
}
