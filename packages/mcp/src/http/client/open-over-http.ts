import { type ClientSession, requireNotAborted, statelessSession } from "../../client/session/client-session.js";
import {
  type NotStateless,
  type ProbeResult,
  probe,
  probeResult,
  requireHandshakeAllowed,
  requireRevision,
} from "../../client/session/negotiate.js";
import { closedOnFailure, type OpenOptions, openOnChannel } from "../../client/session/open-session.js";
import { defaultTimeouts } from "../../jsonrpc/calls/outgoing-call.js";
import { RpcError } from "../../jsonrpc/errors.js";
import { specCodes } from "../../protocol/errors.js";
import { latest } from "../../protocol/revisions/all.js";
import { type HttpClientOptions, HttpTarget, statusOf } from "./http-target.js";
import { HttpRemote } from "./remote.js";
import { RemoteLegacySse } from "./remote-legacy-sse.js";
import { RemoteSession } from "./remote-session.js";

/**
 * Opens a session with an HTTP server, in the era that it supports.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 *
 * @throws as `openOnChannel`; LocalError as `HttpRemote.call` if the server gives no indication of its era
 */
export async function openOverHttp(url: URL, http: HttpClientOptions, options: OpenOptions): Promise<ClientSession> {
  requireNotAborted("connect", options.signal);
  const target = new HttpTarget(url, http);
  const { revision, era = revision?.era, serverHint } = options;
  if (era === "handshake") return openWithHandshake(target, options);
  if (era === undefined && serverHint?.era === "handshake") return openAsBefore(target, options);
  return (await openWithoutSession(target, options)) ?? openWithHandshake(target, options);
}

/** Tries the era of the previous session. If the server no longer accepts it, probes again. */
async function openAsBefore(target: HttpTarget, options: OpenOptions): Promise<ClientSession> {
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
 * Opens a Streamable HTTP session; if the server rejects that, HTTP+SSE of the first revision.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility
 */
async function openWithHandshake(target: HttpTarget, options: OpenOptions): Promise<ClientSession> {
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
      // If the server has no such stream either, the first error is the relevant one.
      throw statusOf(older) === undefined ? older : error;
    }
  }
}

/** Whether the server responded and rejected the request. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status === undefined ? error instanceof RpcError : refusesRequest(status);
}

/** Statuses that reject the request itself. Server failures, redirects and missing authorization do not. */
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

async function openWithoutSession(target: HttpTarget, options: OpenOptions): Promise<ClientSession | undefined> {
  const { identity, revision } = options;
  const remote = new HttpRemote(target, options);
  return closedOnFailure(remote, options.signal, opening());

  async function opening(): Promise<ClientSession | undefined> {
    const probed = await probeOverHttp(remote, options);
    if (probed.era === "handshake") {
      requireEvidence(probed);
      requireHandshakeAllowed(options, probed);
      await remote.close();
      return undefined;
    }
    requireRevision(revision, probed.revision);
    const transport = { connection: remote, ended: remote.ended, close: () => remote.close() };
    return statelessSession(transport, identity, probed.revision, probed.discovered);
  }
}

async function probeOverHttp(
  remote: HttpRemote,
  { identity, revision = latest, ...options }: OpenOptions,
): Promise<ProbeResult> {
  const { serverHint, timeout = defaultTimeouts.idle, probeTimeout = timeout } = options;
  if (serverHint?.era === "stateless" && serverHint.discovered !== undefined)
    return probeResult(serverHint.discovered, revision);
  return probe(remote, identity, revision, { timeout: probeTimeout });
}

/**
 * Requires evidence of the era. A missing response is no evidence, because every HTTP server responds.
 * @throws the error of the probe
 */
function requireEvidence({ answered, why }: NotStateless): void {
  const status = statusOf(why);
  if (!answered || !(status === undefined || refusesRequest(status)))
    throw why.cause instanceof RpcError ? why.cause : why; // Prefer the error of the server.
  const { cause } = why;
  // The server is stateless, but an intermediary removed a header.
  if (status === 400 && cause instanceof RpcError && cause.code === specCodes.headerMismatch) throw cause;
}
