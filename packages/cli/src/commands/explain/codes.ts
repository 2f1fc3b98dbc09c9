import { latest } from "@parlance/mcp";
import { explainCode as explainRange } from "@parlance/mcp/jsonrpc";
import { codeReadings, describeErrorCode, type JsonObject } from "@parlance/mcp/protocol";
import { type Explanation, facts, spanText, specPage } from "./explanation.js";

type CodeReading = (typeof codeReadings)[number];
type DescribedCode = ReturnType<typeof describeErrorCode>[number];

/** Every reading of a code, the specification's own first; JSON-RPC's range is told with each. */
export function explainErrorCode(code: number): readonly Explanation[] {
  return describeErrorCode(code).map(readingOf);
}

/** The codes that have a reading of that name. */
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
  const { fault, message, data } = codeNotes.get(name) ?? { fault: unknownFault };
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

const unknownFault = "only the documentation of whoever sent it can say";

const vocabularies: Readonly<Record<CodeReading["vocabulary"], string>> = {
  "json-rpc": "of JSON-RPC",
  specification: "of the MCP specification",
  catalogue: "as tutorials teach it: not in the specification",
  wild: "as deployed programs send it: not in the specification",
  parlance: "of Parlance: not in the specification, and outside the range of JSON-RPC",
  lsp: "of the Language Server Protocol: not in the specification, and outside the range of JSON-RPC",
};

/** Those that JSON-RPC says nothing more of. */
const ownCodes: ReadonlySet<string> = new Set(["json-rpc", "parlance", "lsp"]);

function httpText({ httpStatus }: CodeReading): string | undefined {
  if (httpStatus === undefined) return undefined;
  return httpStatus === 200 ? "status 200" : `status ${httpStatus} in ${latest.version}, 200 before`;
}

function specOf({ name, vocabulary, revisions }: DescribedCode): readonly string[] {
  if (vocabulary === "json-rpc") return ["https://www.jsonrpc.org/specification#error_object"];
  if (vocabulary === "lsp") return ["https://microsoft.github.io/language-server-protocol/specification#errorCodes"];
  if (vocabulary !== "specification") return [specPage(latest.version, "basic#error-codes")];
  return [specPage(revisions[0] ?? latest.version, codeNotes.get(name)?.page ?? "basic#error-codes")];
}

/** What is said of the reading of a code, besides what the library knows of it. */
interface CodeNote {
  /** Whose fault it is, and what to look at. */
  readonly fault: string;
  /** The message of the example; default: the name. */
  readonly message?: string;
  readonly data?: JsonObject;
  /** The page of the specification, where it is not that of all codes. */
  readonly page?: string;
}

const caller = (look: string): string => `whoever made the call: ${look}`;
const receiver = (look: string): string => `whoever answered: ${look}`;

/** By the names of readings, which several codes share. */
const codeNotes: ReadonlyMap<string, CodeNote> = new Map<string, CodeNote>([
  [
    "ParseError",
    {
      fault: "whoever sent the text before it: half a line, two lines, a log among messages, or no UTF-8",
      message: "Parse error",
    },
  ],
  [
    "InvalidRequest",
    {
      fault: caller('jsonrpc must be "2.0", the id a string or an integer, and not used already'),
      message: "Invalid Request",
    },
  ],
  [
    "MethodNotFound",
    {
      fault: caller("look how the method is written, and whether the other side declared its capability"),
      message: "Method not found",
    },
  ],
  [
    "InvalidParams",
    {
      fault: caller("compare the params with the schema, and names with what the lists say"),
      message: "Unknown tool: ad",
    },
  ],
  [
    "InternalError",
    { fault: receiver("the reason is in its own log, and is no business of the caller"), message: "Internal error" },
  ],
  [
    "ResourceNotFound",
    {
      fault: caller("list the resources again"),
      message: "Resource not found",
      data: { uri: "file:///gone.txt" },
      page: "server/resources#error-handling",
    },
  ],
  [
    "URLElicitationRequired",
    {
      fault: "nobody's: a person has something to do first",
      page: "client/elicitation#url-elicitation-required-error",
      message: "Sign in first",
      data: {
        elicitations: [{ mode: "url", elicitationId: "e-1", url: "https://example.com/sign-in", message: "Sign in" }],
      },
    },
  ],
  [
    "HeaderMismatch",
    {
      fault: "the client, or something on the way that loses headers",
      message: "Header mismatch: Mcp-Method says tools/list, the body tools/call",
    },
  ],
  [
    "MissingRequiredClientCapability",
    {
      fault: "nobody's: the client does not offer what the call needs",
      message: "Missing required client capability: elicitation.form",
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    },
  ],
  [
    "UnsupportedProtocolVersion",
    {
      fault: "nobody's: the client tries again with one of data.supported",
      message: "Unsupported protocol version",
      data: { supported: [latest.version], requested: "1900-01-01" },
    },
  ],
  [
    "UserRejected",
    { fault: "nobody's: a person has said no", message: "User rejected sampling request", page: "client/sampling" },
  ],
  ["ToolNotFound", { fault: caller("list the tools again") }],
  ["ToolExecutionFailed", { fault: receiver("the tool failed; the model should have been told") }],
  ["ResourceUnavailable", { fault: receiver("try again later") }],
  ["InvalidResourceURI", { fault: caller("write a whole URI, with its scheme") }],
  ["PromptNotFound", { fault: caller("list the prompts again") }],
  ["Unauthorized", { fault: caller("give a token, or one that may do more") }],
  ["RateLimitExceeded", { fault: caller("wait, and ask less often") }],
  ["Too many requests", { fault: caller("wait for responses, then ask again") }],
  ["Request cancelled", { fault: "nobody's: the caller cancelled the request" }],
  ["SessionNotFound", { fault: "nobody's: the client opens a session anew" }],
  ["Reserved", { fault: receiver("no one may send this code yet") }],
]);
