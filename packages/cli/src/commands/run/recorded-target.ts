import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { usageFailure } from "../../shared/failure.js";
import { listenForTaps } from "../../shared/intercept/control-socket.js";
import { missingAtEnd, Recorder } from "../../shared/recorder/recorder.js";
import { hostName, newRecordingPath, numberedPath, serverName } from "../../shared/recorder/recording-name.js";
import type { CommandTarget, RecordedRequests } from "../../shared/target/configured-target.js";
import type { Target } from "../../shared/target/target.js";
import type { Interception } from "../open/page-interception.js";
import { whyUnreachable } from "../proxy/headers.js";
import { proxyHeader, startProxy } from "../proxy/proxy.js";
import type { ProxyInterceptor } from "../proxy/proxy-interceptor.js";

/** A target behind a recorder. */
export interface RecordedTarget {
  readonly target: Target;
  /** The path of the recording. A restarted server gets another one beside it. */
  readonly path: string;
  /** The path of the recording that another conversation would get. */
  next(): string;
  /** Ends the recording. Resolves to a warning if lines are missing. */
  end(): Promise<string | undefined>;
}

/** The path of a recording, and the name of the server in it. */
export interface RecordAs {
  readonly record?: string;
  readonly name?: string;
  /** Whether credentials in HTTP headers are recorded uncovered. */
  readonly keepSecrets?: boolean;
}

const command = fileURLToPath(new URL("../../parlance.js", import.meta.url));

/** Puts a recorder in front of a target: the tap in front of a command, the proxy in front of a URL. @throws Failure */
export function recordedTarget(
  target: Target,
  as: RecordAs,
  interception?: Interception,
): Promise<RecordedTarget> | RecordedTarget {
  const { record } = as;
  // `run` shows what it reads from the recording.
  if (record !== undefined && statSync(record, { throwIfNoEntry: false })?.isFile() === false)
    throw usageFailure(`--record: ${record} is not a file`, "name a new file, or leave the option out");
  if (target.kind === "command") return behindTap(target, [target.command, ...target.args], as, interception);
  if (target.kind === "url") return behindProxy(target, as, interception);
  // A module in memory exchanges no bytes: serve it as a program instead.
  const words = [process.execPath, command, "serve", "--no-watch", target.title];
  return behindTap({ title: target.title, env: {} }, words, { name: serverName([target.title]), ...as }, interception);
}

async function behindTap(
  { title, env, cwd }: Pick<CommandTarget, "env" | "cwd"> & Pick<Target, "title">,
  words: readonly string[],
  { record, name }: RecordAs,
  interception: Interception | undefined,
): Promise<RecordedTarget> {
  const path = unused(record ?? newRecordingPath(name ?? serverName(words), process.env));
  const control = interception && (await listenForTaps((tap) => interception.connect(tap)));
  const controlled = control === undefined ? [] : ["--control", control.path];
  const args = [command, "tap", "--launched", ...controlled, "--record", resolve(path), "--", ...words];
  const target: Target = {
    kind: "command",
    title,
    command: process.execPath,
    args,
    env,
    ...(cwd !== undefined && { cwd }),
  };
  return {
    target,
    path,
    next: () => unused(path),
    async end() {
      control?.close();
      return undefined;
    },
  };
}

/** The first numbered path without a file. The tap would also choose a free path, but `run` must know it. */
function unused(path: string): string {
  for (let number = 1; ; number += 1) {
    if (!existsSync(numberedPath(path, number))) return numberedPath(path, number);
  }
}

async function behindProxy(
  { title, url, headers }: Extract<Target, { kind: "url" }>,
  { record, name, keepSecrets = false }: RecordAs,
  interception: Interception | undefined,
): Promise<RecordedTarget> {
  if (url.protocol.startsWith("ws")) {
    throw usageFailure(
      `${title}: the messages on a WebSocket cannot be recorded yet`,
      `parlance talk ${title} shows it without a recording`,
    );
  }
  const recorder = new Recorder({
    path: record ?? newRecordingPath(name ?? hostName(url), process.env),
    header: proxyHeader("launch", url, keepSecrets),
  });
  const interceptor = interception && (await interceptorOf(recorder, interception));
  const proxy = await startProxy({
    target: url,
    host: "127.0.0.1",
    port: 0,
    anyHost: false,
    keepsSecrets: keepSecrets,
    interceptor,
    isTransparent: true,
    recorder,
  });
  const { origin } = proxy.url;
  const recorded: RecordedRequests = {
    // The client uses the URL of the server, so that tokens are for it and not for the address of the proxy.
    async fetch(at, init) {
      const response = await fetch(at.origin === url.origin ? new URL(at.pathname + at.search, origin) : at, init);
      const why = await whyUnreachable(response);
      if (why === undefined) return response;
      throw new TypeError("fetch failed", { cause: new Error(why) }); // As without the proxy.
    },
    signIns: proxy.signIns,
  };
  const path = await recorder.opened;
  return {
    target: { kind: "url", title, url, headers, recorded },
    path,
    next: () => path,
    async end() {
      await proxy.close();
      const outcome = await recorder.end();
      return outcome.unreported > 0 ? missingAtEnd(outcome) : undefined;
    },
  };
}

async function interceptorOf(recorder: Recorder, interception: Interception): Promise<ProxyInterceptor> {
  const interceptor = new (await import("../proxy/proxy-interceptor.js")).ProxyInterceptor(undefined, recorder);
  const port = interception.connect(interceptor);
  interceptor.tell = (report) => port.take(report);
  return interceptor;
}
