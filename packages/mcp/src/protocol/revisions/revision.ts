import { isObject } from "../../base/json.js";
import { amendTypes, membersOf, type TypeChange } from "../shapes/named-types.js";
import { ref, type Shape, type Types } from "../shapes/shape.js";
import { Converter, inOrder, keep, type Reshape, renamed, without } from "./conversion.js";

/** How a session starts: with `initialize`, or not at all, because each request describes itself. */
export type Era = "handshake" | "stateless";

/** The part of a message that is converted and checked; for a notification, its params. */
export type PartName = "params" | "result" | "notification";

/** One value per side, by the sender of the message. */
export interface BySender<Thing> {
  /** Sent by the client. */
  readonly client: Thing;
  /** Sent by the server. */
  readonly server: Thing;
}

/**
 * The differences between revisions, one member per rule that methods, error codes or steps do not already express.
 * Differences that follow from the era are read from `revision.era`.
 */
export interface Facts {
  /** Whether messages may come in batches. */
  readonly batches: boolean;
  /** Whether the error response to an unreadable request may omit its id. */
  readonly errorId: "required" | "optional";

  /** How strictly both sides must respect the negotiated version and capabilities. */
  readonly negotiation: "should" | "must";

  /** Whether `notifications/progress` may have a `message`. */
  readonly progressMessage: boolean;
  /** Whether tools, prompts, resources and implementations have a `title`. */
  readonly titles: boolean;
  /** Whether these have `icons`. */
  readonly icons: boolean;
  /** Whether tools, prompts, resources and content blocks have `_meta`. */
  readonly itemMeta: boolean;
  /** The rule for reserved prefixes of `_meta` keys: none, or one of two. */
  readonly metaKeys: "free" | "prefix" | "second-label";

  /** Whether content may be audio. */
  readonly audio: boolean;
  /** Whether content may be a resource link. */
  readonly resourceLinks: boolean;
  /** Whether tools have annotations. */
  readonly toolAnnotations: boolean;
  /** The type of `structuredContent` in tool results. */
  readonly structuredContent: "none" | "object" | "any";
  /** The dialect of tool schemas: unspecified, 2020-12, or 2020-12 with rules for `$ref`. */
  readonly toolSchemas: "unnamed" | "2020-12" | "2020-12 with references";
  /** How a tool reports invalid arguments: unspecified, or as a result with `isError`, which the model can read. */
  readonly toolArgumentErrors: "any" | "result";

  /** Whether servers declare the `completions` capability. */
  readonly completionsCapability: boolean;
  /** Whether a completion request has the values of other arguments. */
  readonly completionContext: boolean;
  /** The supported modes of elicitation, and whether URL mode has an id. */
  readonly elicitation: "none" | "form" | "form, url with id" | "form, url";
  /** Whether a sampled model may use tools. */
  readonly samplingTools: boolean;
  /** Whether tasks exist: not at all, in the core protocol, or as an extension. */
  readonly tasks: "none" | "core" | "extension";

  /** The HTTP transport. */
  readonly httpBinding: "http+sse" | "session" | "stateless";
  /** Whether a server may close an event stream early, so that the client polls. */
  readonly httpPolling: boolean;
  /** The HTTP requests that must have the `MCP-Protocol-Version` header. */
  readonly httpVersionHeader: "none" | "after initialize" | "all";
  /** The HTTP status for a forbidden `Origin`; undefined if the specification does not require one. */
  readonly httpOriginRefusal: 403 | undefined;
  /**
   * The authorization model of HTTP servers: the MCP server is its own authorization server; it is a resource server of
   * a separate one; additionally with client metadata documents; additionally with credentials bound to their issuer.
   */
  readonly authorization: "none" | "own server" | "resource server" | "client metadata" | "bound issuer";
}

