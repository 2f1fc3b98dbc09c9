import { isObject, type JsonObject, kindOf, pointerToken } from "../base/json.js";
import type { ParamsFault } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import type { ClientCapabilities } from "./capabilities.js";
import type { Implementation } from "./types/implementation.js";
import { isLoggingLevel, type LoggingLevel } from "./types/logging.js";
import { isProgressToken, type ProgressToken } from "./types/progress.js";

/**
 * The `_meta` keys that the protocol defines.
 * https://modelcontextprotocol.io/specification/latest/basic#meta
 */
export const metaKeys = {
  /** On a request: the token for progress notifications. */
  progressToken: "progressToken",
  /** On a request: its protocol revision. */
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  /** On a request: the client's capabilities. */
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  /** On a request: the client's name and version. */
  clientInfo: "io.modelcontextprotocol/clientInfo",
  /** On a request: the minimum severity of log messages to send. */
  logLevel: "io.modelcontextprotocol/logLevel",
  /** On a result: the server's name and version. */
  serverInfo: "io.modelcontextprotocol/serverInfo",
  /** On a notification: the id of the `subscriptions/listen` request that it belongs to. */
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  /** On any message of a task, in revisions where tasks are part of the core protocol. */
  relatedTask: "io.modelcontextprotocol/related-task",
  /** W3C Trace Context and Baggage, for OpenTelemetry. */
  traceparent: "traceparent",
  tracestate: "tracestate",
  baggage: "baggage",
} as const;

/** The `_meta` of every request in stateless revisions. Extensions may add keys. */
export interface RequestMeta {
  /** The revision of the request. */
  readonly "io.modelcontextprotocol/protocolVersion": string;
  /** The capabilities of the client, for this request. */
  readonly "io.modelcontextprotocol/clientCapabilities": ClientCapabilities;
  /** The name and version of the client. */
  readonly "io.modelcontextprotocol/clientInfo"?: Implementation;
  /** The lowest level of log messages that the client requests; absent for none. */
  readonly "io.modelcontextprotocol/logLevel"?: LoggingLevel;
  /** The token of progress notifications; absent if the client requests none. */
  readonly progressToken?: ProgressToken;
  readonly [key: string]: unknown;
}

/** The `_meta` of params or of a result; undefined if it is not an object. */
export function readMeta(value: Params | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const meta = value._meta;
  return isObject(meta) ? meta : undefined;
}

/** The progress token of a request, if valid. */
export function readProgressToken(params: Params | undefined): ProgressToken | undefined {
  const token = readMeta(params)?.[metaKeys.progressToken];
  return isProgressToken(token) ? token : undefined;
}

/**
 * The maximum size of a progress token, in bytes. Every progress notification repeats the token, so a long one
 * multiplies traffic.
 */
const maxProgressTokenBytes = 256;

/** The faults of the size of a progress token; empty for an invalid token, which is reported elsewhere. */
export function progressTokenFaults(token: unknown): readonly ParamsFault[] {
  if (!isProgressToken(token) || typeof token === "number") return [];
  const bytes = new TextEncoder().encode(String(token)).length;
  if (bytes <= maxProgressTokenBytes) return [];
  const path = `/_meta/${metaKeys.progressToken}`;
  return [{ path, message: `must have at most ${maxProgressTokenBytes} bytes, got ${bytes}` }];
}

/** True for a request that names a revision, and for one that names it wrongly, which is an error of the stateless era. */
export function namesRevision(params: Params | undefined): boolean {
  const meta = readMeta(params);
  return meta !== undefined && Object.hasOwn(meta, metaKeys.protocolVersion);
}

/** The revision that a request declares; undefined in handshake revisions. */
export function readProtocolVersion(params: Params | undefined): string | undefined {
  const version = readMeta(params)?.[metaKeys.protocolVersion];
  return typeof version === "string" ? version : undefined;
}

