import { isObject, isPlain, type JsonObject, kindOf } from "../base/json.js";

// Capability objects are open: members that are not listed here are kept. An empty object declares the capability.

/**
 * The capabilities of a client.
 * https://modelcontextprotocol.io/specification/latest/schema#clientcapabilities
 */
export interface ClientCapabilities {
  /** `listChanged` exists in handshake revisions only. */
  readonly roots?: {
    /** Whether the client sends `notifications/roots/list_changed`. */
    readonly listChanged?: boolean;
  };
  /** The client answers `sampling/createMessage`. */
  readonly sampling?: {
    /** Supports `includeContext` values other than `"none"`. */
    readonly context?: JsonObject;
    /** Supports `tools` and `toolChoice`. */
    readonly tools?: JsonObject;
  };
  /** An empty object means `form`. */
  readonly elicitation?: {
    /** Elicitation in form mode. */
    readonly form?: JsonObject;
    /** Elicitation in URL mode. */
    readonly url?: JsonObject;
  };
  /** Settings by extension identifier. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
  /** Settings of experiments, by name. */
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /** The requests that this side runs as tasks, in revisions where tasks are part of the core protocol. */
  readonly tasks?: {
    /** Supports `tasks/list`. */
    readonly list?: JsonObject;
    /** Supports `tasks/cancel`. */
    readonly cancel?: JsonObject;
    /** The requests that may run as tasks. */
    readonly requests?: {
      /** Sampling requests. */
      readonly sampling?: {
        /** `sampling/createMessage` may run as a task. */
        readonly createMessage?: JsonObject;
      };
      /** Elicitation requests. */
      readonly elicitation?: {
        /** `elicitation/create` may run as a task. */
        readonly create?: JsonObject;
      };
    };
  };
}

/**
 * The capabilities of a server.
 * https://modelcontextprotocol.io/specification/latest/schema#servercapabilities
 */
export interface ServerCapabilities {
  /** The server has tools. */
  readonly tools?: {
    /** Whether clients are notified when the list of tools changes. */
    readonly listChanged?: boolean;
  };
  /** The server has resources. */
  readonly resources?: {
    /** Whether clients can subscribe to changes of a resource. */
    readonly subscribe?: boolean;
    /** Whether clients are notified when the list of resources changes. */
    readonly listChanged?: boolean;
  };
  /** The server has prompts. */
  readonly prompts?: {
    /** Whether clients are notified when the list of prompts changes. */
    readonly listChanged?: boolean;
  };
  /** The server completes arguments. */
  readonly completions?: JsonObject;
  /** The server sends log messages. */
  readonly logging?: JsonObject;
  /** Settings by extension identifier. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
  /** Settings of experiments, by name. */
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /** The requests that this side runs as tasks, in revisions where tasks are part of the core protocol. */
  readonly tasks?: {
    /** Supports `tasks/list`. */
    readonly list?: JsonObject;
    /** Supports `tasks/cancel`. */
    readonly cancel?: JsonObject;
    /** The requests that may run as tasks. */
    readonly requests?: {
      /** Requests about tools. */
      readonly tools?: {
        /** `tools/call` may run as a task. */
        readonly call?: JsonObject;
      };
    };
  };
}

/** The maximum nesting depth. Enough for settings, and it stops on a value that contains itself. */
const maxDepth = 32;

/**
 * Checks and copies the capabilities that a program declares. Undefined members are omitted.
 *
 * @param subject the owner of the capabilities, for the error message
 * @throws TypeError naming the member with the wrong type
 */
export function readCapabilities(subject: string, given: unknown): JsonObject {
  if (given === undefined) return {};
  const path = `${subject}: capabilities`;
  const declared = requirePlain(given, path);
  for (const [name, value] of Object.entries(declared)) {
    if (value === undefined) continue;
    const settings = requirePlain(value, memberPath(path, name));
    if (name !== "extensions" && name !== "experimental") continue;
    for (const [id, each] of Object.entries(settings)) requirePlain(each, memberPath(memberPath(path, name), id));
  }
  requireJson(declared, path, 0);
  return JSON.parse(JSON.stringify(declared)) as JsonObject; // The check above ensures an object.
}

/** Merges two sets of capabilities. Where both have a value that is not an object, the declared one wins. */
export function mergeCapabilities<Capabilities extends object>(offered: Capabilities, declared: object): Capabilities {
  const added: readonly [string, unknown][] = Object.entries(declared);
  if (added.length === 0) return offered;
  const merged = new Map<string, unknown>(Object.entries(offered));
  for (const [name, value] of added) {
    const own = merged.get(name);
    merged.set(name, isObject(own) && isObject(value) ? mergeCapabilities(own, value) : value);
  }
  return Object.fromEntries(merged) as Capabilities; // Merging keeps the type of its arguments.
}

function requirePlain(value: unknown, path: string): JsonObject {
  if (isObject(value) && isPlain(value)) return value;
  throw new TypeError(`${path} must be a plain object of JSON, got ${described(value)}`);
}

function requireJson(value: unknown, path: string, depth: number): void {
  if (depth > maxDepth) throw new TypeError(`${path} is nested too deep, or contains itself`);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) requireJson(item, `${path}[${index}]`, depth + 1);
  } else if (isObject(value) && isPlain(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (member !== undefined) requireJson(member, memberPath(path, name), depth + 1);
    }
  } else if (value !== null && typeof value !== "string" && typeof value !== "boolean" && !Number.isFinite(value)) {
    throw new TypeError(`${path} must be JSON, got ${described(value)}`);
  }
}

/** The path in JavaScript notation. */
function memberPath(path: string, name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

function described(value: unknown): string {
  if (typeof value === "number") return String(value);
  return isObject(value) && !isPlain(value) ? `a ${value.constructor.name}` : kindOf(value);
}
