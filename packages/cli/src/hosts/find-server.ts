import { didYouMean } from "@parlance/mcp/jsonrpc";
import { exitCodes } from "../exit-codes.js";
import { Failure, usageFailure } from "../failure.js";
import { type Configuration, parseConfiguration, type ServerEntry } from "./configuration.js";
import { type Host, hosts, type ServersKey, surroundings } from "./host-table.js";
import { type ReadFile, readWhole } from "./replace-file.js";

/** A file in which servers are configured, and for whom. */
export interface ConfigurationFile {
  /** As it is shown, before links are followed. */
  readonly path: string;
  /** Undefined for a file that was named by its path. */
  readonly host: Host | undefined;
}

/** A configuration with the file that it stands in. */
export interface LoadedFile extends ConfigurationFile {
  readonly file: ReadFile;
  /** A mark that some editors put in front of a text, and JSON does not know. */
  readonly mark: string;
  readonly configuration: Configuration;
}

/** The host of that name. @throws Failure that lists those there are */
export function findHost(name: string): Host {
  const found = hosts.find((host) => host.name === name);
  if (found !== undefined) return found;
  const names = hosts.map((host) => host.name);
  throw usageFailure(
    `there is no host ${name}: parlance knows ${names.join(", ")}`,
    didYouMean(name, names) ?? "any other configuration is named by its file: --config file",
  );
}

/** The files of some hosts, or the one that is named. */
export function filesOf(some: readonly Host[], config: string | undefined): readonly ConfigurationFile[] {
  if (config !== undefined) return [{ path: config, host: undefined }];
  const at = surroundings();
  return some.flatMap((host) => host.files(at).map((path) => ({ path, host })));
}

/** Reads a file; undefined where there is none. @throws Failure for one that cannot be read or is no configuration */
export async function load({ path, host }: ConfigurationFile): Promise<LoadedFile | undefined> {
  let file: ReadFile;
  try {
    file = await readWhole(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw fileFailure(`${path} cannot be read: ${message}`, error);
  }
  const [mark, text] = decode(path, file.bytes);
  const keys: readonly ServersKey[] = host === undefined ? ["mcpServers", "servers"] : [host.key];
  const configuration = parseConfiguration(text, keys);
  if ("problem" in configuration) throw fileFailure(`${path} is not valid JSON of servers: ${configuration.problem}`);
  return { path, host, file, mark, configuration };
}

function decode(path: string, bytes: Buffer): readonly [mark: string, text: string] {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith("\ufeff") ? ["\ufeff", text.slice(1)] : ["", text];
  } catch (error) {
    throw fileFailure(`${path} is no UTF-8 text`, error);
  }
}

/** A file that a command can do nothing with. It is left as it is. */
export function fileFailure(message: string, cause?: unknown): Failure {
  return new Failure(message, { exitCode: exitCodes.usage, cause });
}

/** The one server of that name in some files. @throws Failure that lists the servers that are there */
export async function findServer(
  name: string,
  files: readonly ConfigurationFile[],
): Promise<{ readonly loaded: LoadedFile; readonly server: ServerEntry }> {
  const read = (await Promise.all(files.map(load))).filter((loaded) => loaded !== undefined);
  const paths = (some: readonly { readonly path: string }[]): string => some.map(({ path }) => path).join("\n");
  if (read.length === 0 && files.length === 1) throw fileFailure(`there is no file ${paths(files)}`);
  if (read.length === 0) throw fileFailure(`none of these files is there:\n${paths(files)}`);
  const all = read.flatMap((loaded) => loaded.configuration.servers.map((server) => ({ loaded, server })));
  const [found, twin] = all.filter(({ server }) => server.name === name);
  if (found !== undefined && twin === undefined) return found;
  if (found !== undefined && twin !== undefined && twin.loaded === found.loaded) return found; // Which is unusable.
  if (found !== undefined) {
    const both = all.filter(({ server }) => server.name === name).map(({ loaded }) => loaded);
    throw usageFailure(`${name} is in more than one configuration:\n${paths(both)}`, "choose one with --config file");
  }
  const names = [...new Set(all.map(({ server }) => server.name))];
  const there = names.length === 0 ? "there are no servers" : `there are ${names.join(", ")}`;
  throw usageFailure(`there is no server ${name}: ${there} in\n${paths(read)}`, didYouMean(name, names));
}
