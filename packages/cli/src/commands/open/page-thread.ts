import { parentPort, workerData } from "node:worker_threads";
import { exitCodes } from "../../shared/exit-codes.js";
import { servePage } from "./page-server.js";
import { Recordings } from "./recordings.js";

// Serves the page of a recording beside a tap, in a thread: the bytes between a host and its server never wait for the page.

const path: string = workerData; // The recording. Only a tap starts this.
const never = new AbortController().signal; // It ends with the process.
const interrupt = { stop: never, force: never, exitCode: exitCodes.clean, lostOutput: undefined };
const page = await servePage({ recordings: new Recordings(path, interrupt) }, 0);
parentPort?.postMessage(page.url);
