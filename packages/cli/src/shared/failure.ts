import { codes, explainCode, LocalError, RpcError } from "@parlance/mcp/jsonrpc";
import { exitCodes } from "./exit-codes.js";

/** Details of a failure beyond its message. */
export interface FailureDetails {
  readonly exitCode: number;
  /** Evidence, line by line: the last lines of stderr, the data of an error. */
  readonly seen?: readonly string[];
  /** The remedy. */
  readonly remedy?: string | undefined;
  readonly cause?: unknown;
}

/** The failure of a command, as it is printed. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exitCode: number;
  readonly seen: readonly string[];
  readonly remedy: string | undefined;

  constructor(message: string, { exitCode, seen = [], remedy, cause }: FailureDetails) {
    super(message, cause === undefined ? {} : { cause });
    this.exitCode = exitCode;
    this.seen = seen;
    this.remedy = remedy;
  }

  /** A copy with other details. */
  with(details: Partial<FailureDetails>): Failure {
    const { message, exitCode, seen, remedy, cause } = this;
    return new Failure(message, { exitCode, seen, remedy, cause, ...details });
  }
}

/** A usage error. */
export function usageFailure(message: string, remedy?: string): Failure {
  return new Failure(message, { exitCode: exitCodes.usage, remedy });
}

/** The failure to start or to reach a server, or its loss. */
export function unreachableFailure(message: string, remedy?: string, cause?: unknown): Failure {
  return new Failure(message, { exitCode: exitCodes.unreachable, remedy, cause });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the conversation was already open. */
export type Stage = "opening" | "open";

interface Consequence {
  readonly exitCode: Readonly<Record<Stage, number>>;
  readonly remedy?: Readonly<Record<Stage, string>>;
}

const consequences: Readonly<Record<LocalError["reason"], Consequence>> = {
  closed: {
    exitCode: { opening: exitCodes.unreachable, open: exitCodes.unreachable },
    remedy: {
      opening: "start the server by hand: it must wait for input, and write nothing but messages to stdout",
      open: "the server must run until its input ends",
    },
  },
  timeout: {
    exitCode: { opening: exitCodes.timeout, open: exitCodes.timeout },
    remedy: {
      opening: "is it an MCP server on stdin and stdout? --timeout 2m waits longer",
      open: "--timeout 2m waits longer",
    },
  },
  cancelled: { exitCode: { opening: exitCodes.interrupted, open: exitCodes.interrupted } },
  refused: { exitCode: { opening: exitCodes.usage, open: exitCodes.usage } },
  protocol: { exitCode: { opening: exitCodes.unreachable, open: exitCodes.violations } },
};

/** Converts any error to a failure. */
export function toFailure(error: unknown, stage: Stage): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof RpcError) return ofRpcError(error, stage);
  const [message = "", ...seen] = messageOf(error).split("\n");
  if (!(error instanceof LocalError))
    return new Failure(message, { exitCode: exitCodes.unreachable, seen, cause: error });
  const { exitCode, remedy } = consequences[error.reason];
  const details = { exitCode: exitCode[stage], seen, cause: error };
  // The message names an option of the library; name that of the command line instead.
  const [refused = "", option] = message.split("; { unadvertised: true }");
  if (option !== undefined) return new Failure(refused, { ...details, remedy: "--force sends it anyway" });
  const advice = remedyForSigns([message, ...seen].join("\n")) ?? remedy?.[stage];
  return new Failure(message, { ...details, remedy: advice });
}

/** The remedy for a server that does not end its messages. */
export const lineFeedRemedy = "write a line feed after each message, as console.log does: parlance explain S-1";

/**
 * Messages of the connection, and last lines of a server, that explain a failure better than its reason does. The first that matches
 * counts: a crash comes before a line that arrived earlier.
 */
const signs: readonly { readonly seen: RegExp; readonly remedy: string }[] = [
  {
    seen: /exited with code [1-9][\s\S]*Unknown file extension "\.[cm]?tsx?"/,
    remedy: "the Node that was started does not run TypeScript: npx tsx in place of node, or Node 22.18 or newer",
  },
  {
    seen: /exited with code [1-9][\s\S]*(?:Cannot use import statement outside a module|ERR_REQUIRE_ESM)/,
    remedy: "Node read the file as CommonJS: npm pkg set type=module in its folder, or name it .mjs or .mts",
  },
  {
    seen: /(?:exited with code [1-9]\d*|was ended by \w+); its last lines/,
    remedy: "the server crashed: its output on stderr gives the reason",
  },
  {
    seen: /without the newline that ends it/,
    remedy: lineFeedRemedy,
  },
  {
    seen: /this side received a (?:result|failure|response|error)\b.*no call waits for/,
    remedy: "a response must have the id of its request, type included: parlance explain R-5",
  },
  {
    seen: /this side received an error without an id: -32700\b/,
    remedy: "does the server take each chunk of stdin for a message? Split it at line breaks: parlance explain R-15",
  },
  {
    seen: /this side received (?:a result|an error)\b.* without an id/,
    remedy: "a notification has no response, and a response has the id of its request: parlance explain R-7 R-5",
  },
  {
    seen: /this side received /,
    remedy: "the server sent this instead: stdout is for messages only, one per line",
  },
];

/** The remedy for an error of a connection, or for how a server ended and its last lines on stderr. */
export function remedyForSigns(text: string): string | undefined {
  return signs.find(({ seen }) => seen.test(text))?.remedy;
}

const longestData = 2_000;

function ofRpcError(error: RpcError, stage: Stage): Failure {
  const exitCode = stage === "opening" ? exitCodes.unreachable : exitCodes.toolFailed;
  const data = error.data === undefined ? [] : [JSON.stringify(error.data).slice(0, longestData)];
  const { range, name } = explainCode(error.code);
  const known = range === "standard" && name !== error.message ? ` (${name})` : "";
  const isForeign = stage === "opening" && error.code === codes.methodNotFound;
  return new Failure(`the server answered with error ${error.code}${known}: ${error.message}`, {
    exitCode,
    seen: data,
    cause: error,
    ...(isForeign && { remedy: "it speaks JSON-RPC, but not MCP: is this the right server?" }),
  });
}
