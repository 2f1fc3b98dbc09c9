import { codes, explainCode } from "../jsonrpc/errors.js";

/** The codes that the specification adds to JSON-RPC's own. Which revision uses which is said in `revisions`. */
export const specCodes = {
  /** `resources/read`: no such resource. Its `data` is `{ uri }`. */
  resourceNotFound: -32_002,
  /** The person has to go to a web page first. Its `data` is `{ elicitations }`; then the call is made again. */
  urlElicitationRequired: -32_042,
  /** A header is missing, malformed, or says something else than the body. */
  headerMismatch: -32_020,
  /** The call needs something that its caller cannot be asked for. Its `data` is `{ requiredCapabilities }`. */
  missingRequiredClientCapability: -32_021,
  /** This side does not speak the revision of the request. Its `data` is `{ supported, requested }`. */
  unsupportedProtocolVersion: -32_022,
  /** `sampling/createMessage`: the person said no. */
  userRejected: -1,
} as const;

/**
 * The codes that tutorials teach. They lie in the range that new implementations should not use, and −32002 means
 * something else in the specification: a server sends them only if it is told to.
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

/** Whose word a code is: JSON-RPC's, the MCP specification's, the tutorials', or that of deployed programs. */
export type Vocabulary = "json-rpc" | "specification" | "catalogue" | "wild";

/** One reading of a code. */
export interface CodeReading {
  readonly code: number;
  readonly name: string;
  readonly meaning: string;
  readonly vocabulary: Vocabulary;
  /** How the specification says it, where the vocabulary is not its own. */
  readonly instead?: string;
}

type Row = readonly [code: number, name: string, meaning: string, instead?: string];

function vocabulary(name: Vocabulary, rows: readonly Row[]): readonly CodeReading[] {
  return rows.map(([code, title, meaning, instead]) => {
    const reading = { code, name: title, meaning, vocabulary: name };
    return instead === undefined ? reading : { ...reading, instead };
  });
}

const standard = vocabulary("json-rpc", [
  [codes.parseError, "ParseError", "What arrived is not JSON"],
  [codes.invalidRequest, "InvalidRequest", "What arrived is JSON, but not a message, or not one that is allowed here"],
  [
    codes.methodNotFound,
    "MethodNotFound",
    "The receiver does not have the method, not in this revision, or did not advertise its capability",
  ],
  [
    codes.invalidParams,
    "InvalidParams",
    "The params do not fit the method, or name a tool, prompt, resource, task or cursor that does not exist",
  ],
  [codes.internalError, "InternalError", "The receiver failed"],
]);

const specification = vocabulary("specification", [
  [specCodes.resourceNotFound, "ResourceNotFound", "The resource does not exist; data.uri names it"],
  [
    specCodes.urlElicitationRequired,
    "URLElicitationRequired",
    "The person has to go to the pages in data.elicitations; then the call can be made again",
  ],
  [specCodes.headerMismatch, "HeaderMismatch", "An HTTP header is missing, malformed, or contradicts the body"],
  [
    specCodes.missingRequiredClientCapability,
    "MissingRequiredClientCapability",
    "The call needs the client capabilities in data.requiredCapabilities, which its caller did not declare",
  ],
  [
    specCodes.unsupportedProtocolVersion,
    "UnsupportedProtocolVersion",
    "The receiver does not speak the revision data.requested; it speaks those in data.supported",
  ],
  [specCodes.userRejected, "UserRejected", "A person refused the sampling request"],
]);

const catalogue = vocabulary("catalogue", [
  [catalogueCodes.toolNotFound, "ToolNotFound", "The tool does not exist", "−32602, naming the tool"],
  [
    catalogueCodes.toolExecutionFailed,
    "ToolExecutionFailed",
    "The tool ran and failed",
    "A result with isError: true, which the model can read",
  ],
  [
    catalogueCodes.resourceNotFound,
    "ResourceNotFound",
    "The resource does not exist",
    "−32602 with data.uri; −32002 in the handshake era",
  ],
  [
    catalogueCodes.resourceUnavailable,
    "ResourceUnavailable",
    "The resource exists but cannot be read at the moment",
    "−32603, or a code of your own outside −32768 … −32000",
  ],
  [catalogueCodes.invalidResourceUri, "InvalidResourceURI", "The URI of the resource is malformed", "−32602"],
  [catalogueCodes.promptNotFound, "PromptNotFound", "The prompt does not exist", "−32602, naming the prompt"],
  [
    catalogueCodes.unauthorized,
    "Unauthorized",
    "The caller may not do this",
    "HTTP 401 or 403 with WWW-Authenticate; elsewhere a code of your own outside −32768 … −32000",
  ],
  [
    catalogueCodes.rateLimitExceeded,
    "RateLimitExceeded",
    "The caller calls too often",
    "HTTP 429 with Retry-After; for a tool a result with isError: true",
  ],
]);

// Seen from deployed SDKs and from implementations of drafts. A receiver must not conclude anything from them.
const wild = vocabulary("wild", [
  [
    -32_000,
    "ServerError",
    "SDKs refuse HTTP requests with it (bad request, method not allowed, not acceptable), and report a closed connection",
    "The HTTP status alone; a closed connection has no code",
  ],
  [
    -32_001,
    "SessionNotFound",
    "SDKs: the HTTP session is unknown or has ended, or a request timed out on this side; drafts: HeaderMismatch",
    "HTTP 404; a timeout has no code; −32020",
  ],
  [-32_003, "MissingRequiredClientCapability", "Drafts of the stateless era", "−32021"],
  [-32_004, "UnsupportedProtocolVersion", "Drafts of the stateless era", "−32022"],
]);

/** Every code that has a name, in every vocabulary: the specification's own readings first. */
export const codeReadings: readonly CodeReading[] = [...standard, ...specification, ...catalogue, ...wild];

/**
 * Everything that a code can mean, the specification's own reading first. A code without a name has one reading: its
 * range. https://modelcontextprotocol.io/specification/latest/basic#error-codes
 */
export function explainMcpCode(code: number): readonly CodeReading[] {
  const named = codeReadings.filter((reading) => reading.code === code);
  return named.length > 0 ? named : [explainRange(code)];
}

function explainRange(code: number): CodeReading {
  if (code >= -32_099 && code <= -32_020) {
    const meaning = "Kept for the specification, which has given it no meaning yet: no one else may send it";
    return { code, name: "Reserved", meaning, vocabulary: "specification" };
  }
  if (code >= -32_019 && code <= -32_000) {
    const meaning =
      "Older implementations give it meanings of their own; new ones should not, and receivers cannot know";
    return { code, name: "Server error", meaning, vocabulary: "specification" };
  }
  const { name, meaning } = explainCode(code);
  return { code, name, meaning, vocabulary: "json-rpc" };
}
