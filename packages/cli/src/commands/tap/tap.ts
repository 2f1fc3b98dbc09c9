import type { TapArguments } from "./arguments.js";
import { startServer } from "./tapped-process.js";

/**
 * Runs between a host and its server on stdio, and records both directions. Bytes are forwarded before they are examined, and
 * this process exits as the server does.
 */
export async function tap(options: TapArguments): Promise<never> {
  const started = await startServer(options.command, options.args);
  // Load the rest while the server starts.
  const { runTap } = await import("./run-tap.js");
  return runTap(started, options);
}
