import { type ChildChannel, type Command, childChannel } from "@parlance/mcp/node";
import { onTestFinished } from "vitest";
import { expectNobodyLeft } from "../node/conversations.js";

const started: ChildChannel[] = [];

/** Starts a command as often as a client opens a channel. Fails the test if a process of it is left at the end. */
export function dialler(command: Command): () => ChildChannel {
  onTestFinished(async () => {
    const groups = started.splice(0).flatMap(({ pid }) => pid ?? []);
    if (groups.length > 0) await expectNobodyLeft(groups);
  });
  return () => {
    const channel = childChannel(command, { exitGrace: 100 });
    started.push(channel);
    return channel;
  };
}

/** How many processes the test has started. */
export function startedProcesses(): number {
  return started.length;
}

/** Stands before the programs below: what a module needs to serve the process that has started it. */
const serving = `
  import { createServer } from "@parlance/mcp/server";
  import { serveStdio } from "@parlance/mcp/node";
  const server = createServer({ name: "child", version: "1.0.0" });
`;

/** A process that serves what `tools` adds to `server`; \`tail\` is run when the conversation is over. */
export function serverProcess(tools: string, tail = ""): Command {
  const source = `${serving}${tools}\nawait (await serveStdio(server)).closed;\n${tail}`;
  return { command: process.execPath, args: ["--input-type=module", "--eval", source] };
}
