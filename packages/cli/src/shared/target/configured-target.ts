import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, resolve, sep } from "node:path";
import { parseEnv } from "node:util";
import type { OAuthOptions } from "@parlance/mcp/auth";
import { didYouMean, escapeControls } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import { getNodeValue } from "jsonc-parser";
import { Failure, messageOf, usageFailure } from "../failure.js";
import {
  type ConfigurationFile,
  type FoundServer,
  filesOf,
  findServers,
  hostNamed,
  load,
} from "./configuration-file.js";
import { hosts, type VariableForms } from "./host-table.js";

/** A server in another process or on another machine. `title` is its name on the command line. */
export type ConfiguredTarget = CommandTarget | UrlTarget;

/** A command to start. No part of it ever comes from a peer. */
export interface CommandTarget {
  readonly kind: "command";
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Variables added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** The working directory. Default: that of this process. */
  readonly cwd?: string;
}

/** A server at a URL. */
export interface UrlTarget {
  readonly kind: "url";
  readonly title: string;
  readonly url: URL;
  readonly headers: readonly Header[];
  /** Records the requests to the server, and those of a sign-in. Default: nothing is recorded. */
  readonly recorded?: RecordedRequests;
}

type Fetch = (url: URL, init: RequestInit) => Promise<Response>;
type OpenReceiver = NonNullable<OAuthOptions["signIn"]>;

/** The requests that are recorded. */
export interface RecordedRequests {
  /** Sends a request to the server through the recorder. */
  readonly fetch: Fetch;
  /** Records sign-ins, which also involve other servers. */
  readonly signIns: {
    /** Wraps a `fetch` so that every exchange is recorded. */
    fetch(fetch: Fetch): Fetch;
    /** Wraps a receiver so that the authorization request and the redirect are recorded. */
    receiver(open: OpenReceiver): OpenReceiver;
  };
}

/** A header of every request to a URL: its name and its value. */
export type Header = readonly [name: string, value: string];

/**
 * The server named by `host:server` or `file:server`; undefined for a word of another form.
 * @throws Failure if the host or server does not exist, or its configuration is incomplete
 */
export async function configuredTarget(
  word: string,
  inputs: Readonly<Record<string, string>>,
): Promise<ConfiguredTarget | undefined> {
  const [, prefix = "", name = ""] = /^(.+\.(?:jsonc?|toml)|[\w.-]+):([^/\\].*)$/.exec(word) ?? [];
  if (prefix === "") return undefined;
  const host = hostNamed(prefix);
  const isFile = /\.(?:jsonc?|toml)$/.test(prefix) && existsSync(prefix);
  if (host === undefined && !isFile) {
    const known = hosts.map((each) => each.name);
    const near = /\s/.test(word) ? undefined : didYouMean(prefix, known);
    if (near === undefined) return undefined; // The word may be a command.
    throw usageFailure(`there is no host ${prefix}: parlance knows ${known.join(", ")}`, near);
  }
  const files = filesOf(host === undefined ? [] : [host], undefined);
  const named = isFile ? [...files, ...filesOf([], prefix)] : files;
  const [found] = await findServers(name, named);
  return targetOf(found, word, inputs);
}

/** All `host:server` names. Unreadable files are skipped. */
export async function configuredNames(): Promise<readonly string[]> {
  const names = await Promise.all(filesOf(hosts, undefined).map(namesIn));
  return [...new Set(names.flat())].sort();
}

async function namesIn(file: ConfigurationFile): Promise<readonly string[]> {
  try {
    const loaded = await load(file);
    return (loaded?.configuration.servers ?? []).map(({ name }) => `${file.host?.name}:${name}`);
  } catch (error) {
    if (error instanceof Failure) return []; // Completion scripts cannot show an error.
    throw error;
  }
}

