import { kindOf, pointerToken } from "../base/json.js";
import type { ParamsFault } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import type { ClientCapabilities } from "./capabilities.js";
import type { Implementation } from "./implementation.js";
import { isObject, type JsonObject } from "./json.js";
import { isLoggingLevel, type LoggingLevel } from "./logging.js";
import { isProgressToken, type ProgressToken } from "./progress.js";

/**
 * The keys of `_meta` that have a meaning in the protocol.
 * https://modelcontextprotocol.io/specification/latest/basic#meta
 */
export const metaKeys = {
  /** On a request: the caller wants progress, under this token. */
  progressToken: "progressToken",
  /** On a request: the revision that it speaks. */
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  /** On a request: what its caller can be asked for while it is answered. */
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  /** On a request: which program calls. */
  clientInfo: "io.modelcontextprotocol/clientInfo",
  /** On a request: the least severe log message that its caller wants. */
  logLevel: "io.modelcontextprotocol/logLevel",
  /** On a result: which program answers. */
  serverInfo: "io.modelcontextprotocol/serverInfo",
  /** On a notification: the `subscriptions/listen` request that it belongs to. */
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  /** On anything that belongs to a task, where tasks are part of the core protocol. */
  relatedTask: "io.modelcontextprotocol/related-task",
  /** W3C Trace Context and Baggage, for OpenTelemetry. */
  traceparent: "traceparent",
  tracestate: "tracestate",
  baggage: "baggage",
} as const;

/** What every request of the stateless era says about its caller; also open to keys of extensions. */
export interface RequestMeta {
  readonly "io.modelcontextprotocol/protocolVersion": string;
  readonly "io.modelcontextprotocol/clientCapabilities": ClientCapabilities;
  readonly "io.modelcontextprotocol/clientInfo"?: Implementation;
  readonly "io.modelcontextprotocol/logLevel"?: LoggingLevel;
  readonly progressToken?: ProgressToken;
  readonly [key: string]: unknown;
}

/** The `_meta` of params or of a result, if it is an object. */
export function readMeta(value: Params | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const meta = value._meta;
  return isObject(meta) ? meta : undefined;
}

/** The token under which a request's caller wants progress. */
export function readProgressToken(params: Params | undefined): ProgressToken | undefined {
  const token = readMeta(params)?.[metaKeys.progressToken];
  return isProgressToken(token) ? token : undefined;
}

/** Bytes of a progress token: every notification of progress repeats it, so a long one is an amplifier. */
const maxProgressTokenBytes = 256;

/** What is wrong with the progress token of a request that has one; nothing where it has none. */
export function progressTokenFaults(params: Params | undefined): readonly ParamsFault[] {
  const token = readProgressToken(params);
  if (token === undefined || typeof token === "number") return [];
  const bytes = new TextEncoder().encode(String(token)).length;
  if (bytes <= maxProgressTokenBytes) return [];
  const path = `/_meta/${metaKeys.progressToken}`;
  return [{ path, message: `must have at most ${maxProgressTokenBytes} bytes, got ${bytes}` }];
}

/** The revision that a request says it speaks; undefined where it says nothing, as in the handshake era. */
export function readProtocolVersion(params: Params | undefined): string | undefined {
  const version = readMeta(params)?.[metaKeys.protocolVersion];
  return typeof version === "string" ? version : undefined;
}

/** A request's `_meta`, or everything that keeps it from being one in the stateless era. */
export type RequestMetaReading = { readonly meta: RequestMeta } | { readonly faults: readonly ParamsFault[] };

/**
 * Reads and checks the `_meta` that every request of the stateless era must carry.
 * https://modelcontextprotocol.io/specification/latest/basic#statelessness
 */
export function readRequestMeta(params: Params | undefined): RequestMetaReading {
  const meta = readMeta(params);
  if (meta === undefined) return { faults: [{ path: "/_meta", message: "must be an object" }] };
  const faults: ParamsFault[] = [...progressTokenFaults(params)];
  for (const { key, required, expected, test } of members) {
    const value = meta[key];
    if (value === undefined ? !required : test(value)) continue;
    faults.push({ path: `/_meta/${pointerToken(key)}`, message: `must be ${expected}, got ${kindOf(value)}` });
  }
  // The cast says what the tests of `members` have found.
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

// Only what is read: a capability that this side does not know may look as it likes.
const capabilityNames = ["roots", "sampling", "elicitation", "extensions", "experimental"] as const;

function isCapabilities(value: unknown): value is ClientCapabilities {
  return isObject(value) && capabilityNames.every((name) => value[name] === undefined || isObject(value[name]));
}

function isImplementation(value: unknown): value is Implementation {
  return isObject(value) && typeof value.name === "string" && typeof value.version === "string";
}
