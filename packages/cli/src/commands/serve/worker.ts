// A process that serves a module until it changes. The command then starts a new one: a process imports a module only once.

import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { exitCodes } from "../../shared/exit-codes.js";
import { toFailure } from "../../shared/failure.js";
import { readyReport, serveModule, type Transport, type WorkerReport } from "./serving.js";

/** Milliseconds that running calls get to finish when the module has changed. */
const grace = 1_000;

const [path = "", transportText = ""] = process.argv.slice(2);
const transport: Transport = JSON.parse(transportText);
const files = watchImports();

/** Resolves when the command disconnects or exits. */
const released = new Promise<void>((resolve) => {
  process.once("disconnect", resolve);
});

/** Sends the report to the command. Resolves also if the command has disconnected in the meantime. */
function report(message: WorkerReport): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}

// A terminal sends Ctrl-C to all its processes. The command decides when this one ends.
process.on("SIGINT", () => undefined);

try {
  const serving = await serveModule(path, transport);
  const { http, over } = serving;
  await report(readyReport(serving, files()));
  await Promise.race([over, released]);
  await (http?.drain(grace) ?? over);
} catch (error) {
  const { message, seen, remedy } = toFailure(error, "opening");
  await report({ kind: "failed", files: files(), message, seen, remedy });
  process.exitCode = exitCodes.unreachable;
}
if (process.connected) process.disconnect();
// The module may have left timers behind.
process.exit();

/** Collects the files that are imported from now on; the returned function lists them, without those of packages. */
function watchImports(): () => readonly string[] {
  const { port1: port, port2: loaderPort } = new MessageChannel();
  port.unref();
  register(new URL("./loader-hooks.js", import.meta.url), { data: { files: loaderPort }, transferList: [loaderPort] });
  const files = new Set<string>();
  return () => {
    for (let loaded = receiveMessageOnPort(port); loaded !== undefined; loaded = receiveMessageOnPort(port)) {
      const url = String(loaded.message);
      if (url.startsWith("file:") && !url.includes("/node_modules/")) files.add(fileURLToPath(url));
    }
    return [...files];
  };
}
