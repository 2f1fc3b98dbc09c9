import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { Argument, type Command } from "commander";
import { applyEdits, type Edit, type Node } from "jsonc-parser";
import { exitCodes } from "../../shared/exit-codes.js";
import { usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { collect } from "../../shared/options.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { type Format, type ServerEntry, treeOf } from "../../shared/target/configuration.js";
import {
  type ConfigurationFile,
  filesOf,
  findHost,
  findServer,
  type LoadedFile,
} from "../../shared/target/configuration-file.js";
import { hosts } from "../../shared/target/host-table.js";
import { diffLines, edited, unifiedDiff, write } from "./edit-file.js";
import { listHosts } from "./view.js";
import {
  type StartedServer,
  type UrlServer,
  unwrapEdits,
  unwrappable,
  wordsOf,
  wrapEdits,
  wrappedIn,
  wrappedWords,
  wrapUrlEdits,
} from "./wrapping.js";

interface WrapFlags {
  readonly config?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

const hostHelp = `A <host> is one of
${hosts.map(({ name, title }) => `  ${name.padEnd(16)}${title}`).join("\n")}
For any other configuration with \`mcpServers\` or \`servers\`, name its file:
--config file. Without arguments, hosts are listed with their files and servers.`;

const outcomeHelp = `Comments, order and layout of the file do not change. The previous file is kept
as <file>.parlance-backup. The change takes effect when the host restarts the
server.

Exit codes:
  0  done, or there was nothing to do
  1  the command line is wrong, or a file cannot be read, parsed or written`;

/** A change to the start of a server. */
interface Change {
  readonly edits: readonly Edit[];
  /** The command line that the host will start; for a URL, the URL. */
  readonly words: readonly string[];
}

type UsableServer = StartedServer | UrlServer;

/** One of the commands `wrap` and `unwrap`. */
interface Verb {
  readonly name: "wrap" | "unwrap";
  readonly summary: string;
  readonly description: string;
  readonly examples: string;
  /** The edits, and the command line of the server after them; undefined if nothing needs to change. */
  readonly edits: (text: string, server: UsableServer, launcher: Launcher) => Change | undefined;
  readonly nothing: string;
}

const verbs: readonly Verb[] = [
  {
    name: "wrap",
    summary: "make a host start one of its servers under parlance tap",
    description: `Edit the configuration of a host so that it starts one of its servers under
\`parlance tap --\`, which records their messages. For a server at a URL, the host
starts \`parlance bridge\` under the tap, which connects to the URL.`,
    examples: `Examples:
  parlance wrap
  parlance wrap claude-desktop git
  parlance wrap vscode git --dry-run
  parlance wrap --config ./mcp.json git`,
    edits(text, server, { words }) {
      if (server.kind === "url") return wrapUrlEdits(text, server, words);
      if (wrappedWords(server) !== undefined) return undefined;
      const before = [...words, "tap", "--"];
      return { edits: wrapEdits(text, server, before), words: [...before, ...wordsOf(server)] };
    },
    nothing: "is wrapped already",
  },
  {
    name: "unwrap",
    summary: "undo parlance wrap",
    description: "Undo the change of `parlance wrap` in the configuration of a host.",
    examples: `Examples:
  parlance unwrap claude-desktop git
  parlance unwrap --config ./mcp.json git --dry-run`,
    edits(text, server) {
      const words = server.kind === "url" ? undefined : wrappedIn(server)?.words;
      return words === undefined ? undefined : { edits: unwrapEdits(text, server), words };
    },
    nothing: "is not wrapped",
  },
];

/** Adds `parlance wrap` and `parlance unwrap`. */
export function registerWrap(program: Command, invocation: Invocation): void {
  for (const verb of verbs) {
    program
      .command(verb.name)
      .summary(verb.summary)
      .description(verb.description)
      .usage(`[options] [<host> <server>]\n       parlance ${verb.name} [options] --config file <server>`)
      // Completion lists the hosts. `findHost` refuses other words with a better message than commander's.
      .addArgument(new Argument("[words...]").choices(hosts.map(({ name }) => name)).argParser(collect))
      .option("--config <file>", "edit this file, for any host")
      .option("--dry-run", "print what would change, and change nothing")
      .option("--json", "print one JSON object, for programs")
      .addHelpText("after", `\n${hostHelp}\n\n${outcomeHelp}\n\n${verb.examples}`)
      .action((words: readonly string[], flags: WrapFlags) =>
        invocation.run(() => run(verb, words, flags, invocation)),
      );
  }
}

async function run(verb: Verb, words: readonly string[], flags: WrapFlags, invocation: Invocation): Promise<number> {
  if (invocation.command !== undefined)
    throw usageFailure("this command takes no command after --", `parlance ${verb.name} <host> <server>`);
  const [hostName, name, ...more] = flags.config === undefined ? words : [undefined, ...words];
  if (more.length > 0) throw usageFailure(`unexpected argument: ${more.join(" ")}`, `parlance help ${verb.name}`);
  const files = filesOf(hostName === undefined ? hosts : [findHost(hostName)], flags.config);
  if (name === undefined) return listHosts(files, { json: flags.json === true, out: invocation.out });
  return edit(verb, name, files, flags, invocation);
}

async function edit(
  verb: Verb,
  name: string,
  files: readonly ConfigurationFile[],
  flags: WrapFlags,
  { out, err }: Invocation,
): Promise<number> {
  const { loaded, server: entry } = await findServer(name, files);
  const server = usable(entry, loaded.path);
  const launcher = launcherOf(loaded);
  const { text, format } = loaded.configuration;
  const change = verb.edits(text, server, launcher);
  const outcome = { action: verb.name, file: loaded.path, server: name, dryRun: flags.dryRun === true };
  if (change === undefined) {
    if (flags.json === true) out.print(jsonLine({ ...outcome, changed: false, command: wordsFor(server) }));
    else out.print(escapeControls(`${name} ${verb.nothing} in ${loaded.path}`));
    return exitCodes.clean;
  }
  const after = edited(loaded, name, change.edits);
  const backup = flags.dryRun === true ? undefined : await write(loaded, after);
  const diff = unifiedDiff(loaded.path, withoutSecrets(text, format), withoutSecrets(after, format));
  if (flags.json === true) {
    out.print(jsonLine({ ...outcome, changed: true, command: change.words, backup, diff: diff.join("\n") }));
    return exitCodes.clean;
  }
  out.print(...diffLines(diff, out.style));
  if (verb.name === "wrap" && launcher.why !== undefined)
    err.print(`started as ${launcher.words.join(" ")}: ${launcher.why}`);
  if (verb.name === "wrap" && server.kind === "url") err.print(...urlNotes(server));
  if (backup === undefined) err.print("nothing is changed: --dry-run");
  else
    err.print(
      `the previous file is ${backup}`,
      `it takes effect when ${loaded.host?.title ?? "the host"} starts ${name} again`,
    );
  return exitCodes.clean;
}

function usable(server: ServerEntry, path: string): UsableServer {
  const why = server.kind === "command" ? undefined : server.kind === "url" ? unwrappable(server) : server.why;
  if (server.kind !== "unusable" && why === undefined) return server;
  const leftAlone = `${server.name} in ${path} is left as it is: ${why}`;
  throw server.kind === "url" ? usageFailure(leftAlone, proxyRemedy(server)) : usageFailure(leftAlone);
}

function wordsFor(server: UsableServer): readonly string[] {
  return server.kind === "url" ? [String(server.url.value)] : wordsOf(server);
}

/** Notes on the differences for a host that connected to the URL itself. */
function urlNotes(server: UrlServer): readonly string[] {
  return [
    "the host starts parlance bridge instead of connecting to the URL: it cannot sign in (OAuth)",
    `to sign in, or to record HTTP itself, use ${proxyRemedy(server)} instead`,
  ];
}

function proxyRemedy({ url }: UrlServer): string {
  return escapeControls(`parlance proxy --target ${url.value}`);
}

function launcherOf({ host }: LoadedFile): Launcher {
  return launcherFor({
    commands: host?.commands ?? "shell",
    platform: process.platform,
    path: process.env.PATH ?? "",
    node: process.execPath,
    main: fileURLToPath(new URL("../../parlance.js", import.meta.url)),
  });
}

/** Members of a server that may hold keys and passwords. */
const secret: ReadonlySet<unknown> = new Set(["env", "headers", "http_headers"]);

/** A configuration with `…` in place of every value that may be secret, because users share the output. */
function withoutSecrets(text: string, format: Format): string {
  const root = treeOf(text, format);
  return "problem" in root ? text : applyEdits(text, [...edits(root)]);
}

function* edits(node: Node): Generator<Edit> {
  const [key, value] = node.children ?? [];
  if (node.type === "property" && secret.has(key?.value) && value?.type === "object") {
    for (const { children: [, hidden] = [] } of value.children ?? [])
      if (hidden !== undefined) yield { offset: hidden.offset, length: hidden.length, content: '"…"' };
    return;
  }
  for (const child of node.children ?? []) yield* edits(child);
}

/** How a host starts this command, with the reason. */
interface Launcher {
  readonly words: readonly string[];
  /** Why it is not just `parlance`; undefined if it is. */
  readonly why: string | undefined;
}

/** The facts that determine how a host starts this command. */
interface LauncherOptions {
  /** Where the host looks for commands. */
  readonly commands: "shell" | "system";
  readonly platform: NodeJS.Platform;
  /** The PATH of this process. */
  readonly path: string;
  /** The program that runs this process. */
  readonly node: string;
  /** The file that this process was started with. */
  readonly main: string;
}

/** The folders in which programs look for commands if no shell started them. */
const systemFolders = ["/usr/local/bin", "/usr/bin", "/bin"];

/** `parlance` if the host will find it; otherwise node and the file of this command, by absolute paths. */
export function launcherFor({ commands, platform, path, node, main }: LauncherOptions): Launcher {
  const byPath = [node, main];
  // On Windows, npm installs a batch file, which a program cannot start without a shell.
  if (platform === "win32") return { words: byPath, why: "on Windows a host cannot start parlance by its name" };
  const folders = path.split(delimiter).filter((folder) => folder !== "" && !isTemporary(folder));
  const seen = commands === "shell" ? folders : systemFolders;
  if (seen.some((folder) => isProgram(join(folder, "parlance")))) return { words: ["parlance"], why: undefined };
  const where = commands === "shell" ? "parlance is not on the PATH" : `parlance is not in ${systemFolders.join(", ")}`;
  const lost = /[\\/]_npx[\\/]/.test(main) ? "; npx may remove that file: npm install -g @parlance/cli keeps it" : "";
  return { words: byPath, why: `${where}, where the host looks for commands${lost}` };
}

/** Whether npm or npx put a folder on the PATH only while they run a command. */
function isTemporary(folder: string): boolean {
  return /[\\/]node_modules[\\/]/.test(`${folder}/`);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // Missing or not accessible: a host cannot start it either.
  }
}
