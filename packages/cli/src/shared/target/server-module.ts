import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Servable } from "@parlance/mcp/client";
import { isObject } from "@parlance/mcp/protocol";
import { Failure, messageOf, unreachableFailure } from "../failure.js";

/** Milliseconds for a module to load. A module that starts its own server may never finish. */
const loadTime = 5_000;

/** Imports a file and returns the server that it exports. @throws Failure with the place of the error in the file */
export async function loadServer(path: string): Promise<Servable> {
  if (!existsSync(path)) throw unreachableFailure(`there is no file ${path}`);
  // Stdout is the output of the command: redirect the logs of the module to stderr.
  console.log = console.info = console.debug = console.error;
  const exported = await importWithin(path);
  const served = [exported.server, exported.default].find(isServer);
  if (served === undefined)
    throw unreachableFailure(
      `${path} exports no server, neither as \`server\` nor as default`,
      withoutServer(path, exported),
    );
  return served;
}

/** The remedy for a module without a server: it may export a function that makes one. */
function withoutServer(path: string, exported: Readonly<Record<string, unknown>>): string {
  const maker = Object.keys(exported).find(
    (name) => typeof exported[name] === "function" && /^default$|server|create|make|build/i.test(name),
  );
  if (maker === undefined) return asCommand(path);
  const call = maker === "default" ? "the function that is its default" : `${maker}()`;
  return `does ${call} make the server? Export what it returns as \`server\`, here or in a file that imports it`;
}

/** The entries of the library that serve a server. */
interface Library {
  readonly server: typeof import("@parlance/mcp/server");
  readonly node: typeof import("@parlance/mcp/node");
}

/**
 * An entry of the copy of the library that a module uses, undefined if it uses none. The errors that the handlers of the module
 * throw are of the classes of its copy, which no other recognizes.
 */
export async function libraryOf<Entry extends keyof Library>(
  path: string,
  entry: Entry,
): Promise<Library[Entry] | undefined> {
  let installed: string;
  try {
    installed = createRequire(resolve(path)).resolve(`@parlance/mcp/${entry}`);
  } catch {
    return undefined;
  }
  return import(pathToFileURL(installed).href);
}

async function importWithin(path: string): Promise<Readonly<Record<string, unknown>>> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        unreachableFailure(
          `${path} has not loaded within ${loadTime / 1_000} s: does it serve itself?`,
          asCommand(path),
        ),
      );
    }, loadTime);
  });
  try {
    await prepareTypeScript(path);
    return await Promise.race([import(pathToFileURL(resolve(path)).href), tooLong]);
  } catch (error) {
    throw error instanceof Failure ? error : importFailure(path, error);
  } finally {
    clearTimeout(timer);
  }
}

function importFailure(path: string, error: unknown): Failure {
  const why = messageOf(error);
  const message = `${path} cannot be imported: ${why}`;
  if (isObject(error) && error.code === "ERR_UNKNOWN_FILE_EXTENSION" && /\.[cm]?tsx?\b/.test(why))
    return unreachableFailure(message, typeScriptRemedy(path), error);
  const seen = placesOf(path, error);
  const remedy = seen.length === 0 ? `import it by hand to see more: node ${path}` : undefined;
  return unreachableFailure(message, remedy, error).with({ seen });
}

/** The maximum number of stack lines shown. */
const mostPlaces = 6;

/** The lines of the stack that are in the user's files. */
function placesOf(path: string, error: unknown): readonly string[] {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const places = stack.split("\n").flatMap((line) => {
    const [, place] = /(file:\/\/\S+?:\d+(?::\d+)?)\)?$/.exec(line) ?? [];
    const isForeign = place === undefined || place.startsWith(ownFolder) || place.includes("/node_modules/");
    return isForeign ? [] : [`at ${shortPath(place)}`];
  });
  return places.length > 0 || !(error instanceof SyntaxError) ? places.slice(0, mostPlaces) : syntaxPlace(path);
}

const ownFolder = new URL(".", new URL("../../parlance.js", import.meta.url)).href;

function shortPath(place: string): string {
  const [, url = place, position = ""] = /^(.*?)((?::\d+)+)$/.exec(place) ?? [];
  return `${relative("", fileURLToPath(url))}${position}`;
}

/**
 * The place of a syntax error. Node reports it only on stderr of a program that the error ends, so the module is loaded in
 * another process. None of its code runs.
 */
function syntaxPlace(path: string): readonly string[] {
  const program = `import ${JSON.stringify(pathToFileURL(resolve(path)).href)}`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  const [place = "", ...more] = stderr.split("\n");
  const end = more.findIndex((line) => line.trim() === "");
  return /^file:.*:\d+$/.test(place) ? [`at ${shortPath(place)}`, ...more.slice(0, Math.max(0, end))] : [];
}

/**
 * Registers the tsx of the project, so that Node can import a TypeScript module if it does not strip types itself. This must
 * precede the import, because Node caches failed imports.
 */
async function prepareTypeScript(path: string): Promise<void> {
  const hasTsx = [...process.execArgv, process.env.NODE_OPTIONS].join().includes("tsx");
  if (stripsTypes() || hasTsx || !isTypeScript(path)) return;
  let entry: string;
  try {
    entry = createRequire(resolve(path)).resolve("tsx");
  } catch {
    return; // The import fails, and its failure has the remedy.
  }
  await import(pathToFileURL(entry).href); // As `node --import tsx` does.
}

function stripsTypes(): boolean {
  return "typescript" in process.features && Boolean(process.features.typescript);
}

function isTypeScript(path: string): boolean {
  return /\.[cm]?tsx?$/.test(path);
}

function typeScriptRemedy(path: string): string {
  return `Node ${process.versions.node} does not run TypeScript: compile ${path}, or npm install --save-dev tsx in its project`;
}

function isServer(value: unknown): value is Servable {
  return (
    isObject(value) &&
    typeof value.run === "function" &&
    typeof value.capabilities === "function" &&
    isObject(value.info)
  );
}

function asCommand(path: string): string {
  const runner = isTypeScript(path) && !stripsTypes() ? "npx tsx" : "node";
  return `a program that serves itself is started as a command, at the end of the line: -- ${runner} ${path}`;
}
