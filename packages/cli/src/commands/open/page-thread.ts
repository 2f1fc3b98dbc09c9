import { parentPort, workerData } from "node:worker_threads";
import { exitCodes } from "../../shared/exit-codes.js";
import type { FromInterceptor } from "../../shared/intercept/interception.js";
import type { FromPageThread, PageThreadStart } from "../tap/run-tap.js";
import { Interception } from "./page-interception.js";
import { servePage } from "./page-server.js";
import { Recordings } from "./recordings.js";

// Serves the page of a recording in a thread of the tap, so that the bytes between a host and its server never wait for the page.

const { path, ...rules } = workerData as PageThreadStart; // Only a tap starts this thread.
const tell = (message: FromPageThread): void => parentPort?.postMessage(message);
const never = new AbortController().signal; // The thread ends with the process.
const interrupt = { stop: never, force: never, exitCode: exitCodes.clean, lostOutput: undefined };
const interception = new Interception("stdio", rules, (says) => tell({ says }));
const port = interception.connect({ apply: (command) => tell({ command }) });
parentPort?.on("message", (report: FromInterceptor) => port.take(report));
const page = await servePage({ recordings: new Recordings(path, interrupt), interception }, 0);
tell({ url: page.url });
