import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/** What the paths of a host's configuration hang on. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** The folder that the command is run in. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly exists: (path: string) => boolean;
}

/** A program that starts MCP servers, as a configuration of the person's tells it. */
export interface Host {
  /** How it is written on the command line. */
  readonly name: string;
  readonly title: string;
  /** The member of the configuration that holds the servers. */
  readonly key: ServersKey;
  /** Where it looks for commands: as a shell would, or only where the system itself does. */
  readonly commands: "shell" | "system";
  /** The files that it reads, whether they are there or not. */
  readonly files: (surroundings: Surroundings) => readonly string[];
}

/** The members under which hosts keep their servers. */
export type ServersKey = "mcpServers" | "servers";

/** Every host whose configuration is known. */
export const hosts: readonly Host[] = [
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    key: "mcpServers",
    commands: "system",
    files: (at) => [pathsOf(at).join(settingsFolder(at), "Claude", "claude_desktop_config.json")],
  },
  {
    name: "vscode",
    title: "VS Code",
    key: "servers",
    commands: "shell",
    files: (at) => [
      workspaceFile(at, ".vscode", "mcp.json"),
      pathsOf(at).join(settingsFolder(at), "Code", "User", "mcp.json"),
    ],
  },
  {
    name: "cursor",
    title: "Cursor",
    key: "mcpServers",
    commands: "shell",
    files: (at) => {
      const own = pathsOf(at).join(at.home, ".cursor", "mcp.json");
      return [...new Set([workspaceFile(at, ".cursor", "mcp.json"), own])]; // One file, for whoever works at home.
    },
  },
];

/** The surroundings of this process. */
export function surroundings(): Surroundings {
  return {
    platform: process.platform,
    home: homedir(),
    folder: process.cwd(),
    env: process.env,
    exists: existsSync,
  };
}

function pathsOf({ platform }: Surroundings): typeof posix {
  return platform === "win32" ? win32 : posix;
}

/** Where programs with windows keep what a person has set. */
function settingsFolder(at: Surroundings): string {
  const { join } = pathsOf(at);
  if (at.platform === "darwin") return join(at.home, "Library", "Application Support");
  if (at.platform === "win32") return at.env.APPDATA ?? join(at.home, "AppData", "Roaming");
  return at.env.XDG_CONFIG_HOME || join(at.home, ".config");
}

/** The file of the innermost folder around this one that has it; where none has, the place in this folder. */
function workspaceFile(at: Surroundings, ...names: readonly string[]): string {
  const { join, dirname } = pathsOf(at);
  for (let folder = at.folder; ; folder = dirname(folder)) {
    const path = join(folder, ...names);
    if (at.exists(path)) return path;
    if (dirname(folder) === folder) return join(at.folder, ...names);
  }
}
