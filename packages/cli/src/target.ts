import { existsSync } from "node:fs";
import type { Dial } from "@parlance/mcp/client";
import { memoryChannels } from "@parlance/mcp/jsonrpc";
import type { Command } from "@parlance/mcp/node";
import { exitCodes } from "./exit-codes.js";
import { Failure, usageFailure } from "./failure.js";
import { loadServed } from "./served-module.js";
import { splitWords } from "./split-words.js";

/** A server that a command can speak to, under the name by which the person gave it. */
export type Target =
  | { readonly kind: "command"; readonly title: string; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: "module"; readonly title: string; readonly dial: Dial }
  | { readonly kind: "url"; readonly title: string; readonly url: URL };

/** A target that is started. */
export type CommandTarget = Extract<Target, { readonly kind: "command" }>;

/** How a target is written, for help pages. */
export const targetHelp = `A <target> is one of
  -- command args…     starts the command, speaks to it on stdin and stdout; it
                       gets every variable of this shell, and those of --env
  "command args…"      the same in one word; quotes work, no shell is involved
  https://host/mcp     asks the server at this URL: http, https, ws or wss
  path/to/module.js    imports the file and serves, in memory, what it exports
                       as \`server\` or default`;

/** The words behind the first `--`, which are a command to start, and those before it. */
export function partCommandLine(argv: readonly string[]): {
  readonly own: readonly string[];
  readonly command?: readonly string[];
} {
  const at = argv.indexOf("--");
  return at < 0 ? { own: argv } : { own: argv.slice(0, at), command: argv.slice(at + 1) };
}

/** The target that is written as one word. @throws Failure for one that cannot be reached */
export async function parseTarget(word: string): Promise<Target> {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(word)) return urlTarget(word);
  if (/^(localhost|[\w.-]+\.[a-z]{2,}|[\d.]+|\[[\da-f:]+\]):\d+(\/\S*)?$/i.test(word))
    throw usageFailure(`${word} does not say how it is spoken to`, `write http://${word}`);
  if (/\.[cm]?[jt]s$/.test(word) && (existsSync(word) || !/\s/.test(word))) return loadModule(word);
  const words = splitWords(word);
  if (words === undefined) throw usageFailure(`a quote is not closed in ${word}`);
  return commandTarget(words);
}

/** The target that is a command and its arguments. @throws Failure if there is no command */
export function commandTarget(words: readonly string[]): Target {
  const [command, ...args] = words;
  if (command === undefined || command === "") throw usageFailure("there is no command to start", "-- node server.js");
  return { kind: "command", title: words.map(quoted).join(" "), command, args };
}

/** How the command of a target is started: with every variable of this process, as a shell starts it, and those of `--env`. */
export function startedWith(
  { command, args }: Pick<CommandTarget, "command" | "args">,
  env: Readonly<Record<string, string>>,
): Command {
  return { command, args, env, inheritEnv: "all" };
}

function quoted(word: string): string {
  return /^[^\s'"]+$/.test(word) ? word : JSON.stringify(word);
}

const spoken: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:"]);

function urlTarget(word: string): Target {
  const url = URL.canParse(word) ? new URL(word) : undefined;
  if (url === undefined) throw usageFailure(`${word} is not a URL`, "write all of it: https://example.com/mcp");
  if (!spoken.has(url.protocol)) throw usageFailure(`${word}: ${url.protocol}// is none of http, https, ws and wss`);
  if (url.username !== "" || url.password !== "") {
    url.username = url.password = "";
    const remedy = `--header 'Authorization: Basic …' ${url.href}`;
    throw usageFailure("a URL with a password ends up in logs: give it in a header", remedy);
  }
  return { kind: "url", title: word, url };
}

async function loadModule(path: string): Promise<Target> {
  if (!existsSync(path))
    throw new Failure(`there is no file ${path}`, {
      exitCode: exitCodes.unreachable,
      remedy: "a command goes behind --: parlance talk -- command args…",
    });
  const served = await loadServed(path);
  // Only a server in this process needs the server's half of the library.
  const { serveChannel } = await import("@parlance/mcp/server");
  const dial: Dial = () => {
    const [near, far] = memoryChannels();
    serveChannel(served, far);
    return near;
  };
  return { kind: "module", title: path, dial };
}
