import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  type Connection,
  type ConnectionOptions,
  clientLimits,
  openConnection,
  type Report,
} from "@parlance/mcp/jsonrpc";
import { type ChildChannel, type Command, childChannel } from "@parlance/mcp/node";
import { expect, onTestFinished } from "vitest";
import type { ChildChannelOptions } from "../../packages/mcp/src/node/process/child-process.js";

/** A conversation with a real process. */
export interface Conversation {
  readonly channel: ChildChannel;
  readonly connection: Connection;
  /** The reports of the connection, in order. */
  readonly reports: readonly Report[];
}

export interface ConversationOptions extends ChildChannelOptions {
  readonly connection?: ConnectionOptions;
}

/** Starts a command and opens a connection to it. At the end of the test the process is ended, and must be gone. */
export function converse(
  command: Command,
  { connection: connecting, ...options }: ConversationOptions = {},
): Conversation {
  const reports: Report[] = [];
  const channel = childChannel(command, { exitGrace: 100, ...options });
  const connection = openConnection(channel, {
    timeout: 60_000,
    limits: clientLimits,
    answersUnreadable: false,
    report: (report) => void reports.push(report),
    ...connecting,
  });
  onTestFinished(async () => {
    await connection.close();
    expect(connection.inFlight).toEqual({ outgoing: 0, incoming: 0, waiting: 0, running: 0 });
    await expectNobodyLeft(channel.pid === undefined ? [] : [channel.pid]);
  });
  return { channel, connection, reports };
}

/** Fails while there is a process in one of the groups, or a zombie that this process has not reaped. */
export async function expectNobodyLeft(groups: readonly number[]): Promise<void> {
  await expect.poll(() => processesOf(new Set(groups)), { timeout: 60_000, interval: 20 }).toEqual([]);
}

const run = promisify(execFile);

/** Zombies of a group whose leader is gone belong to the system, which reaps them when it likes. */
async function processesOf(groups: ReadonlySet<number>): Promise<string[]> {
  const { stdout } = await run("ps", ["-A", "-o", "ppid=,pgid=,stat=,args="]);
  return stdout.split("\n").filter((line) => {
    const [parent, group, state] = line.trim().split(/\s+/);
    return state?.startsWith("Z") ? Number(parent) === process.pid : groups.has(Number(group));
  });
}

/** A program of Node. */
export function program(source: string): Command {
  return { command: process.execPath, args: ["--input-type=module", "--eval", source] };
}

/** A script of the shell, with its arguments as `$1`, `$2`, … */
export function script(source: string, ...args: string[]): Command {
  return { command: "/bin/sh", args: ["-c", source, "sh", ...args] };
}

/** The message of the error that a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    return `no failure, but ${JSON.stringify(await promise)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
