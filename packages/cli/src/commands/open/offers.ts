import { ExactNumber } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject, methods } from "@parlance/mcp/protocol";
import type { PageOffer } from "@parlance/web/protocol";
import { type HeaderEntry, literalOf, nodeAt, type Row } from "@parlance/wire";
import type { ListName } from "../../shared/client/exercise.js";
import { argumentsFor, parseArguments } from "../../shared/client/tool-arguments.js";
import { shellWord } from "../../shared/output/shell-word.js";
import { commandOf } from "../export/exported.js";

/** A server on the command line: one word, or the command after `--`. */
export interface CommandTargetWords {
  readonly title: string;
  readonly command: readonly string[] | undefined;
}

/** An item of a list as the page shows it; undefined without a name. */
export function offerOf(list: ListName, item: unknown): PageOffer | undefined {
  if (!isObject(item)) return undefined;
  const key = { tools: item.name, prompts: item.name, resources: item.uri, templates: item.uriTemplate }[list];
  if (typeof key !== "string") return undefined;
  const { annotations, inputSchema } = item;
  const kind = ({ tools: "tool", prompts: "prompt", resources: "resource", templates: "template" } as const)[list];
  return {
    kind,
    name: key,
    title: text(item.title) ?? text(isObject(annotations) ? annotations.title : undefined) ?? otherName(item, key),
    description: text(item.description),
    hints: [...hintsOf(annotations), ...facts(item)],
    schema: kind === "tool" && isObject(inputSchema) ? inputSchema : textSchema(namesOf(kind, item)),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function otherName({ name }: JsonObject, key: string): string | undefined {
  return name === key ? undefined : text(name);
}

const hintWords: readonly (readonly [name: string, value: boolean, words: string])[] = [
  ["readOnlyHint", true, "read-only"],
  ["destructiveHint", true, "destructive"],
  ["idempotentHint", true, "idempotent"],
  ["openWorldHint", true, "open world"],
  ["openWorldHint", false, "closed world"],
];

function hintsOf(annotations: unknown): readonly string[] {
  if (!isObject(annotations)) return [];
  return hintWords.flatMap(([name, value, words]) => (annotations[name] === value ? [words] : []));
}

function facts({ mimeType, size, outputSchema, execution }: JsonObject): readonly string[] {
  const tasks = isObject(execution) ? execution.taskSupport : undefined;
  return [
    ...(typeof mimeType === "string" ? [mimeType] : []),
    ...(typeof size === "number" ? [`${size} bytes`] : []),
    ...(outputSchema === undefined ? [] : ["structured output"]),
    ...(typeof tasks === "string" && tasks !== "forbidden" ? [`task ${tasks}`] : []),
  ];
}

interface TextArgument {
  readonly name: string;
  readonly description?: string | undefined;
  readonly isRequired: boolean;
}

/** The arguments of a prompt, or the variables of a template (RFC 6570). */
function namesOf(kind: PageOffer["kind"], { arguments: args, uriTemplate }: JsonObject): readonly TextArgument[] {
  if (kind === "template") {
    const expressions = [...String(uriTemplate).matchAll(/\{[+#./;?&]?([^}]+)\}/g)];
    const names = expressions.flatMap(([, list = ""]) => list.split(",").map((each) => each.replace(/[*:].*$/, "")));
    return [...new Set(names)].map((name) => ({ name, isRequired: true }));
  }
  if (!Array.isArray(args)) return [];
  return args
    .filter(isObject)
    .flatMap(({ name, description, required }) =>
      typeof name === "string" ? [{ name, description: text(description), isRequired: required === true }] : [],
    );
}

function textSchema(args: readonly TextArgument[]): JsonObject {
  const properties = args.map(({ name, description }) => [
    name,
    { type: "string", ...(description !== undefined && { description }) },
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: args.flatMap(({ name, isRequired }) => (isRequired ? [name] : [])),
  };
}

/** The command line that makes a request; undefined if no command does. */
export function commandLineOf(
  { title, command }: CommandTargetWords,
  method: string,
  params: JsonObject,
  schema: JsonObject | undefined,
): string | undefined {
  const { name, uri, arguments: args } = params;
  const said = new Map<string, readonly unknown[]>([
    [methods.callTool, ["call", name, ...argumentWords(args, schema ?? {})]],
    [methods.readResource, ["read", uri]],
    [methods.getPrompt, ["prompt", name, ...argumentWords(args, undefined)]],
  ]).get(method);
  if (said === undefined || said.some((word) => typeof word !== "string")) return undefined;
  const [verb = "", ...words] = said.map((word) => shellWord(String(word)));
  if (command === undefined) return ["parlance", verb, shellWord(title), ...words].join(" ");
  return ["parlance", verb, ...words, "--", ...command.map(shellWord)].join(" ");
}

/**
 * The command line that repeats a recorded request, or the request of a response; undefined for other messages, and for a server
 * that the command line cannot name.
 */
export function commandLineOfRow(
  { messages: [message], session }: Row,
  header: HeaderEntry | undefined,
): string | undefined {
  const request = message?.from === "client" ? message : message?.concerns?.request;
  const command = header && commandOf(header);
  const { url } = header?.server ?? {};
  if (request?.from !== "client" || (command === undefined && url === undefined)) return undefined;
  const { method = "", node, frame } = request;
  const written = nodeAt(node, "/params");
  // Parsed with exact numbers: the values of a message are doubles.
  const read: unknown = written && ExactNumber.parse(literalOf(written, frame.bytes));
  const params = isObject(read) ? read : {};
  const tool = typeof params.name === "string" ? session?.tools.get(params.name)?.definition : undefined;
  const schema = isObject(tool?.inputSchema) ? tool.inputSchema : undefined;
  const words = { title: url ?? "", command };
  return commandLineOf(words, method, params, schema) ?? sendLine(words, method, frame.bytes);
}

/** The command line that sends bytes unchanged. */
function sendLine({ title, command }: CommandTargetWords, method: string, bytes: Uint8Array): string {
  const message = shellWord(bytes);
  if (command === undefined) return `parlance send ${shellWord(title)} ${message}`;
  const opens = method === methods.initialize || method === methods.discover ? [] : ["--open"];
  return ["parlance send", ...opens, "--line", message, "--", ...command.map(shellWord)].join(" ");
}

/** Arguments for a command line: a string stays as it is if the command reads it as a string. */
function argumentWords(args: unknown, schema: JsonObject | undefined): readonly string[] {
  if (!isObject(args)) return [];
  return Object.entries(args).map(([name, value]) => {
    if (/^\{|=|:$/.test(name)) return ExactNumber.stringify(Object.fromEntries([[name, value]]));
    const plain = `${name}=${String(value)}`;
    if (schema === undefined) return plain;
    const written = ExactNumber.stringify(value);
    const read = argumentsFor(parseArguments([plain]), schema)[name];
    return ExactNumber.stringify(read) === written ? plain : `${name}:=${written}`;
  });
}
