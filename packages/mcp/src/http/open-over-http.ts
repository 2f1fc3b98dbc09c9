import { type LocalError, RpcError } from "../jsonrpc/errors.js";
import { defaultTimeouts } from "../jsonrpc/outgoing-call.js";
import { closedOnFailure, requireWanted } from "../lifecycle/closed-on-failure.js";
import { allowHandshake, insist } from "../lifecycle/insist.js";
import type { OpenOptions } from "../lifecycle/open.js";
import type { CarriedConversation } from "../lifecycle/opened.js";
import { type NotStateless, probe, type Verdict, verdictOf } from "../lifecycle/probe.js";
import { openStateless } from "../lifecycle/stateless-client.js";
import { specCodes } from "../protocol/errors.js";
import { latest } from "../revisions/all.js";
import { statusOf } from "./http-error.js";
import { type HttpClientOptions, HttpTarget } from "./http-target.js";
import { HttpRemote } from "./remote.js";

/**
 * Opens a conversation with a server on HTTP, in the era that it speaks.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 *
 * @throws as `openOnChannel`; LocalError as `HttpRemote.call` for a server that says nothing of what it speaks
 */
export async function openOverHttp(
  url: URL,
  http: HttpClientOptions,
  options: OpenOptions,
): Promise<CarriedConversation> {
  requireWanted(options.signal);
  const target = new HttpTarget(url, http);
  return openWithoutSession(target, options);
}

async function openWithoutSession(target: HttpTarget, options: OpenOptions): Promise<CarriedConversation> {
  const { identity, revision } = options;
  const remote = new HttpRemote(target, options);
  return closedOnFailure(remote, options.signal, opening());

  async function opening(): Promise<CarriedConversation> {
    const verdict = await ask(remote, options);
    if (verdict.era === "handshake") {
      requireEvidence(verdict);
      allowHandshake(options, verdict);
      throw verdict.why;
    }
    insist(revision, verdict.revision);
    const opened = openStateless(remote, identity, verdict.revision, verdict.discovered);
    return { ...opened, connection: remote, over: remote.over, close: () => remote.close() };
  }
}

async function ask(remote: HttpRemote, { identity, revision = latest, ...options }: OpenOptions): Promise<Verdict> {
  const { prior, timeout = defaultTimeouts.idle, probeTimeout = timeout } = options;
  if (prior?.era === "stateless" && prior.discovered !== undefined) return verdictOf(prior.discovered, revision);
  return probe(remote, identity, revision, probeTimeout);
}

/**
 * A server that cannot be reached, lets nobody in or fails says nothing of what it speaks; nor does silence, because every
 * server of HTTP answers.
 * @throws the error that says so
 */
function requireEvidence({ answered, why }: NotStateless): void {
  const status = statusOf(why);
  if (!answered || status === 401 || status === 403 || (status !== undefined && status >= 500)) throw told(why);
  const { cause } = why;
  // It has understood the question, and something between here and there has lost a header.
  if (status === 400 && cause instanceof RpcError && cause.code === specCodes.headerMismatch) throw cause;
}

/** What the server itself has said, where it has. */
function told(why: LocalError): Error {
  return why.cause instanceof RpcError ? why.cause : why;
}
