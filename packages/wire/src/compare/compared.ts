import { isObject, type JsonObject, metaKeys, methods } from "@parlance/mcp/protocol";
import type { Conversation } from "../conversation/conversation.js";
import type { RecordedOperation, WireMessage } from "../conversation/message.js";
import { metaOf } from "../conversation/operations.js";
import { namedVersion } from "../conversation/session.js";
import { literalOf, nodeAt } from "../json/json-node.js";
import type { Frame, Sender } from "../recording/frame.js";
import { type ComparableValue, comparableValue, type Ignores, significant, significantJson } from "./differences.js";

/** Members of these requests and of their results belong to the contract: another clientInfo does not make a call different. */
const openers: ReadonlySet<string | undefined> = new Set([methods.initialize, methods.discover]);

/** A message of a frame. Without the message itself, its conversation can be collected. */
interface Place {
  readonly frame: Frame;
  /** Undefined for a frame that is not a message. */
  readonly pointer: string | undefined;
}

type Properties = Pick<ComparedItem, "kind" | "rules"> &
  Partial<Pick<ComparedItem, "method" | "target" | "status" | "latency">>;

/**
 * One item of a comparison: a request with its response, a notification, or noise. It keeps texts instead of values, because a long
 * recording has many items, and most are equal.
 */
export class ComparedItem {
  /** What crossed: noise is a frame that is not a message. */
  readonly kind: "request" | "notification" | "noise";
  /** The side that sent it. */
  readonly from: Sender;
  /** The method; undefined for noise. */
  readonly method: string | undefined;
  /** The tool, prompt or URI that it concerns. */
  readonly target: string | undefined;
  /** The number of its frame. */
  readonly n: number;
  /** The outcome of a request: `ok`, `isError`, `error -32602`, `input_required`, `no answer`. */
  readonly status: string | undefined;
  /** The rules that the message or its response breaks. */
  readonly rules: readonly string[];
  /** Milliseconds from the request to its answer. */
  readonly latency: number | undefined;
  /** Equal for items of the same kind, method and target. */
  readonly kindKey: string;
  /** Equal for items whose messages are equal, but for what is ignored. */
  readonly key: string;
  /** The same of their responses; undefined without a response. */
  readonly answerKey: string | undefined;
  readonly #ignores: Ignores;
  readonly #message: Place;
  readonly #answer: Place | undefined;

  constructor(message: Place, answer: Place | undefined, ignores: Ignores, properties: Properties) {
    const { kind, method, target, status, rules, latency } = properties;
    const { from, n } = message.frame;
    this.kind = kind;
    this.from = from;
    this.method = method;
    this.target = target;
    this.n = n;
    this.status = status;
    this.rules = rules;
    this.latency = latency;
    this.#ignores = ignores;
    this.#message = message;
    this.#answer = answer;
    this.kindKey = JSON.stringify([kind, from, method, target]);
    this.key = `${this.kindKey} ${this.isOpener ? "" : significantText(message, ignores)}`;
    this.answerKey = answer && significantText(answer, ignores);
  }

  /** Whether it opens the conversation: its members belong to the contract. */
  get isOpener(): boolean {
    return openers.has(this.method);
  }

  /** The message without its response; for noise, the text. */
  get value(): ComparableValue {
    return significant(valueAt(this.#message), this.#ignores);
  }

  /** The significant part of the response; undefined without one. */
  get answer(): ComparableValue {
    return this.#answer && significant(valueAt(this.#answer), this.#ignores);
  }
}

/** A decimal integer that a double may change. */
const longInteger = /\d{16}/;

function valueAt({ frame, pointer }: Place): ComparableValue {
  if (pointer === undefined) return literalOf({ start: 0, end: frame.bytes.length }, frame.bytes);
  const { json, entry } = frame;
  if (json.isPlain && !longInteger.test(entry.raw ?? "")) return json.value;
  const node = json.root && nodeAt(json.root, pointer);
  return node && comparableValue(node, frame.bytes);
}

function significantText(place: Place, ignores: Ignores): string {
  return significantJson(valueAt(place), ignores) ?? "null";
}

/** The items of a conversation, in order. */
export function* comparedItems({ rows, sessions }: Conversation, ignores: Ignores): Generator<ComparedItem> {
  const operations = new Map(
    sessions.flatMap((session) => session.operations).map((operation) => [operation.request, operation]),
  );
  const broken = new Map<number | undefined, readonly string[]>();
  for (const { n, verdicts } of rows) {
    const rules = verdicts.filter(({ level }) => level === "must").map(({ rule }) => rule.id);
    if (rules.length > 0) broken.set(n, rules);
  }
  const rulesOf = (frame: Frame, answer?: Frame): readonly string[] => {
    const [own = none, ofAnswer = none] = [broken.get(frame.n), answer && broken.get(answer.n)];
    return ofAnswer.length === 0 ? own : [...new Set([...own, ...ofAnswer])];
  };
  for (const { frame, messages } of rows) {
    if (frame === undefined) continue;
    const rules = rulesOf(frame);
    if (messages.length === 0)
      yield new ComparedItem({ frame, pointer: undefined }, undefined, ignores, { kind: "noise", rules });
    for (const message of messages) {
      const operation = operations.get(message);
      const { method } = message;
      if (operation !== undefined) yield requestItem(operation, rulesOf(frame, operation.answer?.frame), ignores);
      else if (message.kind === "ntf" || message.context.pairing?.is !== "answer") {
        const kind = message.kind === "ntf" ? "notification" : "noise";
        const properties = { kind, method, target: targetOf(message.params), rules } as const;
        yield new ComparedItem({ frame, pointer: message.pointer }, undefined, ignores, properties);
      }
    }
  }
}

const none: readonly string[] = [];

function requestItem(operation: RecordedOperation, rules: readonly string[], ignores: Ignores): ComparedItem {
  const { request, answer } = operation;
  const item = new ComparedItem(
    { frame: request.frame, pointer: request.pointer },
    answer && { frame: answer.frame, pointer: answer.pointer },
    ignores,
    {
      kind: "request",
      method: request.method,
      target: targetOf(request.params),
      status: statusOf(operation),
      rules,
      latency: answer && (answer.frame.entry.t1 ?? answer.frame.entry.t) - request.frame.entry.t,
    },
  );
  return item;
}

/**
 * The tool, prompt or URI that params name.
 *
 * @example
 * targetOf({ name: "search", arguments: {} }); // "search"
 */
export function targetOf({ name, uri, ref }: JsonObject): string | undefined {
  const holder = isObject(ref) ? ref : { name, uri };
  const named = [holder.name, holder.uri].find((each) => typeof each === "string");
  return named as string | undefined; // Nothing but a string was found.
}

/**
 * The outcome of a request.
 *
 * @example
 * conversation.sessions.flatMap(({ operations }) => operations).map(statusOf);
 */
export function statusOf({ answer }: RecordedOperation): string {
  if (answer === undefined) return "no answer";
  const { result } = answer;
  if (answer.kind === "err") {
    const error = answer.member("error");
    return `error ${isObject(error) ? String(error.code) : ""}`.trim();
  }
  if (result?.isError === true) return "isError";
  return result?.resultType === "input_required" ? "input_required" : "ok";
}

/** What client and server declared about themselves. */
export interface Contract {
  /** The negotiated versions, or those that requests named. */
  readonly versions: readonly string[];
  /** What the client declared: its name and capabilities. */
  readonly client: Readonly<Record<string, unknown>>;
  /** What the server declared: its name and capabilities. */
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
