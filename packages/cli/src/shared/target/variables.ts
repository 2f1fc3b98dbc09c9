import { readFileSync } from "node:fs";
import { basename, sep } from "node:path";
import { usageFailure } from "../failure.js";
import type { VariableForms } from "./host-table.js";

/** The values of variables in a configuration. */
export interface Variables {
  readonly forms: VariableForms;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** The folder of the project, or the working directory. */
  readonly folder: string;
  /** The values of `--input`. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** The value of a variable; undefined for a syntax that the host does not know, which stays unchanged. @throws Failure */
type Resolve = (name: string, variables: Variables) => string | undefined;

const resolvers: Readonly<Record<VariableForms, Resolve>> = {
  none: () => undefined,
  // https://code.claude.com/docs/en/mcp: ${NAME} and ${NAME:-default}
  shell(name, { env }) {
    const [, variable = "", standard] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(name) ?? [];
    if (variable === "") return undefined;
    const value = env[variable];
    return standard === undefined ? (value ?? missing(variable)) : value || standard;
  },
  // https://code.visualstudio.com/docs/reference/variables-reference, and https://cursor.com/docs/mcp
  editor(name, variables) {
    const { folder, home, env, inputs } = variables;
    const [, kind, rest = ""] = /^(env|input):(.*)$/s.exec(name) ?? [];
    if (kind === "env") return env[rest] ?? missing(rest);
    if (kind === "input") return inputs[rest] ?? missingInput(rest);
    const fixed: Readonly<Record<string, string>> = {
      workspaceFolder: folder,
      workspaceFolderBasename: basename(folder),
      userHome: home,
      cwd: folder,
      pathSeparator: sep,
      "/": sep,
    };
    if (Object.hasOwn(fixed, name)) return fixed[name];
    throw usageFailure(
      `\${${name}} in the configuration has no value outside its host`,
      "parlance talk -- command args…",
    );
  },
  // https://docs.windsurf.com/windsurf/cascade/mcp
  "env-and-file"(name, { env }) {
    const [, kind, rest = ""] = /^(env|file):(.*)$/s.exec(name) ?? [];
    if (kind === "env") return env[rest] ?? missing(rest);
    return kind === "file" ? contentOf(rest) : undefined;
  },
};

/** A text of a configuration with its variables replaced, as its host does. @throws Failure for one without a value */
export function expand(text: string, variables: Variables): string {
  const resolve = resolvers[variables.forms];
  return text.replace(/\$\{([^{}]*)\}/g, (written, name: string) => resolve(name, variables) ?? written);
}

function missing(variable: string): never {
  throw usageFailure(
    `the configuration uses the variable ${variable}, which is not set here`,
    `${variable}=… parlance …`,
  );
}

function missingInput(id: string): never {
  throw usageFailure(`the configuration uses the input ${id}, which its host asks for`, `--input ${id}=…`);
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw usageFailure(`the configuration uses the file ${path}: ${error instanceof Error ? error.message : error}`);
  }
}
