import { versions } from "@parlance/mcp";
import { type Command, InvalidArgumentError } from "commander";
import { usageFailure } from "./failure.js";
import { parseDuration } from "./output/quantities.js";
import type { Header } from "./target/configured-target.js";
import { commandTarget, parseTarget, type Target } from "./target/target.js";

/** The flags of every command that connects to a server. */
export interface ConversationFlags {
  /** The timeout of each response, in milliseconds. */
  readonly timeout: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly header?: readonly Header[];
  readonly headerEnv?: readonly Header[];
  /** The `Authorization` header with a token of an environment variable. */
  readonly bearerEnv?: Header;
  /** The values of `${input:id}` in a configuration. */
  readonly input?: Readonly<Record<string, string>>;
}

const defaultTimeout = "30s";

/** Adds the options of every command that connects to a server. */
export function addConversationOptions(
  command: Command,
  timeout = "how long to wait for each response, or its next progress",
  standard: string = defaultTimeout,
): Command {
  return command
    .option("--timeout <duration>", `${timeout}: 500ms, 10s, 2m (default: ${standard})`, parseTimeout)
    .setOptionValue("timeout", parseDuration(standard))
    .option("--env <name[=value]>", "add this environment variable to a started command; may be repeated", variable)
    .option("--header <name: value>", "send this header with every request to a URL; may be repeated", header)
    .option("--header-env <name[=variable]>", "the same, with the value of an environment variable", headerEnv)
    .option("--bearer-env <variable>", "send the access token in this environment variable to a URL", bearerEnv)
    .option("--input <id=value>", "the value of an input in the configuration of a host; may be repeated", input);
}

/** Adds the options of the commands that request all lists and call safe tools. */
export function addExerciseOptions(command: Command): Command {
  return command
    .option("--call <call>", 'also call this tool; may be repeated: --call "add a:=2 b:=3"', collect)
    .option("--once", "end when everything is done, instead of staying open");
}

/** Adds the option of the commands that send requests to a server. */
export function addForceOption(command: Command): Command {
  return command.option("--force", "also send methods that the server does not advertise");
}

/** The option that `addForceOption` adds. */
export interface ForceFlags {
  readonly force?: true;
}

/** Parses the version of a known revision. */
export function parseRevision(text: string, earlier?: string): string {
  if (earlier !== undefined) throw new InvalidArgumentError("Give it once; parlance talk and check take several.");
  if (versions.includes(text)) return text;
  throw new InvalidArgumentError(`It must be one of ${versions.join(", ")}.`);
}

/** Parses the version of a known revision, for an option that may be repeated. */
export function parseRevisions(text: string, earlier?: readonly string[]): readonly string[] {
  return collect(parseRevision(text), earlier);
}

/** Parses a duration, in milliseconds. */
export function parseTimeout(text: string): number {
  const parsed = parseDuration(text);
  if (parsed === undefined) throw new InvalidArgumentError("Write it as 500ms, 10s or 2m, of at most a day.");
  return parsed;
}

function variable(text: string, others: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name = "", assigned] = /^([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
  if (name === "") throw new InvalidArgumentError("Write NAME=value, or NAME to pass on a variable of this shell.");
  const value = assigned ?? process.env[name];
  if (value === undefined) throw new InvalidArgumentError(`${name} is not set here.`);
  return { ...others, [name]: value };
}

function header(text: string, others: readonly Header[] = []): readonly Header[] {
  const [, name = "", value = ""] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  const entry: Header = [name, value.trim()];
  if (!isSendable(entry)) throw new InvalidArgumentError("Write 'Name: value', e.g. 'Authorization: Bearer …'.");
  return [...others, entry];
}

function headerEnv(text: string, others: readonly Header[] = []): readonly Header[] {
  const [, name = "", variable = name] = /^([^=]+)(?:=(.+))?$/s.exec(text) ?? [];
  const value = secretIn("--header-env", variable);
  if (!isSendable([name, value]))
    throw new InvalidArgumentError("Write the name of a header, e.g. Authorization=TOKEN.");
  return [...others, [name, value]];
}

/**
 * The value of a variable. A word that is no usual name of one is not printed: it may be the secret itself.
 * @throws Failure
 */
export function secretIn(option: string, variable: string): string {
  const value = process.env[variable]?.trim() ?? "";
  if (value !== "") return value;
  const named = /^[A-Z][A-Z\d_]*$/.test(variable) ? `the variable ${variable}` : "the variable that it names";
  throw usageFailure(`${option}: ${named} is not set here`, "it takes the name of a variable that has the secret");
}

function bearerEnv(variable: string): Header {
  const token = secretIn("--bearer-env", variable);
  // Many variables have the scheme already, because they are sent as a header elsewhere.
  const entry: Header = ["Authorization", /^bearer /i.test(token) ? token : `Bearer ${token}`];
  if (!isSendable(entry)) throw new InvalidArgumentError(`${variable} has characters that no token has.`);
  return entry;
}

function input(text: string, others: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, id, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (id === undefined || value === undefined) throw new InvalidArgumentError("Write id=value.");
  return { ...others, [id]: value };
}

function isSendable([name, value]: Header): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false; // The caller reports it.
  }
}

/** Appends a value of an option that may be repeated. */
export function collect(text: string, others: readonly string[] = []): readonly string[] {
  return [...others, text];
}

/** The target of a command: a word, or the words after `--`. @throws Failure, also if a flag does not apply to the target */
export async function chooseTarget(
  word: string | undefined,
  command: readonly string[] | undefined,
  { env, header, headerEnv = [], bearerEnv, input = {} }: TargetFlags,
): Promise<Target> {
  const target = await namedTarget(word, command, input);
  const given = [...(header ?? []), ...headerEnv, ...(bearerEnv === undefined ? [] : [bearerEnv])];
  if (given.length > 0 && target.kind !== "url")
    throw usageFailure(
      `${header === undefined && headerEnv.length === 0 ? "--bearer-env" : "--header"} is for requests to a URL, and ${target.title} is not a URL`,
      "--env gives a command variables",
    );
  if (env !== undefined && target.kind !== "command")
    throw usageFailure(`--env is for a command, and ${target.title} is not a command`);
  if (target.kind === "command") return { ...target, env: { ...target.env, ...env } };
  if (target.kind === "module") return target;
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  if (names.has("host") && target.url.protocol.startsWith("http"))
    throw usageFailure("the Host of an HTTP request is that of the URL", "write its name in the URL");
  return { ...target, headers: [...target.headers.filter(([name]) => !names.has(name.toLowerCase())), ...given] };
}

type TargetFlags = Pick<ConversationFlags, "env" | "header" | "headerEnv" | "bearerEnv" | "input">;

function namedTarget(
  word: string | undefined,
  command: readonly string[] | undefined,
  inputs: Readonly<Record<string, string>>,
): Promise<Target> | Target {
  if (word !== undefined && command !== undefined) {
    throw usageFailure(`there are two targets, ${word} and the command after --`, "leave one of them out");
  }
  const [program = ""] = command ?? [];
  if (/^(?:https?|wss?):\/\//.test(program))
    throw usageFailure(`${program} is a URL, and after -- comes a command`, "write the URL first, without --");
  if (command !== undefined) return commandTarget(command);
  if (word !== undefined) return parseTarget(word, inputs);
  throw usageFailure("there is no target", "parlance talk -- node server.js");
}