/** A valid `_meta` of a stateless request, or its faults. */
export type RequestMetaReading =
  | {
      /** The metadata of the request. */
      readonly meta: RequestMeta;
    }
  | {
      /** The faults of the metadata, each with a JSON pointer to its place. */
      readonly faults: readonly ParamsFault[];
    };

/**
 * Reads and checks the `_meta` that every stateless request must have.
 * https://modelcontextprotocol.io/specification/latest/basic#statelessness
 *
 * @example
 * const reading = readRequestMeta(request.params);
 * if ("faults" in reading) console.log(reading.faults); // [{ path: "/_meta/…", message: "must be a string, got nothing" }]
 */
export function readRequestMeta(params: Params | undefined): RequestMetaReading {
  const meta = readMeta(params);
  if (meta === undefined) return { faults: [{ path: "/_meta", message: "must be an object" }] };
  const { progressToken } = meta;
  const faults: ParamsFault[] = progressToken === undefined ? [] : [...progressTokenFaults(progressToken)];
  for (const { key, required, expected, test } of members) {
    const value = meta[key];
    if (value === undefined ? !required : test(value)) continue;
    faults.push({ path: `/_meta/${pointerToken(key)}`, message: `must be ${expected}, got ${kindOf(value)}` });
  }
  // The cast is safe: each entry of `members` was checked.
  return faults.length === 0 ? { meta: meta as RequestMeta } : { faults };
}

interface Member {
  readonly key: string;
  readonly required: boolean;
  readonly expected: string;
  readonly test: (value: unknown) => boolean;
}

const members: readonly Member[] = [
  { key: metaKeys.protocolVersion, required: true, expected: "a string", test: (value) => typeof value === "string" },
  { key: metaKeys.clientCapabilities, required: true, expected: "an object of objects", test: isCapabilities },
  { key: metaKeys.clientInfo, required: false, expected: "an object with name and version", test: isImplementation },
  { key: metaKeys.logLevel, required: false, expected: "a logging level", test: isLoggingLevel },
  { key: metaKeys.progressToken, required: false, expected: "a string or an integer", test: isProgressToken },
];

// Only these are checked, because only these are read. Unknown capabilities may have any form.
const capabilityNames = ["roots", "sampling", "elicitation", "extensions", "experimental"] as const;

function isCapabilities(value: unknown): value is ClientCapabilities {
  if (!isObject(value)) return false;
  for (const name of capabilityNames) if (value[name] !== undefined && !isObject(value[name])) return false;
  return true;
}

function isImplementation(value: unknown): value is Implementation {
  return isObject(value) && typeof value.name === "string" && typeof value.version === "string";
}

const label = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const metaKey = new RegExp(`^(?:${label}(?:\\.${label})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`);

/**
 * Checks the keys of an outgoing `_meta`: a name, with an optional prefix of labels such as `com.example/`. Keys from
 * peers are not checked.
 * https://modelcontextprotocol.io/specification/latest/basic#meta
 *
 * @param what the owner of the `_meta`, for the message
 * @throws TypeError naming the key
 */
export function requireMetaKeys(holder: unknown, what: string): void {
  if (!isObject(holder) || holder._meta === undefined) return;
  if (!isObject(holder._meta)) throw new TypeError(`${what}: its _meta must be an object`);
  const fault = metaKeyFault(holder._meta, "");
  if (fault !== undefined) throw new TypeError(`${what}: ${fault.message}`);
}

/**
 * The same check, returning a fault instead of throwing.
 * @param path JSON pointer to the `_meta`
 */
export function metaKeyFault(meta: JsonObject, path: string): ParamsFault | undefined {
  const wrong = Object.keys(meta).find((key) => !metaKey.test(key));
  if (wrong === undefined) return undefined;
  const form = "use letters, digits and inner - _ . only, optionally after a prefix such as com.example/";
  return { path, message: `${JSON.stringify(wrong)} cannot be a key of _meta: ${form}` };
}
