import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { didYouMean } from "@parlance/mcp/jsonrpc";
import { exitCodes } from "../exit-codes.js";
import { Failure, usageFailure } from "../failure.js";
import { type Configuration, type Format, parseConfiguration, type ServerEntry } from "./configuration.js";
import { anySection, type Host, type HostFile, hosts, surroundings } from "./host-table.js";

/** A file in which servers are configured, with its host. */
export interface ConfigurationFile extends Pick<HostFile, "path" | "project"> {
  /** The host; undefined for a file named by its path. */
  readonly host: Host | undefined;
  /** The sections that may hold servers. */
  readonly sections: readonly (readonly string[])[];
}

/** A configuration with its file. */
export interface LoadedFile extends ConfigurationFile {
  readonly file: ReadFile;
  /** The byte order mark, which JSON does not allow. */
  readonly mark: string;
  readonly configuration: Configuration;
}

/** The host with a name; undefined if there is none. */
export function hostNamed(name: string): Host | undefined {
  return hosts.find((host) => host.name === name || host.aliases?.includes(name) === true);
}

/** The host with a name. @throws Failure that lists the hosts */
export function findHost(name: string): Host {
  const found = hostNamed(name);
  if (found !== undefined) return found;
  const names = hosts.map((host) => host.name);
  throw usageFailure(
    `there is no host ${name}: parlance knows ${names.join(", ")}`,
    didYouMean(name, names) ?? "any other configuration is named by its file: --config file",
  );
}

/** The files of some hosts, or the given one. */
export function filesOf(some: readonly Host[], config: string | undefined): readonly ConfigurationFile[] {
  if (config !== undefined) return [{ path: config, host: undefined, sections: anySection }];
  const at = surroundings();
  return some.flatMap((host) => host.files(at).map(({ section, ...file }) => ({ ...file, host, sections: [section] })));
}

/** Reads a file; undefined if it does not exist. @throws Failure if it cannot be read or is not a configuration */
export async function load(from: ConfigurationFile): Promise<LoadedFile | undefined> {
  const { path, sections } = from;
  let file: ReadFile;
  try {
    file = await readWhole(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw fileFailure(`${path} cannot be read: ${message}`, error);
  }
  const [mark, text] = decode(path, file.bytes);
  const format: Format = path.endsWith(".toml") ? "toml" : "json";
  const configuration = parseConfiguration(text, sections, format);
  if ("problem" in configuration)
    throw fileFailure(`${path} is not valid ${format.toUpperCase()} of servers: ${configuration.problem}`);
  return { ...from, file, mark, configuration };
}

function decode(path: string, bytes: Buffer): readonly [mark: string, text: string] {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith("\ufeff") ? ["\ufeff", text.slice(1)] : ["", text];
  } catch (error) {
    throw fileFailure(`${path} is not UTF-8 text`, error);
  }
}

/** The failure for an invalid configuration, which stays unchanged. */
export function fileFailure(message: string, cause?: unknown): Failure {
  return new Failure(message, { exitCode: exitCodes.usage, cause });
}

/** A server and its configuration file. */
export interface FoundServer {
  readonly loaded: LoadedFile;
  readonly server: ServerEntry;
}

/** All servers with a name in some files, in order. @throws Failure that lists the existing servers */
export async function findServers(
  name: string,
  files: readonly ConfigurationFile[],
): Promise<readonly [FoundServer, ...FoundServer[]]> {
  const read = (await Promise.all(files.map(load))).filter((loaded) => loaded !== undefined);
  if (read.length === 0 && files.length === 1)
    throw usageFailure(`there is no file ${pathsOf(files)}`, "--config names any other file");
  if (read.length === 0) throw fileFailure(`none of these files exists:\n${pathsOf(files)}`);
  const all = read.flatMap((loaded) => loaded.configuration.servers.map((server) => ({ loaded, server })));
  const [found, ...others] = all.filter(({ server }) => server.name === name);
  if (found !== undefined) return [found, ...others];
  const names = [...new Set(all.map(({ server }) => server.name))];
  const there = names.length === 0 ? "there are no servers" : `there are ${names.join(", ")}`;
  throw usageFailure(`there is no server ${name}: ${there} in\n${pathsOf(read)}`, didYouMean(name, names));
}

/**
 * The only server with a name in some files; within one file, that of the first section. @throws Failure as `findServers`, or if
 * several files have one
 */
export async function findServer(name: string, files: readonly ConfigurationFile[]): Promise<FoundServer> {
  const found = await findServers(name, files);
  const loaded = found.map((each) => each.loaded);
  if (new Set(loaded.map(({ path }) => path)).size === 1) return found[0];
  throw usageFailure(`${name} is in more than one configuration:\n${pathsOf(loaded)}`, "choose one with --config file");
}

function pathsOf(some: readonly { readonly path: string }[]): string {
  return [...new Set(some.map(({ path }) => path))].join("\n");
}

/** A file's real path and its bytes. */
interface ReadFile {
  /** The path after all symbolic links. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** Reads a file, following links. */
async function readWhole(path: string): Promise<ReadFile> {
  const real = await realpath(path);
  return { path: real, bytes: await readFile(real) };
}

/** Thrown if the file has changed since it was read. */
export class ChangedMeanwhile extends Error {}

/**
 * Replaces a file atomically, and keeps its mode. The former file stays beside it as a backup; with `original`, an existing
 * backup of these bytes is enough. Returns the path of the backup.
 */
export async function replaceFile(file: ReadFile, bytes: Buffer, original: Buffer): Promise<string> {
  const { mode } = await stat(file.path);
  const backup = await backUp(file, mode, original);
  const temporary = join(dirname(file.path), `.${basename(file.path)}.${crypto.randomUUID()}`);
  try {
    await writeNew(temporary, bytes, mode);
    // Hosts write these files, too.
    if (!(await readFile(file.path)).equals(file.bytes)) throw new ChangedMeanwhile();
    await rename(temporary, file.path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return backup;
}

/** Writes a backup under the next free number, unless a backup with the same bytes exists. Older backups stay. */
async function backUp({ path, bytes }: ReadFile, mode: number, original: Buffer): Promise<string> {
  for (let number = 1; ; number += 1) {
    const backup = `${path}.parlance-backup${number === 1 ? "" : `-${number}`}`;
    try {
      await writeNew(backup, bytes, mode);
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const kept = await readFile(backup);
      if (kept.equals(bytes) || kept.equals(original)) return backup;
    }
  }
}

async function writeNew(path: string, bytes: Buffer, mode: number): Promise<void> {
  const handle = await open(path, "wx", 0o600); // Configurations hold keys, so no other user may read the temporary file.
  try {
    await handle.writeFile(bytes);
    await handle.chmod(mode & 0o7777);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
