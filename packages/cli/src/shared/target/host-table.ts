import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/** The platform, folders and variables on which the paths of configurations depend. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** The working directory. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly exists: (path: string) => boolean;
}

/** A file with the servers of a host. */
export interface HostFile {
  readonly path: string;
  /** The path of members to the servers. */
  readonly section: readonly string[];
  /** The folder of the project that the file is for; undefined for a file of the user. */
  readonly project?: string;
}

/** The syntax of variables in a configuration; see `configured-target.ts`. */
export type VariableForms = "none" | "shell" | "editor" | "env-and-file";

/** A program that starts MCP servers from a configuration of the user. */
export interface Host {
  /** Its name on the command line. */
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly title: string;
  /** Whether it looks for commands on the PATH of a shell, or only on that of the system. */
  readonly commands: "shell" | "system";
  readonly variables: VariableForms;
  /** The files that it reads, existing or not. If several have a server with the same name, the first one counts. */
  readonly files: (surroundings: Surroundings) => readonly HostFile[];
}

const servers = ["mcpServers"];

/** All known hosts. */
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
      return project.path === own.path ? [own] : [project, own]; // In the home folder, this is the file of the user.
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

/** Possible sections in a file of an unknown host. */
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

/** The folder of user settings of desktop programs. */
function settingsFolder(at: Surroundings): string {
  const { join } = pathsOf(at);
  if (at.platform === "darwin") return join(at.home, "Library", "Application Support");
  if (at.platform === "win32") return at.env.APPDATA ?? join(at.home, "AppData", "Roaming");
  return at.env.XDG_CONFIG_HOME || join(at.home, ".config");
}

/** The file in the nearest parent folder that has it; otherwise its path in the working directory. */
function projectFile(at: Surroundings, section: readonly string[], ...names: readonly string[]): HostFile {
  const { join } = pathsOf(at);
  const project = innermost(at, ...names) ?? at.folder;
  return { path: join(project, ...names), section, project };
}

/** The root of the enclosing repository, or the working directory without one. */
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