/** The error codes of a revision by name; undefined if the revision has no such error. */
export interface Codes {
  /** The frame is not JSON. */
  readonly parseError: number;
  /** The message is not a valid JSON-RPC request. */
  readonly invalidRequest: number;
  /** The method does not exist. */
  readonly methodNotFound: number;
  /** The params are invalid. */
  readonly invalidParams: number;
  /** The server failed. */
  readonly internalError: number;
  /** No resource has the requested URI. */
  readonly resourceNotFound: number;
  /** The user refused; undefined in revisions without a code for it. */
  readonly userRejected: number | undefined;
  /** The client must complete a URL elicitation first; undefined in revisions without it. */
  readonly urlElicitationRequired: number | undefined;
  /** A header contradicts the body; undefined in revisions without such headers. */
  readonly headerMismatch: number | undefined;
  /** The request lacks a capability that it needs; undefined in revisions without this code. */
  readonly missingRequiredClientCapability: number | undefined;
  /** The server does not support the revision of the request; undefined in revisions without this code. */
  readonly unsupportedProtocolVersion: number | undefined;
}

/** The shapes of a request's params and result. */
export interface RequestShape {
  /** The shape of the params. */
  readonly params: Shape;
  /** The shape of the result. */
  readonly result: Shape;
}

/** The shapes of every message of a revision and of its predecessors, and of the types that they refer to. */
export interface MessageShapes {
  /** The named shapes that others refer to. */
  readonly types: Types;
  /** The shapes of requests, by method. */
  readonly requests: ReadonlyMap<string, RequestShape>;
  /** The shapes of notification params. */
  readonly notifications: ReadonlyMap<string, Shape>;
  /** The shapes of error `data`, by code. */
  readonly errors: ReadonlyMap<number, Shape>;
}

/** The change of a type: the shape and the conversions of messages both follow from it. */
interface RevisedType extends TypeChange {
  /** Added members stay when a message is converted to an older revision, because that allows any. */
  readonly stays?: true;
  /**
   * Converts values to the previous revision where that is more than the removal of added members and the return of
   * former names, which happens after it.
   */
  readonly down?: Reshape;
}

/** New types, and changes of types, by name. */
export type RevisedTypes = Readonly<Record<string, RevisedType | Shape>>;

/** The messages that a revision adds and removes for one side, by method. */
interface MessageChanges<Added> {
  readonly added?: Readonly<Record<string, Added>>;
  readonly removed?: readonly string[];
}

/** The changes of a revision. In its file, the comment at a change names the specification's page. */
export interface Changes {
  readonly era?: Era;
  readonly requests?: Partial<BySender<MessageChanges<RequestShape>>>;
  readonly notifications?: Partial<BySender<MessageChanges<Shape>>>;
  /** Requests that a server puts into an `input_required` result. */
  readonly inputRequests?: readonly string[];
  readonly facts?: Partial<Facts>;
  readonly codes?: Partial<Codes>;
  /** The shapes of error `data`, by code. */
  readonly errors?: ReadonlyMap<number, Shape>;
  readonly types?: RevisedTypes;
}

/**
 * A published revision of the protocol: its methods, facts, error codes and shapes. Code asks for facts, never for the
 * version.
 */
export interface Revision {
  /** The date that names the revision, such as `2025-11-25`. */
  readonly version: string;
  /** Whether a session begins with a handshake, or each request stands for itself. */
  readonly era: Era;
  /** The requests that each side may send. Other methods get −32601. */
  readonly requests: BySender<ReadonlySet<string>>;
  /** The notifications that each side may send. Others are ignored. */
  readonly notifications: BySender<ReadonlySet<string>>;
  /** The requests that a server may put into an `input_required` result instead of sending them. */
  readonly inputRequests: ReadonlySet<string>;
  /** Facts in which revisions differ, such as whether they have batches. */
  readonly facts: Facts;
  /** The codes of errors. */
  readonly codes: Codes;
  /** The shapes of all messages. */
  readonly shapes: MessageShapes;
  /**
   * Converts a part of a message from the newest shape to this revision's. Keeps objects objects, never changes its
   * argument, and returns the same value if nothing changes.
   */
  down<Value>(of: PartName, method: string, value: Value): Value;
  /** The reverse: converts what a peer sent in this revision to the newest shape. Added members stay absent. */
  up<Value>(of: PartName, method: string, value: Value): Value;
}

