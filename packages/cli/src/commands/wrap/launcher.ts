import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** How a host starts this command, and why so. */
export interface Launcher {
  readonly words: readonly string[];
  /** Why it is not simply `parlance`; undefined if it is. */
  readonly why: string | undefined;
}

/** What decides how a host starts this command. */
export interface LauncherOptions {
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

/** The folders in which programs find commands that no shell has started. */
const systemFolders = ["/usr/local/bin", "/usr/bin", "/bin"];

/** `parlance`, where the host will find it; otherwise node and this command's own file, by their whole paths. */
export function launcherFor({ commands, platform, path, node, main }: LauncherOptions): Launcher {
  const byPath = [node, main];
  // npm's command is a batch file there, which a program cannot start without a shell.
  if (platform === "win32") return { words: byPath, why: "on Windows a host cannot start parlance by its name" };
  const folders = path.split(delimiter).filter((folder) => folder !== "" && !isTemporary(folder));
  const seen = commands === "shell" ? folders : systemFolders;
  if (seen.some((folder) => isProgram(join(folder, "parlance")))) return { words: ["parlance"], why: undefined };
  const where = commands === "shell" ? "parlance is not on the PATH" : `parlance is not in ${systemFolders.join(", ")}`;
  const lost = /[\\/]_npx[\\/]/.test(main) ? "; npx may remove that file: npm install -g @parlance/cli keeps it" : "";
  return { words: byPath, why: `${where}, where the host looks for commands${lost}` };
}

/** Folders that npm and npx put on the PATH only while they run something. */
function isTemporary(folder: string): boolean {
  return /[\\/]node_modules[\\/]/.test(`${folder}/`);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // Not there, or not for us: to a host it is the same.
  }
}
