import { isObject, type JsonObject, metaKeys, methods, notifications } from "@parlance/mcp/protocol";
import { excerpt } from "../excerpt.js";

/** The digest of the params or the result of one method. */
type Reader = (value: JsonObject) => string;

/** The most characters that a line can show. */
const longest = 400;

/**
 * What a message says besides its method, in a few words of the peer: escape them before they are printed. It may break
 * every rule. `answered` is the method of the request that a response answers.
 */
export function digest(message: object, answered: string | undefined): string {
  return excerpt(words({ ...message }, answered), longest);
}

function words(message: JsonObject, answered: string | undefined): string {
  const { method, error, result } = message;
  if ("method" in message) {
    const params = isObject(message.params) ? message.params : {};
    return "id" in message ? requestWords(text(method), params) : (told.get(text(method))?.(params) ?? "");
  }
  if ("error" in message) return isObject(error) ? errorWords(error) : text(error);
  return isObject(result) ? (results.get(answered ?? "")?.(result) ?? "") : "";
}

/** Many servers give the reason only in `data`. */
function errorWords({ code, message, data }: JsonObject): string {
  const reason = member(data, "reason");
  const words = `${text(code)} ${text(message)}`;
  return typeof reason === "string" && !words.includes(reason) ? `${words}: ${reason}` : words;
}

function requestWords(method: string, params: JsonObject): string {
  const version = member(params._meta, metaKeys.protocolVersion);
  return join([requests.get(method)?.(params), version === undefined ? undefined : `in ${text(version)}`]);
}

const requests: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [methods.initialize, ({ protocolVersion }) => `asks for ${text(protocolVersion)}`],
  [methods.callTool, ({ name, arguments: args }) => join([text(name), isEmpty(args) ? undefined : json(args)])],
  [methods.readResource, ({ uri }) => text(uri)],
  [methods.getPrompt, ({ name, arguments: args }) => join([text(name), isEmpty(args) ? undefined : json(args)])],
  [methods.setLevel, ({ level }) => text(level)],
]);

const results: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [methods.initialize, (result) => `${peerName(result.serverInfo)} speaks ${text(result.protocolVersion)}`],
  [
    methods.discover,
    (result) => {
      const name = peerName(member(result._meta, metaKeys.serverInfo));
      const { supportedVersions } = result;
      return `${name} speaks ${Array.isArray(supportedVersions) ? supportedVersions.slice(0, 16).map(text).join(", ") : "?"}`;
    },
  ],
  [methods.listTools, (result) => listWords(result.tools, "tool", result)],
  [methods.listResources, (result) => listWords(result.resources, "resource", result)],
  [methods.listResourceTemplates, (result) => listWords(result.resourceTemplates, "template", result)],
  [methods.listPrompts, (result) => listWords(result.prompts, "prompt", result)],
  [
    methods.callTool,
    (result) => join([result.isError === true ? "isError:" : undefined, contentWords(result.content)]),
  ],
]);

const told: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [notifications.progress, (params) => progressWords(params)],
  [notifications.message, ({ level, data }) => `${text(level)}: ${text(data)}`],
  [notifications.cancelled, ({ requestId, reason }) => join([`request ${text(requestId)}`, text(reason ?? "")])],
  [notifications.resourceUpdated, ({ uri }) => text(uri)],
]);

/** `1/3 searching`. */
export function progressWords({ progress, total, message }: JsonObject): string {
  return join([`${text(progress)}${total === undefined ? "" : `/${text(total)}`}`, text(message ?? "")]);
}

function listWords(items: unknown, thing: string, { nextCursor }: JsonObject): string {
  if (!Array.isArray(items)) return `no list of ${thing}s`;
  const counted = `${items.length} ${thing}${items.length === 1 ? "" : "s"}`;
  return nextCursor === undefined ? counted : `${counted}, and more`;
}

function contentWords(content: unknown): string {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const [first] = blocks;
  if (first === undefined) return "no content";
  const more = blocks.length === 1 ? undefined : `(+${blocks.length - 1})`;
  return join([first.type === "text" ? firstLine(text(first.text)) : text(first.type), more]);
}

function firstLine(value: string): string {
  const [line = "", ...more] = value.trim().split("\n");
  return more.length === 0 ? line : `${line.trim()} …`;
}

function peerName(info: unknown): string {
  return join([text(member(info, "name") ?? "a server without a name"), text(member(info, "version") ?? "")]);
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (isObject(value) && Object.keys(value).length === 0);
}

/** A string as it is, anything else as JSON. */
function text(value: unknown): string {
  return typeof value === "string" ? excerpt(value, longest) : json(value);
}

function json(value: unknown): string {
  return excerpt(JSON.stringify(value) ?? "", longest);
}

function join(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(" ");
}
