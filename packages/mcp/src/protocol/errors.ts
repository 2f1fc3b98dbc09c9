import { codes, explainCode } from "../jsonrpc/errors.js";
import { type Method, methods } from "./methods.js";

/** The error codes that MCP adds to those of JSON-RPC. The files in `revisions/` list which revision uses which. */
export const specCodes = {
  /** `resources/read`: the resource does not exist. `data` is `{ uri }`. */
  resourceNotFound: -32_002,
  /**
   * The user must visit a URL before the call can succeed. `data` is `{ elicitations }`; after them, the client retries
   * the call.
   */
  urlElicitationRequired: -32_042,
  /** A header is missing or malformed, or does not match the body. */
  headerMismatch: -32_020,
  /** The call needs a capability that the client did not declare. `data` is `{ requiredCapabilities }`. */
  missingRequiredClientCapability: -32_021,
  /** The receiver does not support the request's revision. `data` is `{ supported, requested }`. */
  unsupportedProtocolVersion: -32_022,
  /** `sampling/createMessage`: the user declined. */
  userRejected: -1,
} as const;

/**
 * Error codes from tutorials. They are in the range that new implementations should not use, and −32002 has another
 * meaning in the specification, so a server sends them only if configured to.
 */
export const catalogueCodes = {
  toolNotFound: -32_001,
  toolExecutionFailed: -32_002,
  resourceNotFound: -32_003,
  resourceUnavailable: -32_004,
  invalidResourceUri: -32_005,
  promptNotFound: -32_006,
  unauthorized: -32_007,
  rateLimitExceeded: -32_008,
} as const;

/**
 * The source of an error code: JSON-RPC, the MCP specification, the tutorials, deployed programs, this library, or the
 * Language Server Protocol.
 */
export type Vocabulary = "json-rpc" | "specification" | "catalogue" | "wild" | "parlance" | "lsp";

/** One meaning of an error code. */
export interface CodeReading {
  /** The described code. */
  readonly code: number;
  /** The name of the code, such as `ResourceNotFound`. */
  readonly name: string;
  /** The meaning of the code, in one sentence. */
  readonly meaning: string;
  /** The catalogue that gives the code this meaning. */
  readonly vocabulary: Vocabulary;
  /** The specification's equivalent, if the code is not its own. */
  readonly instead?: string;
  /** The members of `data`, if any. */
  readonly data?: readonly string[];
  /** The methods that respond with this code; absent if any may. */
  readonly methods?: readonly Method[];
  /** The HTTP status of the response in stateless revisions. In handshake revisions it is always 200. */
  readonly httpStatus?: number;
}

type Row = Omit<CodeReading, "vocabulary">;

function vocabulary(name: Vocabulary, rows: readonly Row[]): readonly CodeReading[] {
  return rows.map((row) => ({ ...row, vocabulary: name }));
}

const standard = vocabulary("json-rpc", [
  { code: codes.parseError, name: "ParseError", meaning: "What arrived is not JSON", httpStatus: 400 },
  {
    code: codes.invalidRequest,
    name: "InvalidRequest",
    meaning: "What arrived is JSON, but not a message, or not one that is allowed here",
    httpStatus: 400,
  },
  {
    code: codes.methodNotFound,
    name: "MethodNotFound",
    meaning: "The receiver does not have the method, not in this revision, or did not advertise its capability",
    httpStatus: 404,
  },
  {
    code: codes.invalidParams,
    name: "InvalidParams",
    meaning: "The params do not fit the method, or name a tool, prompt, resource, task or cursor that does not exist",
    httpStatus: 200,
  },
  { code: codes.internalError, name: "InternalError", meaning: "The receiver failed", httpStatus: 200 },
]);

const specification = vocabulary("specification", [
  {
    code: specCodes.resourceNotFound,
    name: "ResourceNotFound",
    meaning: "The resource does not exist; data.uri names it",
    data: ["uri"],
    methods: [methods.readResource, methods.subscribe],
  },
  {
    code: specCodes.urlElicitationRequired,
    name: "URLElicitationRequired",
    meaning: "The user must visit the URLs in data.elicitations; then the call can be repeated",
    data: ["elicitations"],
  },
  {
    code: specCodes.headerMismatch,
    name: "HeaderMismatch",
    meaning: "An HTTP header is missing, malformed, or contradicts the body",
    httpStatus: 400,
  },
  {
    code: specCodes.missingRequiredClientCapability,
    name: "MissingRequiredClientCapability",
    meaning: "The call needs the client capabilities in data.requiredCapabilities, which its caller did not declare",
    data: ["requiredCapabilities"],
    httpStatus: 400,
  },
  {
    code: specCodes.unsupportedProtocolVersion,
    name: "UnsupportedProtocolVersion",
    meaning: "The receiver does not support the revision in data.requested, only those in data.supported",
    data: ["supported", "requested"],
    httpStatus: 400,
  },
  {
    code: specCodes.userRejected,
    name: "UserRejected",
    meaning: "The user declined the sampling request",
    methods: [methods.createMessage],
  },
]);

