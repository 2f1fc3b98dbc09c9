import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import type { RunningServer } from "../../fixtures/misbehaving/running-server.js";

const interop = join(import.meta.dirname, "../../interop/programs");
const examples = join(interop, "../node_modules/@modelcontextprotocol/sdk/dist/esm/examples");
const onFreePorts = ["--import", join(interop, "fixed-ports.js")];

/** The file of `server-everything`, which is there if `npm ci --prefix test/interop` was run. */
export const everything: string = join(
  interop,
  "../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
);

/** The command of a program: `example:server/x.js` is one of the official SDK's examples, as its package has them; others are ours. */
export type Words = readonly [file: string, ...args: readonly string[]];

type Variables = Readonly<Record<string, string>>;

function launched([file, ...args]: Words, env: Variables, flags: readonly string[] = onFreePorts): ChildProcess {
  const path = file.startsWith("example:") ? join(examples, file.slice("example:".length)) : join(interop, file);
  return spawn(process.execPath, [...flags, path, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
}

/** Starts a server of others, and resolves when it says where it is. Its own words are dropped. */
export async function startOther(words: Words, path = "/mcp", env: Variables = {}): Promise<RunningServer> {
  const keepsPorts = env.MCP_PORT !== undefined;
  const child = launched(words, env, keepsPorts ? [] : onFreePorts);
  const port = await said(
    child,
    keepsPorts ? /MCP .* listening on port (\d+)/ : /listening on port (\d+)\.$|http:\/\/127\.0\.0\.1:(\d+)/m,
  );
  const exit = once(child, "exit");
  return {
    // The official examples that check the names of hosts know this one.
    url: `http://${keepsPorts ? "localhost" : "127.0.0.1"}:${port}${path}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}

/** The first thing that matches in what a process says. Rejects if it ends before. */
function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const take = (chunk: Buffer): void => {
      text += chunk.toString();
      const [, first, second] = pattern.exec(text) ?? [];
      const found = first ?? second;
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
    child.once("exit", (code) => reject(new Error(`it ended with code ${code}: ${text}`)));
  });
}

/**
 * Lines that a person types, each when the program shows its prompt. A program also shows it after a notification: a line with a
 * text is done when the program has printed that text, and the next one waits for it.
 */
export type Typed = readonly (string | readonly [line: string, done: string])[];

/** Runs a client of others to its end, and gives what it said. Rejects if it fails. */
export async function runOther(words: Words, env: Variables = {}, typed: Typed = []): Promise<string> {
  const child = launched(words, env);
  const lines = [...typed];
  let text = "";
  let awaited = "";
  let typedAt = 0;
  const take = (chunk: Buffer): void => {
    text += chunk.toString();
    if (!/(?:> |: |\? )$/.test(text) || !text.slice(typedAt).includes(awaited)) return;
    const next = lines.shift();
    if (next === undefined) return;
    const [line, done] = typeof next === "string" ? [next, ""] : next;
    [awaited, typedAt] = [done, text.length];
    child.stdin?.write(`${line}\n`);
  };
  child.stdout?.on("data", take);
  child.stderr?.on("data", take);
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${words.join(" ")} ended with code ${code}: ${text}`);
  return text;
}

/** Ports that nothing listens on now, for a program that has to be told one. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  return Promise.all(
    servers.map(async (server) => {
      const address = server.address();
      server.close();
      await once(server, "close");
      return typeof address === "object" && address !== null ? address.port : 0;
    }),
  );
}
