import { basename } from "node:path";
import type { Output } from "../../shared/output/terminal.js";
import { Recorder } from "../../shared/recorder/recorder.js";
import { newRecordingPath } from "../../shared/recorder/recording-name.js";
import { TailedRecording, TailView } from "../../shared/recordings/tailed-recording.js";
import { proxyHeader, startProxy } from "../proxy/proxy.js";
import { portFailure } from "./serving.js";

/** The options of `showTraffic`. */
interface TrafficOptions {
  /** The port for clients. */
  readonly port: number;
  readonly allowedOrigins: readonly string[];
  readonly output: Output;
  readonly json: boolean;
}

/** The traffic between clients and a served module. */
export interface Traffic {
  /** The URL for clients. */
  readonly url: URL;
  /** Forwards requests to the module, which listens on a port of its own; a reloaded one may have another. */
  forwardTo(port: number): void;
  close(): Promise<void>;
}

/** The discard port, on which nothing listens: requests before the module is loaded get 502. */
const discard = 9;

/**
 * Listens for clients, forwards their requests to a served module, and prints and records every message. @throws Failure if the
 * port is in use
 */
export async function showTraffic({ port, allowedOrigins, output, json }: TrafficOptions): Promise<Traffic> {
  const host = "127.0.0.1";
  const path = newRecordingPath("serve", process.env);
  const shown = new TailedRecording(basename(path), new TailView(output, json));
  const recorder = new Recorder({
    path,
    header: proxyHeader("proxy", new URL(`http://${host}:${port}/mcp`), false),
    onEntries: (entries) => {
      for (const entry of entries) shown.take({ entry });
    },
  });
  // The proxy reads the address for every request.
  const target = new URL(`http://${host}:${discard}/mcp`);
  try {
    const proxy = await startProxy({ target, host, port, anyHost: false, allowedOrigins, recorder });
    return {
      url: proxy.url,
      forwardTo(port) {
        target.port = String(port);
      },
      async close() {
        await proxy.close();
        await recorder.end();
        if (!json) output.print(output.style.dim(`recorded to ${path}`));
      },
    };
  } catch (error) {
    await recorder.end();
    throw portFailure(port, error);
  }
}