const catalogue = vocabulary("catalogue", [
  {
    code: catalogueCodes.toolNotFound,
    name: "ToolNotFound",
    meaning: "The tool does not exist",
    instead: "−32602, naming the tool",
    methods: [methods.callTool],
  },
  {
    code: catalogueCodes.toolExecutionFailed,
    name: "ToolExecutionFailed",
    meaning: "The tool ran and failed",
    instead: "A result with isError: true, which the model can read",
    methods: [methods.callTool],
  },
  {
    code: catalogueCodes.resourceNotFound,
    name: "ResourceNotFound",
    meaning: "The resource does not exist",
    instead: "−32602 with data.uri; −32002 in the handshake era",
    methods: [methods.readResource, methods.subscribe],
  },
  {
    code: catalogueCodes.resourceUnavailable,
    name: "ResourceUnavailable",
    meaning: "The resource exists but cannot be read at the moment",
    instead: "−32603, or a code of your own outside −32768 … −32000",
    methods: [methods.readResource, methods.subscribe],
  },
  {
    code: catalogueCodes.invalidResourceUri,
    name: "InvalidResourceURI",
    meaning: "The URI of the resource is malformed",
    instead: "−32602",
    methods: [methods.readResource, methods.subscribe, methods.unsubscribe],
  },
  {
    code: catalogueCodes.promptNotFound,
    name: "PromptNotFound",
    meaning: "The prompt does not exist",
    instead: "−32602, naming the prompt",
    methods: [methods.getPrompt],
  },
  {
    code: catalogueCodes.unauthorized,
    name: "Unauthorized",
    meaning: "The caller may not do this",
    instead: "HTTP 401 or 403 with WWW-Authenticate; elsewhere a code of your own outside −32768 … −32000",
  },
  {
    code: catalogueCodes.rateLimitExceeded,
    name: "RateLimitExceeded",
    meaning: "The caller calls too often",
    instead: "HTTP 429 with Retry-After; for a tool a result with isError: true; else a code of your own",
  },
]);

// Found in deployed SDKs and in implementations of drafts. A receiver cannot rely on their meaning.
const wild = vocabulary("wild", [
  {
    code: -32_000,
    name: "ServerError",
    meaning:
      "SDKs refuse HTTP requests with it (bad request, method not allowed, not acceptable), and report a closed connection",
    instead: "The HTTP status alone; a closed connection has no code",
  },
  {
    code: -32_001,
    name: "SessionNotFound",
    meaning:
      "SDKs: the HTTP session is unknown or has ended, or a request timed out on this side; drafts: HeaderMismatch",
    instead: "HTTP 404; a timeout has no code; −32020",
  },
  {
    code: -32_003,
    name: "MissingRequiredClientCapability",
    meaning: "Drafts of the stateless era",
    instead: "−32021",
    data: ["requiredCapabilities"],
  },
  {
    code: -32_004,
    name: "UnsupportedProtocolVersion",
    meaning: "Drafts of the stateless era",
    instead: "−32022",
    data: ["supported"],
  },
]);

/** Every named error code from every source, the specification's own first. */
export const codeReadings: readonly CodeReading[] = [...standard, ...specification, ...catalogue, ...wild];

/**
 * All meanings of an error code, the specification's own first. A code without a name has one: its range.
 * https://modelcontextprotocol.io/specification/latest/basic#error-codes
 */
export function readingsOf(code: number): readonly CodeReading[] {
  const named = codeReadings.filter((reading) => reading.code === code);
  return named.length > 0 ? named : [explainRange(code)];
}

function explainRange(code: number): CodeReading {
  if (code >= -32_099 && code <= -32_020) {
    const meaning = "Reserved for the specification, which has not assigned it: implementations must not send it";
    return { code, name: "Reserved", meaning, vocabulary: "specification" };
  }
  if (code >= -32_019 && code <= -32_000) {
    const meaning =
      "Older implementations use it with meanings of their own; new ones should not, and receivers cannot rely on any";
    return { code, name: "Server error", meaning, vocabulary: "specification" };
  }
  const { name, meaning } = explainCode(code);
  return { code, name, meaning, vocabulary: owners.get(code) ?? "json-rpc" };
}

/** The sources of the engine's codes that are not JSON-RPC's own. */
const owners: ReadonlyMap<number, Vocabulary> = new Map<number, Vocabulary>([
  [codes.tooManyRequests, "parlance"],
  [codes.forbidden, "parlance"],
  [codes.requestCancelled, "lsp"],
]);
