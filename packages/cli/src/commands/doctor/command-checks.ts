import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { delimiter, extname, resolve } from "node:path";
import { didYouMean } from "@parlance/mcp/jsonrpc";
import { type CheckResult, failed } from "./check.js";

/** Checks that the command and the script that it runs exist. */
export function commandResult(command: string, args: readonly string[]): CheckResult {
  const path = pathOf(command);
  if (path === undefined) return missingCommand(command);
  if (!isExecutable(path))
    return failed(`${path} may not be executed`, `chmod +x ${path}, or name what runs it: node ${path}`);
  return missingFile(args) ?? { state: "ok", says: path };
}

function missingCommand(command: string): CheckResult {
  if (/[/\\]/.test(command))
    return failed(`there is no file ${resolve(command)}`, "check the path, which is relative to this folder");
  const near = didYouMean(command, commandNames());
  return failed(`there is no ${command} in any folder of PATH`, near ?? "install it, or write its whole path");
}

/** The extensions of scripts: most commands are an interpreter with a script. */
const scripts: ReadonlySet<string> = new Set([".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rb"]);

function missingFile(args: readonly string[]): CheckResult | undefined {
  const script = args.find((arg) => !arg.startsWith("-"));
  if (script === undefined || !scripts.has(extname(script)) || existsSync(script)) return undefined;
  return failed(`there is no file ${resolve(script)}`, "check the path, and the folder in which this is started");
}

/** The file that the system would start. */
function pathOf(command: string): string | undefined {
  const folders = /[/\\]/.test(command) ? ["."] : foldersOfPath();
  const candidates = folders.flatMap((folder) => extensions().map((extension) => resolve(folder, command + extension)));
  return candidates.find(isFile);
}

function foldersOfPath(): readonly string[] {
  return (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
}

function extensions(): readonly string[] {
  return process.platform === "win32" ? ["", ...(process.env.PATHEXT ?? ".EXE;.CMD;.BAT").split(";")] : [""];
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // The caller throws.
  }
}

/** The names of all commands on the PATH, for suggestions. */
function commandNames(): readonly string[] {
  const names = foldersOfPath().flatMap((folder) => {
    try {
      return readdirSync(folder);
    } catch {
      return []; // PATH may name missing folders.
    }
  });
  return [...new Set(names)];
}
