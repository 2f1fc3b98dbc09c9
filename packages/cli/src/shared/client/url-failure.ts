import { HttpError, LocalError, RpcError } from "@parlance/mcp/client";
import { Failure, type Stage, toFailure } from "../failure.js";

/** Converts anything thrown by a conversation over HTTP or WebSocket into a failure. */
export function toFailureAtUrl(error: unknown, stage: Stage): Failure {
  const failure = toFailure(error, stage);
  if (failure === error) return failure;
  const { message, exitCode } = failure;
  const remedy = error instanceof RpcError ? undefined : remedyFor(error, message);
  const seen = failure.seen.filter((line) => line !== ""); // OpenSSL ends its messages with a line feed.
  const details = { exitCode, seen, cause: error };
  return new Failure(message, remedy === undefined ? details : { ...details, remedy });
}

function remedyFor(error: unknown, message: string): string | undefined {
  const status = statusOf(error) ?? Number(/Unexpected server response: (\d{3})/.exec(message)?.[1]);
  return (
    statusRemedy(status) ??
    remedyForWords(message) ??
    (error instanceof LocalError ? reasonRemedies[error.reason] : undefined)
  );
}

/** The innermost cause of an error: `fetch` itself only says that it failed. */
export function innermost(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? innermost(error.cause) : error;
}

/** The remedy for a known message. */
export function remedyForWords(message: string): string | undefined {
  return signs.find(({ seen }) => seen.test(message))?.remedy;
}

function statusOf(error: unknown): number | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof HttpError) return each.status;
  return undefined;
}

const anotherPath = "the endpoint of an MCP server is often /mcp, or /sse where it is old";

const remedies: ReadonlyMap<number, string> = new Map([
  [401, "give what it asks for: --header 'Authorization: Bearer <token>'"],
  [403, "the token may not do that, or the server does not know this Host or Origin"],
  [404, `nothing is at this path: ${anotherPath}`],
  [405, `this path takes no POST: ${anotherPath}`],
  [426, "it wants a WebSocket: write ws:// or wss://"],
  [429, "it is asked too often: wait a while"],
]);

/** The remedy for an HTTP status. */
export function statusRemedy(status: number): string | undefined {
  return remedies.get(status) ?? (status >= 500 ? "the server itself has failed: look in its log" : undefined);
}

/** Messages of Node, OpenSSL and undici, and their remedies. */
const signs: readonly { readonly seen: RegExp; readonly remedy: string }[] = [
  { seen: /ECONNREFUSED/, remedy: "nothing listens there: is the server started, and is this its port?" },
  { seen: /ENOTFOUND|EAI_AGAIN/, remedy: "nobody knows this name: check how the host is written, and the network" },
  { seen: /wrong version number|packet length too long/, remedy: "no TLS is spoken there: write http:// or ws://" },
  {
    seen: /certificate|altnames/,
    remedy: "its certificate is not trusted: NODE_EXTRA_CA_CERTS=ca.pem in front of parlance adds who has signed it",
  },
  {
    seen: /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|Connect Timeout/,
    remedy: "no way leads there: check address and network",
  },
  { seen: /ECONNRESET|other side closed|hang up/, remedy: "is it the right port? does it want https://?" },
  { seen: /does not match the HTTP|Parse Error/, remedy: "it is not HTTP that is spoken there: is it the right port?" },
  { seen: /Content-Type "text\/html"/, remedy: `this is a web page, and no MCP server: ${anotherPath}` },
  {
    seen: /Unexpected server response/,
    remedy: "it opens no WebSocket there: is it http:// or https:// that it speaks?",
  },
  { seen: /bad port/, remedy: "nobody's fetch asks this port: let the server listen on another one" },
];

const reasonRemedies: Readonly<Partial<Record<LocalError["reason"], string>>> = {
  closed: "look in the log of the server: it has ended the conversation",
  timeout: "the server has taken the request and does not answer: look in its log; --timeout 2m waits longer",
};

/** The name of an environment variable, with an underscore. Codes of Node begin with ERR_. */
const variableName = /\b(?!ERR_)[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/;

/** Words of messages about something missing. */
const missing =
  /missing|required|requires|not set|unset|must be set|must set|please set|not defined|undefined|not found|not provided|must provide|please provide|not configured|KeyError/i;

/** The remedy if stderr names a missing variable that is not set here either. */
export function missingVariableRemedy(stderr: readonly string[]): string | undefined {
  const names = stderr.flatMap((line) => (missing.test(line) ? (variableName.exec(line) ?? []) : []));
  const name = names.find((each) => process.env[each] === undefined);
  if (name === undefined) return undefined;
  return `the server needs the variable ${name}: --env ${name}=<value> gives it; in the configuration of a host it stands under "env"`;
}