function targetOf(
  { loaded, server }: FoundServer,
  title: string,
  inputs: Readonly<Record<string, string>>,
): ConfiguredTarget {
  if (server.kind === "unusable") throw usageFailure(`${server.name} in ${loaded.path} cannot be used: ${server.why}`);
  const forms = loaded.host?.variables ?? "editor";
  const folder = loaded.project ?? process.cwd();
  const variables: Variables = { forms, env: process.env, home: homedir(), folder, inputs };
  const value: unknown = getNodeValue(server.node);
  const configured = new Configured(isObject(value) ? value : {}, variables);
  if (server.kind === "command") {
    const cwd = configured.text("cwd") ?? loaded.project;
    return {
      kind: "command",
      title,
      command: configured.expanded(String(server.command.value)),
      args: (server.args?.children ?? []).map((arg) => configured.expanded(String(arg.value))),
      env: { ...configured.envFile(), ...configured.texts("env"), ...configured.passedOn() },
      ...(cwd !== undefined && { cwd: resolve(folder, cwd) }),
    };
  }
  const url = configured.expanded(String(server.url.value));
  if (!URL.canParse(url) || !/^(https?|wss?):$/.test(new URL(url).protocol))
    throw usageFailure(`${server.name} in ${loaded.path} has no URL of HTTP or WebSocket: ${escapeControls(url)}`);
  return { kind: "url", title, url: new URL(url), headers: configured.headers() };
}

/** The members of one server, with variables replaced. */
class Configured {
  readonly #members: JsonObject;
  readonly #variables: Variables;

  constructor(members: JsonObject, variables: Variables) {
    this.#members = members;
    this.#variables = variables;
  }

  expanded(text: string): string {
    return expand(text, this.#variables);
  }

  text(member: string): string | undefined {
    const value = this.#members[member];
    return typeof value === "string" ? this.expanded(value) : undefined;
  }

  /** A member that is an object of strings. Numbers become strings; null removes a value. */
  texts(member: string): Readonly<Record<string, string>> {
    const value = this.#members[member];
    const entries = Object.entries(isObject(value) ? value : {}).filter(([, text]) => text !== null);
    return Object.fromEntries(entries.map(([name, text]) => [name, this.expanded(String(text))]));
  }

  /** The variables of this process listed in `env_vars`, as in Codex. */
  passedOn(): Readonly<Record<string, string>> {
    const { env_vars: names } = this.#members;
    const listed = (Array.isArray(names) ? names : []).map((each: unknown) => (isObject(each) ? each.name : each));
    return this.#ofEnvironment(listed.map((name) => [String(name), String(name)]));
  }

  envFile(): Readonly<Record<string, string>> {
    const path = this.text("envFile");
    if (path === undefined) return {};
    const parsed = parseEnv(contentOf(path, resolve(this.#variables.folder, path)));
    return Object.fromEntries(
      Object.entries(parsed).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  }

  /** The headers, in the syntax of all hosts, including Codex. */
  headers(): readonly Header[] {
    const named = this.texts("env_http_headers");
    const [bearer] = Object.values(this.#ofEnvironment([["bearer", String(this.#members.bearer_token_env_var ?? "")]]));
    return [
      ...Object.entries({ ...this.texts("headers"), ...this.texts("http_headers") }),
      ...Object.entries(this.#ofEnvironment(Object.entries(named))),
      ...(bearer === undefined ? [] : [["Authorization", `Bearer ${bearer}`] as const]),
    ];
  }

  /** Values of variables of this process, under other names; unset variables are left out. */
  #ofEnvironment(pairs: readonly (readonly [name: string, variable: string])[]): Readonly<Record<string, string>> {
    const { env } = this.#variables;
    return Object.fromEntries(
      pairs.flatMap(([name, variable]) => (env[variable] === undefined ? [] : [[name, env[variable]]])),
    );
  }
}

/** The values of variables in a configuration. */
interface Variables {
  readonly forms: VariableForms;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** The folder of the project, or the working directory. */
  readonly folder: string;
  /** The values of `--input`. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** The value of a variable; undefined for syntax that the host does not support, which stays unchanged. @throws Failure */
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
    return kind === "file" ? contentOf(rest).trim() : undefined;
  },
};

/** Replaces the variables in a text of a configuration, as its host does. @throws Failure if a variable has no value */
function expand(text: string, variables: Variables): string {
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

/** The content of a file. @param named the path in the configuration, for the failure @throws Failure */
function contentOf(named: string, path: string = named): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw usageFailure(`the configuration uses the file ${named}: ${messageOf(error)}`);
  }
}
