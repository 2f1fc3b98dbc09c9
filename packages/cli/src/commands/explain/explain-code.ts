import { latest } from "@parlance/mcp";
import { explainCode as explainRange } from "@parlance/mcp/jsonrpc";
import {
  type CodeReading,
  codeReadings,
  type DescribedCode,
  describeErrorCode,
  type Vocabulary,
} from "@parlance/mcp/protocol";
import { codeNotes } from "./code-notes.js";
import { type Explanation, facts, specPage } from "./explanation.js";
import { spanText } from "./spoken-in.js";

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

const vocabularies: Readonly<Record<Vocabulary, string>> = {
  "json-rpc": "of JSON-RPC",
  specification: "of the MCP specification",
  catalogue: "as tutorials teach it: not in the specification",
  wild: "as deployed programs send it: not in the specification",
  parlance: "of Parlance: not in the specification, and outside the range of JSON-RPC",
  lsp: "of the Language Server Protocol: not in the specification, and outside the range of JSON-RPC",
};

/** Those that JSON-RPC says nothing more of. */
const ownCodes: ReadonlySet<Vocabulary> = new Set(["json-rpc", "parlance", "lsp"]);

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
