import { latest } from "@parlance/mcp";
import { explainCode as explainRange } from "@parlance/mcp/jsonrpc";
import { codeReadings, describeErrorCode, type JsonObject } from "@parlance/mcp/protocol";
import { type Explanation, facts, spanText, specPage } from "./explanation.js";

type CodeReading = (typeof codeReadings)[number];
type DescribedCode = ReturnType<typeof describeErrorCode>[number];

/** Every meaning of a code, the specification's first, each with its range in JSON-RPC. */
export function explainErrorCode(code: number): readonly Explanation[] {
  return describeErrorCode(code).map(readingOf);
}

/** The codes with a meaning of this name. */
export function codesNamed(name: string): readonly number[] {
  const wanted = plain(name);
  return [...new Set(codeReadings.filter((reading) => plain(reading.name) === wanted).map(({ code }) => code))];
}

/** `Method not found` and `MethodNotFound` are one name. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, "");
}

function readingOf(reading: DescribedCode): Explanation {
  const { code, name, meaning, vocabulary, revisions, instead, methods } = reading;
  const { fault, message, data } = codeNotes[name] ?? { fault: unknownFault };
  const error = { code, message: message ?? name, ...(data !== undefined && { data }) };
  const { range, meaning: inRange } = explainRange(code);
  return {
    topic: "code",
    name: String(code),
    title: `${name}, ${vocabularies[vocabulary]}`,
    says: meaning,
    facts: facts({
      in: revisions.length === 0 ? undefined : spanText(revisions),
      answers: methods?.join(", "),
      "at fault": fault,
      instead,
      "JSON-RPC": ownCodes.has(vocabulary) ? undefined : `${inRange} (${range})`,
      HTTP: httpText(reading),
    }),
    wire: [{ from: "server", raw: JSON.stringify({ jsonrpc: "2.0", id: 1, error }) }],
    spec: specOf(reading),
  };
}

const unknownFault = "unknown: see the documentation of its sender";

const vocabularies: Readonly<Record<CodeReading["vocabulary"], string>> = {
  "json-rpc": "of JSON-RPC",
  specification: "of the MCP specification",
  catalogue: "as in tutorials: not in the specification",
  wild: "as sent by deployed programs: not in the specification",
  parlance: "of Parlance: not in the specification, and outside the range of JSON-RPC",
  lsp: "of the Language Server Protocol: not in the specification, and outside the range of JSON-RPC",
};

/** Vocabularies whose codes are outside the reserved ranges, and JSON-RPC itself. */
const ownCodes: ReadonlySet<string> = new Set(["json-rpc", "parlance", "lsp"]);

function httpText({ httpStatus }: CodeReading): string | undefined {
  if (httpStatus === undefined) return undefined;
  return httpStatus === 200 ? "status 200" : `status ${httpStatus} in ${latest.version}, 200 before`;
}

function specOf({ name, vocabulary, revisions }: DescribedCode): readonly string[] {
  if (vocabulary === "json-rpc") return ["https://www.jsonrpc.org/specification#error_object"];
  if (vocabulary === "lsp") return ["https://microsoft.github.io/language-server-protocol/specification#errorCodes"];
  if (vocabulary !== "specification") return [specPage(latest.version, "basic#error-codes")];
  return [specPage(revisions[0] ?? latest.version, codeNotes[name]?.page ?? "basic#error-codes")];
}

/** Notes on a meaning of a code, besides those of the library. */
interface CodeNote {
  /** The side at fault, and the first thing to check. */
  readonly fault: string;
  /** The message of the example; default: the name. */
  readonly message?: string;
  readonly data?: JsonObject;
  /** The page of the specification. Default: that of all codes. */
  readonly page?: string;
}

const caller = (look: string): string => `the caller: ${look}`;
const receiver = (look: string): string => `the receiver: ${look}`;

/** Notes by name, because several codes share a name. */
const codeNotes: Readonly<Record<string, CodeNote>> = {
  ParseError: {
    fault: "the sender of the frame before it: half a line, two lines, a log among messages, or invalid UTF-8",
    message: "Parse error",
  },
  InvalidRequest: {
    fault: caller('jsonrpc must be "2.0", the id a string or an integer, and not used already'),
    message: "Invalid Request",
  },
  MethodNotFound: {
    fault: caller("check the spelling of the method, and whether the other side declared its capability"),
    message: "Method not found",
  },
  InvalidParams: {
    fault: caller("compare the params with the schema, and the names with the lists"),
    message: "Unknown tool: ad",
  },
  InternalError: {
    fault: receiver("the reason is in its log; the caller does not receive it"),
    message: "Internal error",
  },
  ResourceNotFound: {
    fault: caller("list the resources again"),
    message: "Resource not found",
    data: { uri: "file:///gone.txt" },
    page: "server/resources#error-handling",
  },
  URLElicitationRequired: {
    fault: "neither side: the user has to open a URL first",
    page: "client/elicitation#url-elicitation-required-error",
    message: "Sign in first",
    data: {
      elicitations: [{ mode: "url", elicitationId: "e-1", url: "https://example.com/sign-in", message: "Sign in" }],
    },
  },
  HeaderMismatch: {
    fault: "the client, or a proxy that removes headers",
    message: "Header mismatch: Mcp-Method says tools/list, the body tools/call",
  },
  MissingRequiredClientCapability: {
    fault: "neither side: the call requires a capability that the client does not declare",
    message: "Missing required client capability: elicitation.form",
    data: { requiredCapabilities: { elicitation: { form: {} } } },
  },
  UnsupportedProtocolVersion: {
    fault: "neither side: the client retries with one of data.supported",
    message: "Unsupported protocol version",
    data: { supported: [latest.version], requested: "1900-01-01" },
  },
  UserRejected: {
    fault: "neither side: the user refused",
    message: "User rejected sampling request",
    page: "client/sampling",
  },
  ToolNotFound: { fault: caller("list the tools again") },
  ToolExecutionFailed: { fault: receiver("the tool failed; a result with isError would have told the model why") },
  ResourceUnavailable: { fault: receiver("try again later") },
  InvalidResourceURI: { fault: caller("write an absolute URI, with its scheme") },
  PromptNotFound: { fault: caller("list the prompts again") },
  Unauthorized: { fault: caller("send a token, or one with more permissions") },
  RateLimitExceeded: { fault: caller("wait, and send fewer requests") },
  Forbidden: { fault: caller("send a key or token with these scopes") },
  "Too many requests": { fault: caller("wait for responses, then retry") },
  "Request cancelled": { fault: "neither side: the caller cancelled the request" },
  SessionNotFound: { fault: "neither side: the client opens a new session" },
  Reserved: { fault: receiver("this code is reserved and must not be sent") },
};
