import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The file of the built command. */
export const createParlance: string = fileURLToPath(
  new URL("../../packages/create-parlance/dist/create-parlance.js", import.meta.url),
);

/** The outcome of a command. */
export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** The variables of this process, without those by which a test runner or npm knows itself, and colours. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST|FORCE_COLOR|TEST)/.test(name)),
);

/** Runs a command without a terminal, with `input` on stdin. */
export function run(
  file: string,
  args: readonly string[],
  cwd: string,
  more: NodeJS.ProcessEnv = {},
  input = "",
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { cwd, env: { ...env, NO_COLOR: "1", ...more } }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? 1, output: stdout + stderr }),
    );
    child.stdin?.end(input);
  });
}

/** Makes a project in a folder. */
export function create(folder: string, ...args: readonly string[]): Promise<Ran> {
  return run(process.execPath, [createParlance, ".", ...args], folder);
}

/** The paths of the files in a folder, without those of packages. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
