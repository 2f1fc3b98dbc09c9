import { type LocalError, RpcError } from "../../jsonrpc/errors.js";
import { defaultTimeouts } from "../../jsonrpc/outgoing-call.js";
import { closedOnFailure, requireWanted } from "../../lifecycle/closed-on-failure.js";
import { allowHandshake, insist } from "../../lifecycle/insist.js";
import { type OpenOptions, openOnChannel } from "../../lifecycle/open.js";
import type { CarriedConversation } from "../../lifecycle/opened.js";
import { type NotStateless, probe, type Verdict, verdictOf } from "../../lifecycle/probe.js";
import { openStateless } from "../../lifecycle/stateless-client.js";
import { specCodes } from "../../protocol/errors.js";
import { latest } from "../../revisions/all.js";
import { statusOf } from "./http-error.js";
import { type HttpClientOptions, HttpTarget } from "./http-target.js";
import { HttpRemote } from "./remote.js";
import { RemoteLegacySse } from "./remote-legacy-sse.js";
import { RemoteSession } from "./remote-session.js";

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
  const { revision, era = revision?.era, prior } = options;
  if (era === "handshake") return openWithHandshake(target, options);
  if (era === undefined && prior?.era === "handshake") return openAsBefore(target, options);
  return (await openWithoutSession(target, options)) ?? openWithHandshake(target, options);
}

/** A server that takes no handshake any more has changed since, and is asked. */
async function openAsBefore(target: HttpTarget, options: OpenOptions): Promise<CarriedConversation> {
  try {
    return await openWithHandshake(target, options);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const opened = await openWithoutSession(target, options);
    if (opened === undefined) throw error;
    return opened;
  }
}

/**
 * Opens a session, or what the first revision has instead where that is refused.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility
 */
async function openWithHandshake(target: HttpTarget, options: OpenOptions): Promise<CarriedConversation> {
  const how: OpenOptions = { ...options, era: "handshake" };
  try {
    return await openOnChannel(() => new RemoteSession(target, options), how);
  } catch (error) {
    const status = statusOf(error);
    const mayBeOlder = (status === 400 || status === 404 || status === 405) && !isOfStatelessEra(error);
    if (!mayBeOlder) throw error;
    try {
      return await openOnChannel(() => new RemoteLegacySse(target, options), how);
    } catch (older) {
      // A server without such a stream has said the first time what it does not like.
      throw statusOf(older) === undefined ? older : error;
    }
  }
}

/** Whether the server has answered, and does not want what it was asked. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status === undefined ? error instanceof RpcError : refusesRequest(status);
}

/** Not so where the server fails, sends its clients elsewhere, or lets nobody in whom it does not know. */
function refusesRequest(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 403;
}

const statelessCodes: ReadonlySet<number> = new Set([
  specCodes.headerMismatch,
  specCodes.missingRequiredClientCapability,
  specCodes.unsupportedProtocolVersion,
]);

function isOfStatelessEra(error: unknown): boolean {
  return error instanceof RpcError && statelessCodes.has(error.code);
}

async function openWithoutSession(target: HttpTarget, options: OpenOptions): Promise<CarriedConversation | undefined> {
  const { identity, revision } = options;
  const remote = new HttpRemote(target, options);
  return closedOnFailure(remote, options.signal, opening());

  async function opening(): Promise<CarriedConversation | undefined> {
    const verdict = await ask(remote, options);
    if (verdict.era === "handshake") {
      requireEvidence(verdict);
      allowHandshake(options, verdict);
      await remote.close();
      return undefined;
    }
    insist(revision, verdict.revision);
    const opened = openStateless(remote, identity, verdict.revision, verdict.discovered);
    return { ...opened, connection: remote, over: remote.over, close: () => remote.close() };
  }
}

async function ask(remote: HttpRemote, { identity, revision = latest, ...options }: OpenOptions): Promise<Verdict> {
  const { prior, timeout = defaultTimeouts.idle, probeTimeout = timeout } = options;
  if (prior?.era === "stateless" && prior.discovered !== undefined) return verdictOf(prior.discovered, revision);
  return probe(remote, identity, revision, { timeout: probeTimeout });
}

/**
 * A server that cannot be reached says nothing of what it speaks; nor does silence, because every server of HTTP answers.
 * @throws the error that says so
 */
function requireEvidence({ answered, why }: NotStateless): void {
  const status = statusOf(why);
  if (!answered || !(status === undefined || refusesRequest(status))) throw told(why);
  const { cause } = why;
  // It has understood the question, and something between here and there has lost a header.
  if (status === 400 && cause instanceof RpcError && cause.code === specCodes.headerMismatch) throw cause;
}

/** What the server itself has said, where it has. */
function told(why: LocalError): Error {
  return why.cause instanceof RpcError ? why.cause : why;
}
