import { escapeControls } from "@parlance/mcp/jsonrpc";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure, usageFailure } from "../../shared/failure.js";
import { cut, left } from "../../shared/output/columns.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import type { Output } from "../../shared/output/terminal.js";
import type { ServerEntry } from "../../shared/target/configuration.js";
import { type ConfigurationFile, load } from "../../shared/target/configuration-file.js";
import { wordsOf, wrappedWords } from "./wrapping.js";

/** The listing of a configuration file. */
interface Listed extends ConfigurationFile {
  readonly found: boolean;
  readonly problem?: string;
  readonly servers: readonly ServerEntry[];
}

/** Prints hosts with their files, and which of their servers are wrapped. */
export async function listHosts(
  files: readonly ConfigurationFile[],
  { json, out }: { readonly json: boolean; readonly out: Output },
): Promise<number> {
  const listed = await Promise.all(files.map(look));
  const missing = listed.find(({ host, found }) => host === undefined && !found);
  if (missing !== undefined) throw usageFailure(`there is no file ${missing.path}`);
  if (json) for (const each of listed) out.print(jsonLine(listedValue(each)));
  else out.print(...listed.flatMap((each, index) => lines(each, listed[index - 1]?.host !== each.host, out)));
  return listed.some(({ problem }) => problem !== undefined) ? exitCodes.usage : exitCodes.clean;
}

async function look(file: ConfigurationFile): Promise<Listed> {
  try {
    const loaded = await load(file);
    return { ...file, found: loaded !== undefined, servers: loaded?.configuration.servers ?? [] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...file, found: true, problem: error.message, servers: [] };
  }
}

function listedValue({ path, host, found, problem, servers }: Listed): object {
  return { host: host?.name, file: path, found, problem, servers: servers.map(serverValue) };
}

function serverValue(server: ServerEntry): object {
  const { name, kind } = server;
  if (server.kind === "unusable") return { ...server };
  if (server.kind === "url") return { name, kind, url: server.url.value };
  const wrapped = wrappedWords(server);
  return { name, kind, wrapped: wrapped !== undefined, command: wrapped ?? wordsOf(server) };
}

function lines({ path, host, found, problem, servers }: Listed, isFirst: boolean, out: Output): readonly string[] {
  const { style, width } = out;
  const title = isFirst && host !== undefined ? [`${style.bold(host.title)} ${style.dim(`(${host.name})`)}`] : [];
  if (!found) return [...title, style.dim(`  ${escapeControls(path)}: not there`)];
  if (problem !== undefined) return [...title, `  ${style.red("✖")} ${escapeControls(problem)}`];
  const widest = Math.min(30, Math.max(...servers.map(({ name }) => name.length)));
  return [
    ...title,
    `  ${escapeControls(path)}${servers.length === 0 ? ": no servers" : ""}`,
    ...servers.map((server) => {
      const [state, what] = stateOf(server);
      return `    ${left(server.name, widest)}  ${left(state, 11)}  ${style.dim(cut(what, width - widest - 19))}`;
    }),
  ];
}

function stateOf(server: ServerEntry): readonly [state: string, what: string] {
  if (server.kind === "url") return ["URL", String(server.url.value)];
  if (server.kind === "unusable") return ["unusable", server.why];
  const wrapped = wrappedWords(server);
  return wrapped === undefined ? ["not wrapped", wordsOf(server).join(" ")] : ["wrapped", wrapped.join(" ")];
}
