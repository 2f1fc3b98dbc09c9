import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { bytesOf, type Entry } from "@parlance/wire";
import type { Direction } from "../../../../packages/wire/src/recording/entry.js";

/** The command as hosts start it. */
export const command: string = fileURLToPath(new URL("../../../../packages/cli/dist/parlance.js", import.meta.url));

/** How a tapped server looks to its host. */
export interface Tapped {
  readonly child: ChildProcess;
  /** All that came out, once it has ended. */
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly stdout: Buffer;
    readonly stderr: string;
  }>;
  /** Resolves as soon as the output holds the text. */
  until(text: string): Promise<void>;
}

/** Starts a program of JavaScript behind a tap. */
export function tapScript(script: string, env: Readonly<Record<string, string>>, own: readonly string[] = []): Tapped {
  return started(
    spawn(process.execPath, [command, "tap", ...own, "--", process.execPath, "-e", script], {
      env: { ...process.env, ...env },
    }),
  );
}

/** Watches a process that was started. */
export function started(child: ChildProcess): Tapped {
  const chunks: Buffer[] = [];
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin?.on("error", () => undefined); // A server may close its input first.
  const ended = once(child, "close").then(([code, signal]) => ({
    code,
    signal,
    stdout: Buffer.concat(chunks),
    stderr,
  }));
  const until = async (text: string): Promise<void> => {
    while (!Buffer.concat(chunks).includes(text) && child.stdout !== null) await once(child.stdout, "data");
  };
  return { child, ended, until };
}

/** The bytes that crossed one way, as a recording of stdio holds them. */
export function recordedBytesOf(entries: readonly Entry[], d: Direction): Buffer {
  const frames = entries.flatMap((entry) => (entry.k === "f" && entry.d === d ? [entry] : []));
  return Buffer.concat(frames.flatMap((frame) => [bytesOf(frame), Buffer.from(frame.nl)]));
}

/** The lives that a recording tells of, without times and numbers. */
export function livesOf(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => {
    if (entry.k !== "l") return [];
    const { ev, d, code, sig, len } = entry;
    return [[ev, d, code, sig, len].filter((each) => each !== undefined && each !== null).join(" ")];
  });
}
