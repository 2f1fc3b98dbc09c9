import { existsSync } from "node:fs";
import { type Channel, memoryChannels } from "@parlance/mcp/jsonrpc";
import { unreachableFailure, usageFailure } from "../failure.js";
import type { ConfiguredTarget } from "./configured-target.js";
import { hosts } from "./host-table.js";

/** A server that a command can connect to. A module is served in this process. */
export type Target =
  | ConfiguredTarget
  | { readonly kind: "module"; readonly title: string; readonly dial: () => Channel };

/** The names of the hosts, on two lines. */
function hostWords(indent: string): string {
  const names = hosts.map(({ name }) => name);
  return `${names.slice(0, 4).join(", ")},\n${indent}${names.slice(4).join(", ")}`;
}

/** The forms of a target, for help pages. */
export const targetHelp: string = `A <target> is one of
  -- command args…     a command to start, which uses stdin and stdout; it has
                       all variables of this shell, and those of --env
  "command args…"      the same as one argument; quotes work, there is no shell
  https://host/mcp     a server at a URL: http, https, ws or wss
  path/to/module.js    a file that exports a server as \`server\` or default; it
                       is served in memory
  host:server          a configured server, by its name; a host is one of
                       ${hostWords("                       ")}
  ./mcp.json:server    the same in any file, JSON or TOML`;

/** Splits a command line at the first `--`, after which the words are a command to start. */
export function partCommandLine(argv: readonly string[]): {
  readonly own: readonly string[];
  readonly command?: readonly string[];
} {
  const at = argv.indexOf("--");
  return at < 0 ? { own: argv } : { own: argv.slice(0, at), command: argv.slice(at + 1) };
}

/** Whether a word names a server of a configuration: `host:server`, or `file.json:server`. */
export function namesConfigured(word: string): boolean {
  const [, prefix = ""] = /^(.+\.(?:jsonc?|toml)|[\w.-]+):[^/\\]/.exec(word) ?? [];
  return /\.(?:jsonc?|toml)$/.test(prefix) || hosts.some(({ name }) => name === prefix);
}

/** The target written as one word. @throws Failure for an invalid target */
export async function parseTarget(word: string, inputs: Readonly<Record<string, string>> = {}): Promise<Target> {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(word)) return urlTarget(word);
  if (/^(localhost|[\w.-]+\.[a-z]{2,}|[\d.]+|\[[\da-f:]+\]):\d+(\/\S*)?$/i.test(word))
    throw usageFailure(`${word} has no scheme`, `write http://${word}`);
  if (/^\S*?[\w.-]:[^/\\]/.test(word)) {
    // Load the reader of configurations only if the word may name one.
    const { configuredTarget } = await import("./configured-target.js");
    const configured = await configuredTarget(word, inputs);
    if (configured !== undefined) return configured;
  }
  if (/\.[cm]?[jt]s$/.test(word) && (existsSync(word) || !/\s/.test(word))) return loadModule(word);
  const words = splitWords(word);
  if (words === undefined) throw usageFailure(`a quote is not closed in ${word}`);
  return commandTarget(words);
}

/** The target that is a command and its arguments. @throws Failure if there is no command */
export function commandTarget(words: readonly string[]): Target {
  const [command, ...args] = words;
  if (command === undefined || command === "") throw usageFailure("there is no command to start", "-- node server.js");
  if (command.startsWith("-"))
    throw usageFailure(
      `${command} is no command that could be started`,
      "options of parlance stand before --, and after it the command of the server: -- node server.js",
    );
  return { kind: "command", title: words.map(quoted).join(" "), command, args, env: {} };
}

function quoted(word: string): string {
  return /^[^\s'"]+$/.test(word) ? word : JSON.stringify(word);
}

const spoken: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:"]);

function urlTarget(word: string): Target {
  const url = URL.canParse(word) ? new URL(word) : undefined;
  if (url === undefined) throw usageFailure(`${word} is not a URL`, "write the whole URL: https://example.com/mcp");
  if (!spoken.has(url.protocol))
    throw usageFailure(`${word}: ${url.protocol}// is not supported: use http, https, ws or wss`);
  if (url.username !== "" || url.password !== "") {
    url.username = url.password = "";
    const remedy = `--header 'Authorization: Basic …' ${url.href}`;
    throw usageFailure("a URL with a password ends up in logs: give it in a header", remedy);
  }
  return { kind: "url", title: word, url, headers: [] };
}

async function loadModule(path: string): Promise<Target> {
  if (!existsSync(path))
    throw unreachableFailure(`there is no file ${path}`, "a command goes after --: parlance talk -- command args…");
  // Only modules need the server side of the library.
  const { libraryOf, loadServer } = await import("./server-module.js");
  const { serveChannel } = (await libraryOf(path, "server")) ?? (await import("@parlance/mcp/server"));
  const server = await loadServer(path);
  const dial = (): Channel => {
    const [clientChannel, serverChannel] = memoryChannels();
    serveChannel(server, serverChannel);
    return clientChannel;
  };
  return { kind: "module", title: path, dial };
}

/**
 * Splits a command written as one string into words, without a shell. White space separates words; `'…'` is literal, and so is
 * `"…"` except for `\"` and `\\`. A backslash elsewhere is literal, as in paths on Windows. Undefined if a quote is not closed.
 */
export function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  const piece = /(\s+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|([^\s'"]+)/suy;
  let word: string | undefined;
  while (piece.lastIndex < text.length) {
    const [found, space, single, double] = piece.exec(text) ?? [];
    if (found === undefined) return undefined;
    if (space === undefined) {
      word = (word ?? "") + (single ?? double?.replace(/\\(["\\])/g, "$1") ?? found);
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}
