import { HttpError, LocalError, RpcError } from "@parlance/mcp/client";
import { codes } from "@parlance/mcp/jsonrpc";
import { Failure, type Stage, toFailure } from "../failure.js";
import { signInFailureOf } from "./sign-in.js";

/** Converts any error of a conversation over HTTP or WebSocket to a failure. */
export function toFailureAtUrl(error: unknown, stage: Stage): Failure {
  const failure = toFailure(error, stage);
  if (failure === error) return failure;
  const { message, exitCode } = failure;
  const refused = signInFailureOf(error);
  if (refused !== undefined) return refused;
  const remedy = error instanceof RpcError ? rpcRemedies.get(error.code) : remedyFor(error, message);
  const seen = failure.seen.filter((line) => line !== ""); // OpenSSL ends its messages with a line feed.
  return new Failure(message, { exitCode, seen, remedy, cause: error });
}

function remedyFor(error: unknown, message: string): string | undefined {
  // A challenge that is cut is long, as one with metadata is.
  if (/invalid_token/.test(message) && /resource_metadata|…/.test(message))
    return "the server refuses the token: parlance doctor compares it with what the server expects";
  if (/invalid_token|the Authorization that was sent is not accepted/.test(message))
    return "the server refuses this key or token: is it the right one, and still valid?";
  if (/name it in allowed(?:Hosts|Origins)/.test(message))
    return "allowedHosts and allowedOrigins are options of the server";
  const status =
    statusOf(error) ??
    Number(/WebSocket could not be opened: the server responded with status (\d{3})/.exec(message)?.[1]);
  return (
    statusRemedy(status) ??
    remedyForWords(message) ??
    (error instanceof LocalError ? reasonRemedies[error.reason] : undefined)
  );
}

/** The innermost cause of an error, because the message of `fetch` gives no reason. */
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

const anotherPath = "the endpoint of an MCP server is often /mcp, or /sse on old servers";

/** How to authenticate where users do not sign in. */
export const keyRemedy =
  "authenticate: --bearer-env TOKEN sends the key or token in that variable, --header-env x-api-key=KEY one in a header of its own";

const remedies: ReadonlyMap<number, string> = new Map([
  [401, keyRemedy],
  [403, "the token has no permission for this, or the server refuses this Host or Origin"],
  [404, `nothing is at this path: ${anotherPath}`],
  [405, `this path takes no POST: ${anotherPath}`],
  [426, "the server requires a WebSocket: write ws:// or wss://"],
  [429, "too many requests: wait, then try again"],
]);

/** The remedies for error codes that are not the fault of the call. */
const rpcRemedies: ReadonlyMap<number, string> = new Map([
  [codes.forbidden, "the key or token does not have these scopes: use one that has them"],
]);

/** The remedy for an HTTP status. */
export function statusRemedy(status: number): string | undefined {
  return remedies.get(status) ?? (status >= 500 ? "the server failed: look in its log" : undefined);
}

/** Messages of Node, OpenSSL and undici, and their remedies. */
const signs: readonly { readonly seen: RegExp; readonly remedy: string }[] = [
  { seen: /ECONNREFUSED/, remedy: "nothing listens there: is the server started, and is this its port?" },
  { seen: /ENOTFOUND|EAI_AGAIN/, remedy: "no such host name: check its spelling and the network" },
  {
    seen: /wrong version number|packet length too long/,
    remedy: "the server does not use TLS: write http:// or ws://",
  },
  {
    seen: /certificate|altnames/,
    remedy: "its certificate is not trusted: NODE_EXTRA_CA_CERTS=ca.pem parlance … adds the certificate authority",
  },
  {
    seen: /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|Connect Timeout/,
    remedy: "the address cannot be reached: check it, and the network",
  },
  { seen: /ECONNRESET|other side closed|hang up/, remedy: "is it the right port, and does it need https://?" },
  {
    seen: /ended without a JSON-RPC response; before that, .*must be JSON/,
    remedy: "the response is cut off: does its Content-Length count characters? It must count bytes",
  },
  {
    seen: /ended without a JSON-RPC response; before that, .*jsonrpc must be "2\.0"/,
    remedy: `what answers there does not speak JSON-RPC: ${anotherPath}`,
  },
  { seen: /does not match the HTTP|Parse Error/, remedy: "the server does not use HTTP: is it the right port?" },
  { seen: /Content-Type "text\/html"/, remedy: `this is a web page, not an MCP server: ${anotherPath}` },
  {
    seen: /WebSocket could not be opened: the server responded with/,
    remedy: "the server opens no WebSocket: does it use http:// or https://?",
  },
  { seen: /bad port/, remedy: "fetch refuses this port: let the server listen on another one" },
];

const reasonRemedies: Readonly<Partial<Record<LocalError["reason"], string>>> = {
  closed: "the server ended the conversation: look in its log",
  timeout: "the server accepted the request and does not respond: look in its log; --timeout 2m waits longer",
};

/** The name of an environment variable, with an underscore. Codes of Node begin with ERR_. */
const variableName = /\b(?!ERR_)[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/;

/** Matches messages about something missing. */
const missing =
  /missing|required|requires|not set|unset|must be set|must set|please set|not defined|undefined|not found|not provided|must provide|please provide|not configured|KeyError/i;

/** The remedy if stderr names a missing variable that is not set here either. */
export function missingVariableRemedy(stderr: readonly string[]): string | undefined {
  const names = stderr.flatMap((line) => (missing.test(line) ? (variableName.exec(line) ?? []) : []));
  const name = names.find((each) => process.env[each] === undefined);
  if (name === undefined) return undefined;
  return `the server needs the variable ${name}: --env ${name}=<value> gives it; in the configuration of a host, set it under "env"`;
}
