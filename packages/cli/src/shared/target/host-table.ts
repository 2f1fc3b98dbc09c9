import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/** What the paths of a host's configuration depend on. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** The folder that the command is run in. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly exists: (path: string) => boolean;
}

/** A place where a host keeps servers. */
export interface HostFile {
  readonly path: string;
  /** The members that lead to the servers in it. */
  readonly section: readonly string[];
  /** The folder of the project that the servers are for; undefined for those of the user. */
  readonly project?: string;
}

/** The forms in which a host writes variables in a configuration; the table of `variables.ts` has what each is. */
export type VariableForms = "none" | "shell" | "editor" | "env-and-file";

/** A program that starts MCP servers, as a configuration of the user's tells it. */
export interface Host {
  /** How it is written on the command line. */
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly title: string;
  /** Where it looks for commands: as a shell would, or only where the system itself does. */
  readonly commands: "shell" | "system";
  readonly variables: VariableForms;
  /** The files that it reads, whether they are there or not; of two servers of one name, that of the first file counts. */
  readonly files: (surroundings: Surroundings) => readonly HostFile[];
}

const servers = ["mcpServers"];

/** Every host whose configuration is known. */
export const hosts: readonly Host[] = [
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    commands: "system",
    variables: "none",
    files: (at) => [
      { path: pathsOf(at).join(settingsFolder(at), "Claude", "claude_desktop_config.json"), section: servers },
    ],
  },
  {
    name: "claude-code",
    title: "Claude Code",
    commands: "shell",
    variables: "shell",
    files: (at) => {
      const path = pathsOf(at).join(at.home, ".claude.json");
      const folders = [...new Set([at.folder, projectFolder(at)])];
      return [
        ...folders.map((project) => ({ path, section: ["projects", project, ...servers], project })),
        projectFile(at, servers, ".mcp.json"),
        { path, section: servers },
      ];
    },
  },
  {
    name: "vscode",
    title: "VS Code",
    commands: "shell",
    variables: "editor",
    files: (at) => [
      projectFile(at, ["servers"], ".vscode", "mcp.json"),
      { path: pathsOf(at).join(settingsFolder(at), "Code", "User", "mcp.json"), section: ["servers"] },
    ],
  },
  {
    name: "cursor",
    title: "Cursor",
    commands: "shell",
    variables: "editor",
    files: (at) => {
      const own = { path: pathsOf(at).join(at.home, ".cursor", "mcp.json"), section: servers };
      const project = projectFile(at, servers, ".cursor", "mcp.json");
      return project.path === own.path ? [own] : [project, own]; // The same file in the home folder.
    },
  },
  {
    name: "windsurf",
    title: "Windsurf",
    commands: "shell",
    variables: "env-and-file",
    files: (at) => [{ path: pathsOf(at).join(at.home, ".codeium", "windsurf", "mcp_config.json"), section: servers }],
  },
  {
    name: "codex",
    title: "Codex",
    commands: "shell",
    variables: "none",
    files: (at) => {
      const { join } = pathsOf(at);
      const own = { path: join(at.env.CODEX_HOME || join(at.home, ".codex"), "config.toml"), section: ["mcp_servers"] };
      const project = projectFile(at, ["mcp_servers"], ".codex", "config.toml");
      return project.path === own.path ? [own] : [project, own];
    },
  },
  {
    name: "mcp.json",
    aliases: [".mcp.json"],
    title: "The project's .mcp.json",
    commands: "shell",
    variables: "shell",
    files: (at) => [projectFile(at, servers, ".mcp.json")],
  },
];

/** The sections that a file of no known host may keep its servers in. */
export const anySection: readonly (readonly string[])[] = [servers, ["servers"], ["mcp_servers"], ["mcp", "servers"]];

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

/** Where programs with windows keep what a user has set. */
function settingsFolder(at: Surroundings): string {
  const { join } = pathsOf(at);
  if (at.platform === "darwin") return join(at.home, "Library", "Application Support");
  if (at.platform === "win32") return at.env.APPDATA ?? join(at.home, "AppData", "Roaming");
  return at.env.XDG_CONFIG_HOME || join(at.home, ".config");
}

/** The file in the innermost folder around this one that has it; where none has, its place in this folder. */
function projectFile(at: Surroundings, section: readonly string[], ...names: readonly string[]): HostFile {
  const { join } = pathsOf(at);
  const project = innermost(at, ...names) ?? at.folder;
  return { path: join(project, ...names), section, project };
}

/** The root of the repository around this folder; this folder where there is none. */
function projectFolder(at: Surroundings): string {
  return innermost(at, ".git") ?? at.folder;
}

function innermost(at: Surroundings, ...names: readonly string[]): string | undefined {
  const { join, dirname } = pathsOf(at);
  for (let folder = at.folder; ; folder = dirname(folder)) {
    if (at.exists(join(folder, ...names))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}
