import { isObject, type JsonObject, metaKeys, methods } from "@parlance/mcp/protocol";
import type { Conversation } from "../conversation/conversation.js";
import type { WireMessage } from "../conversation/message.js";
import { metaOf } from "../conversation/operations.js";
import { namedVersion } from "../conversation/session.js";

/** What client and server declared about themselves. */
export interface Contract {
  /** The negotiated versions, or those that requests named. */
  readonly versions: readonly string[];
  readonly client: Readonly<Record<string, unknown>>;
  readonly server: Readonly<Record<string, unknown>>;
}

/** The name of a list of definitions. */
export type DefinitionList = "tools" | "resources" | "resource templates" | "prompts";

/** A list of a server: its method, the member of the result that holds it, and the key of its items. */
export interface ListedDefinitions {
  readonly list: DefinitionList;
  readonly method: string;
  readonly member: string;
  readonly key: string;
}

/** The lists of a server. */
export const definitionLists: readonly ListedDefinitions[] = [
  { list: "tools", method: methods.listTools, member: "tools", key: "name" },
  { list: "resources", method: methods.listResources, member: "resources", key: "uri" },
  {
    list: "resource templates",
    method: methods.listResourceTemplates,
    member: "resourceTemplates",
    key: "uriTemplate",
  },
  { list: "prompts", method: methods.listPrompts, member: "prompts", key: "name" },
];

/** The definitions of a server by list and name, as of the latest list. */
export type Definitions = ReadonlyMap<DefinitionList, ReadonlyMap<string, JsonObject>>;

/** The contract of a conversation, as declared last. */
export function contractOf({ sessions }: Conversation): Contract {
  const versions = new Set<string>();
  const client: Record<string, unknown> = {};
  const server: Record<string, unknown> = {};
  for (const { request, answer } of sessions.flatMap(({ operations }) => operations)) {
    // After a handshake, requests declare nothing.
    const isDeclaring = request.method === methods.initialize || request.revision?.era !== "handshake";
    if (request.from !== "client" || !isDeclaring) continue;
    hearClient(request, client);
    const version = request.method === methods.initialize ? answer?.result?.protocolVersion : namedVersion(request);
    if (typeof version === "string") versions.add(version);
    const isOpening = request.method === methods.initialize || request.method === methods.discover;
    if (isOpening && answer?.result !== undefined) hearServer(answer.result, server);
  }
  return { versions: [...versions].sort(), client, server };
}

function hearClient({ method, params }: WireMessage, client: Record<string, unknown>): void {
  const meta = metaOf(params);
  const isOpening = method === methods.initialize;
  const info = isOpening ? params.clientInfo : meta[metaKeys.clientInfo];
  const capabilities = isOpening ? params.capabilities : meta[metaKeys.clientCapabilities];
  if (info !== undefined) client.info = info;
  if (capabilities !== undefined) client.capabilities = capabilities;
}

function hearServer(result: JsonObject, server: Record<string, unknown>): void {
  const info = result.serverInfo ?? metaOf(result)[metaKeys.serverInfo];
  for (const [name, value] of Object.entries({ ...result, serverInfo: undefined, info })) {
    if (value !== undefined && told.has(name)) server[name] = value;
  }
}

const told: ReadonlySet<string> = new Set(["info", "capabilities", "instructions", "supportedVersions"]);

/** The definitions that the server of a conversation has listed. */
export function definitionsOf({ sessions }: Conversation): Definitions {
  const answered = sessions.flatMap(({ operations }) => operations).filter(({ answer }) => answer !== undefined);
  return new Map(
    definitionLists.map(({ list, method, member, key }) => {
      const results = answered.filter(({ request }) => request.method === method).map(({ answer }) => answer?.result);
      const items = results.flatMap((result) => (Array.isArray(result?.[member]) ? (result[member] as unknown[]) : []));
      return [list, new Map(items.flatMap((item) => named(item, key)))] as const;
    }),
  );
}

function named(item: unknown, key: string): readonly (readonly [string, JsonObject])[] {
  return isObject(item) && typeof item[key] === "string" ? [[item[key], item]] : [];
}
