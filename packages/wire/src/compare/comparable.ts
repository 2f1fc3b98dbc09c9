import { isObject, type JsonObject, metaKeys, methods } from "@parlance/mcp/protocol";
import type { RecordedOperation, WireMessage } from "../conversation/message.js";
import { metaOf } from "../conversation/operations.js";
import type { Row } from "../conversation/row.js";
import { namedVersion } from "../conversation/session.js";
import { ComparedItem, isOpening, targetOf } from "./compared.js";
import { type Ignores, ignoring, volatilePointers } from "./differences.js";

/** The latest declarations of client and server about themselves. */
interface Contract {
  /** The negotiated versions, or those that requests named. */
  readonly versions: readonly string[];
  /** The declarations of the client: its name and capabilities. */
  readonly client: Readonly<Record<string, unknown>>;
  /** The declarations of the server: its name and capabilities. */
  readonly server: Readonly<Record<string, unknown>>;
}

/** The name of a list of definitions. */
export type DefinitionList = "tools" | "resources" | "resource templates" | "prompts";

/** A list of a server: its method, the member of the result that holds it, and the key of its items. */
interface ListedDefinitions {
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

/** Options of a comparison. */
export interface ComparisonOptions {
  /**
   * JSON pointers from a message to places that do not count, besides those that differ in every run; `*` is any one token. Default: none.
   */
  readonly ignore?: readonly string[];
}

/** Members that every stateless request and response repeats: they belong to the contract. */
const repeatedPointers: readonly string[] = [
  ...[metaKeys.protocolVersion, metaKeys.clientCapabilities, metaKeys.clientInfo].map(
    (key) => `/params/_meta/${key.replaceAll("/", "~1")}`,
  ),
  `/result/_meta/${metaKeys.serverInfo.replaceAll("/", "~1")}`,
];

const noRules: readonly string[] = [];

/**
 * The parts of a conversation that are compared, taken row by row in their order. It does not keep the conversation in memory,
 * and works with one that drops its rows (`keepRows: false`).
 *
 * @example
 * const comparable = new Comparable();
 * for (const row of conversation.rows) comparable.take(row);
 */
export class Comparable {
  /** Requests, notifications and noise, in order. */
  readonly items: readonly ComparedItem[];
  readonly #items: ComparedItem[] = [];
  readonly #ignores: Ignores;
  /** The items of requests without a response so far. */
  readonly #open = new Map<RecordedOperation, ComparedItem>();
  readonly #versions = new Set<string>();
  readonly #client: Record<string, unknown> = {};
  readonly #server: Record<string, unknown> = {};
  readonly #definitions = new Map<DefinitionList, Map<string, JsonObject>>();

  constructor({ ignore = [] }: ComparisonOptions = {}) {
    this.items = this.#items;
    this.#ignores = ignoring([...volatilePointers, ...repeatedPointers, ...ignore]);
  }

  /** The negotiated contract. */
  get contract(): Contract {
    return { versions: [...this.#versions].sort(), client: this.#client, server: this.#server };
  }

  /** The definitions that the server listed, by list and name, as of the latest list. */
  get definitions(): ReadonlyMap<DefinitionList, ReadonlyMap<string, JsonObject>> {
    return this.#definitions;
  }

  /** Takes the next row. */
  take({ kind, frame, messages, verdicts, exchange }: Row): void {
    // A sign-in shows nothing about the server: its codes and tokens differ each time. So do the ids of events without data.
    if (frame === undefined || exchange?.signIn !== undefined || kind === "event") return;
    const violations = verdicts.filter(({ level }) => level === "must");
    const rules = violations.length === 0 ? noRules : violations.map(({ rule }) => rule.id);
    if (messages.length === 0)
      this.#items.push(new ComparedItem({ frame, pointer: undefined }, this.#ignores, { kind: "noise", rules }));
    for (const message of messages) this.#takeMessage(message, rules);
  }

  #takeMessage(message: WireMessage, rules: readonly string[]): void {
    const { kind, method, params, context, operation } = message;
    const asked = context.pairing?.is === "answer" ? operation : undefined;
    if (asked !== undefined) {
      this.#open.get(asked)?.end(message, asked.cancel !== undefined, rules);
      this.#open.delete(asked);
      this.#learnAnswer(asked.request, message.result);
      return;
    }
    const is = kind === "req" ? "request" : kind === "ntf" ? "notification" : "noise";
    const item = new ComparedItem(message, this.#ignores, { kind: is, method, target: targetOf(params), rules });
    this.#items.push(item);
    if (kind !== "req" || operation === undefined) return;
    this.#open.set(operation, item);
    if (!isDeclaring(message)) return;
    takeClient(message, this.#client);
    const version = namedVersion(message);
    if (method !== methods.initialize && version !== undefined) this.#versions.add(version);
  }

  #learnAnswer(request: WireMessage, result: JsonObject | undefined): void {
    const { method } = request;
    if (result === undefined) return;
    if (isDeclaring(request) && isOpening(method)) {
      takeServer(result, this.#server);
      const { protocolVersion } = result;
      if (method === methods.initialize && typeof protocolVersion === "string") this.#versions.add(protocolVersion);
    }
    for (const { list, method: lister, member, key } of definitionLists) {
      const items = lister === method ? result[member] : undefined;
      if (!Array.isArray(items)) continue;
      const known = this.#definitions.get(list) ?? new Map<string, JsonObject>();
      for (const [name, item] of items.flatMap((each) => named(each, key))) known.set(name, item);
      this.#definitions.set(list, known);
    }
  }
}

/** Whether a request declares something about its client: after a handshake, requests do not. */
function isDeclaring({ from, method, revision }: WireMessage): boolean {
  return from === "client" && (method === methods.initialize || revision?.era !== "handshake");
}

function takeClient({ method, params }: WireMessage, client: Record<string, unknown>): void {
  const meta = metaOf(params);
  const isHandshake = method === methods.initialize;
  const info = isHandshake ? params.clientInfo : meta[metaKeys.clientInfo];
  const capabilities = isHandshake ? params.capabilities : meta[metaKeys.clientCapabilities];
  if (info !== undefined) client.info = info;
  if (capabilities !== undefined) client.capabilities = capabilities;
}

function takeServer(result: JsonObject, server: Record<string, unknown>): void {
  const info = result.serverInfo ?? metaOf(result)[metaKeys.serverInfo];
  for (const [name, value] of Object.entries({ ...result, serverInfo: undefined, info })) {
    if (value !== undefined && told.has(name)) server[name] = value;
  }
}

const told: ReadonlySet<string> = new Set(["info", "capabilities", "instructions", "supportedVersions"]);

function named(item: unknown, key: string): readonly (readonly [string, JsonObject])[] {
  return isObject(item) && typeof item[key] === "string" ? [[item[key], item]] : [];
}