/** A revision as defined in its own file. */
export interface Edition extends Omit<Revision, "down" | "up"> {
  readonly previous: Edition | undefined;
  /** By type name: the conversion to the previous revision. */
  readonly down: ReadonlyMap<string, Reshape>;
  /** By type name: the conversion from the previous revision. */
  readonly up: ReadonlyMap<string, Reshape>;
  /** By type name: the members that this revision or a former one removed. */
  readonly dropped: ReadonlyMap<string, readonly string[]>;
}

const none: ReadonlySet<string> = new Set();

/** Defines the first revision, which is a change to nothing. */
export function firstEdition(
  version: string,
  changes: Changes & { readonly era: Era; readonly facts: Facts; readonly codes: Codes; readonly types: Types },
): Edition {
  const nothing: Edition = {
    version: "",
    era: changes.era,
    requests: { client: none, server: none },
    notifications: { client: none, server: none },
    inputRequests: none,
    facts: changes.facts,
    codes: changes.codes,
    shapes: { types: {}, requests: new Map(), notifications: new Map(), errors: new Map() },
    previous: undefined,
    down: new Map(),
    up: new Map(),
    dropped: new Map(),
  };
  return { ...revise(nothing, version, changes), previous: undefined };
}

/**
 * Defines a revision as a list of changes to the previous one. Its shapes follow from them, and so do the conversions:
 * members that it added are removed for the previous revision, and renamed members get their former name.
 */
export function revise(previous: Edition, version: string, changes: Changes): Edition {
  const { requests = {}, notifications = {}, inputRequests = [], errors = [], types = {} } = changes;
  const { shapes } = previous;
  const revised = Object.entries(types).flatMap(([name, type]) => ("kind" in type ? [] : [[name, type] as const]));
  return {
    version,
    previous,
    era: changes.era ?? previous.era,
    requests: reviseSenders(previous.requests, requests),
    notifications: reviseSenders(previous.notifications, notifications),
    inputRequests: new Set([...previous.inputRequests, ...inputRequests]),
    facts: { ...previous.facts, ...changes.facts },
    codes: { ...previous.codes, ...changes.codes },
    shapes: {
      types: amendTypes(shapes.types, types),
      requests: new Map([...shapes.requests, ...addedBy(requests)]),
      notifications: new Map([...shapes.notifications, ...addedBy(notifications)]),
      errors: new Map([...shapes.errors, ...errors]),
    },
    down: new Map(revised.flatMap(([name, type]) => named(name, downOf(shapes.types, name, type)))),
    up: new Map(revised.flatMap(([name, { renames }]) => named(name, renames && renamed(renames)))),
    dropped: new Map([
      ...previous.dropped,
      ...revised.map(([name, { lacks = [], has = {} }]): [string, readonly string[]] => [
        name,
        [...(previous.dropped.get(name) ?? []), ...lacks].filter((member) => !Object.hasOwn(has, member)),
      ]),
    ]),
  };
}

type Messages = BySender<ReadonlySet<string>>;

function reviseSenders(previous: Messages, changes: Partial<BySender<MessageChanges<unknown>>>): Messages {
  const revised = (side: keyof Messages): ReadonlySet<string> => {
    const { added = {}, removed = [] } = changes[side] ?? {};
    return new Set([...previous[side], ...Object.keys(added)].filter((method) => !removed.includes(method)));
  };
  return { client: revised("client"), server: revised("server") };
}

function addedBy<Added>(changes: Partial<BySender<MessageChanges<Added>>>): readonly [string, Added][] {
  return [changes.client, changes.server].flatMap((side) => Object.entries(side?.added ?? {}));
}

