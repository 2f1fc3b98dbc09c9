// A process that serves a module until the module changes. The command starts it anew then: what is imported once stays.
import { exitCodes } from "../../shared/exit-codes.js";
import { toFailure } from "../../shared/failure.js";
import { watchImports } from "./loaded-files.js";
import { serveModule, type Transport } from "./serving.js";
import { readyReport, type WorkerReport } from "./worker-report.js";

/** Milliseconds that running calls have when the module has changed. */
const grace = 1_000;

const [path = "", port] = process.argv.slice(2);
const transport: Transport = port === undefined ? { kind: "stdio" } : { kind: "http", port: Number(port) };
const files = watchImports();

/** The command has let go of this process, or is gone. */
const released = new Promise<void>((resolve) => {
  process.once("disconnect", resolve);
});

/** Resolves when it is written; whoever has let go meanwhile need not know. */
function report(told: WorkerReport): Promise<void> {
  return new Promise((resolve) => process.send?.(told, () => resolve()));
}

// Ctrl-C in a terminal reaches every process of it; the command decides what becomes of this one.
process.on("SIGINT", () => undefined);

try {
  const serving = await serveModule(path, transport);
  const { http, over } = serving;
  await report(readyReport(serving, files()));
  await Promise.race([over, released]);
  await (http?.drain(grace) ?? over);
} catch (error) {
  const { message, seen, remedy } = toFailure(error, "opening");
  await report({ kind: "failed", files: files(), message, seen, ...(remedy !== undefined && { remedy }) });
  process.exitCode = exitCodes.unreachable;
}
if (process.connected) process.disconnect();
// The module may have left timers behind.
process.exit();