function named(name: string, conversion: Reshape | undefined): readonly [string, Reshape][] {
  return conversion === undefined ? [] : [[name, conversion]];
}

function downOf(previous: Types, name: string, { has = {}, renames, stays, down }: RevisedType): Reshape | undefined {
  const before = previous[name];
  const known = before?.kind === "object" ? membersOf(previous, before) : {};
  const added = stays ? [] : Object.keys(has).filter((member) => !Object.hasOwn(known, member));
  return inOrder([
    down,
    renames && renamed(Object.fromEntries(Object.entries(renames).map(([former, member]) => [member, former]))),
    added.length === 0 ? undefined : without(...added),
  ]);
}

/** Publishes the newest revision and all before it, oldest first. */
export function publish(newest: Edition): readonly Revision[] {
  const history: Edition[] = [];
  for (let edition: Edition | undefined = newest; edition !== undefined; edition = edition.previous) {
    history.unshift(edition);
  }
  return history.map((edition, index) => {
    const { previous, dropped, ...description } = edition;
    const newer = history.slice(index + 1);
    const removed = new Map(
      [...dropped].flatMap(([name, members]) => named(name, members.length === 0 ? undefined : without(...members))),
    );
    return {
      ...description,
      down: conversion(newest, [
        ...newer.map(({ shapes, down }) => ({ shapes, changes: down })).reverse(),
        { shapes: edition.shapes, changes: removed },
      ]),
      up: conversion(
        newest,
        newer.flatMap(({ up, previous: from }) => (from === undefined ? [] : [{ shapes: from.shapes, changes: up }])),
      ),
    };
  });
}

/** Conversions of types, and the shapes in which to find these types. */
interface ConversionStep {
  readonly shapes: MessageShapes;
  readonly changes: ReadonlyMap<string, Reshape>;
}

/** Stands for all methods that no revision has: those of extensions. */
const extension = "";

/** Applies the steps in order to parts of messages. Each part of each method is compiled at its first use. */
function conversion({ shapes }: Edition, steps: readonly ConversionStep[]): Revision["down"] {
  const converters = steps
    .filter(({ changes }) => changes.size > 0)
    .map((step) => ({ shapes: step.shapes, converter: new Converter(step.shapes.types, step.changes) }));
  const compiled = {
    params: new Map<string, Reshape>(),
    result: new Map<string, Reshape>(),
    notification: new Map<string, Reshape>(),
  };
  const compile = (of: PartName, method: string): Reshape => {
    const isKnown = (of === "notification" ? shapes.notifications : shapes.requests).has(method);
    const name = isKnown ? method : extension;
    const known = compiled[of].get(name);
    if (known !== undefined) return known;
    const all = inOrder(converters.map((each) => each.converter.compile(partShape(each.shapes, of, name))));
    const reshape = all ?? keep;
    compiled[of].set(name, reshape);
    return reshape;
  };
  return <Value>(of: PartName, method: string, value: Value) => {
    // Written out, because V8 is slow where the name of a member varies.
    const known = of === "params" ? compiled.params : of === "result" ? compiled.result : compiled.notification;
    const reshape = known.get(method) ?? compile(of, method);
    const { members } = reshape;
    if (members === undefined) return reshape(value) as Value;
    // Most messages have none of the members that differ between the revisions: one look at them saves one for every change.
    if (members.size > 0 && isObject(value)) {
      for (const name in value) if (members.has(name)) return reshape(value) as Value;
    }
    return value;
  };
}

/** The shape of a part; for a method that these shapes do not have, the shape of all params, results or notifications. */
function partShape({ requests, notifications }: MessageShapes, of: PartName, method: string): Shape {
  if (of === "notification") return notifications.get(method) ?? ref("NotificationParams");
  return requests.get(method)?.[of] ?? ref(of === "params" ? "RequestParams" : "Result");
}
