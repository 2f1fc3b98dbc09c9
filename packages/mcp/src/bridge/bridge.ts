import type { MembersOf } from "../base/check-members.js";
import {
  type OpenOptions,
  openMembers,
  randomOf,
  type SessionOpener,
  thisLibrary,
} from "../client/session/open-session.js";
import { whenAborted } from "../jsonrpc/abort-listeners.js";
import type { Closed } from "../jsonrpc/connection.js";
import { codes, LocalError, RpcError } from "../jsonrpc/errors.js";
import { guarded } from "../jsonrpc/hooks.js";
import { peerSettings } from "../jsonrpc/peer-settings.js";
import { implementationMembers } from "../protocol/member-tables.js";
import { knownRevision } from "../protocol/revisions/all.js";
import type { Implementation } from "../protocol/types/implementation.js";
import { canonical } from "../server/input/request-state.js";
import type { ClientHello, Servable, ServedSession } from "../server/servable.js";
import { DownstreamCalls } from "./downstream-calls.js";
import { DownstreamSession } from "./downstream-session.js";
import { HeldCalls } from "./held-calls.js";
import { SharedUpstreams } from "./shared-upstreams.js";
import { translateError, translateServerCapabilities, withoutResponse } from "./translate.js";
import { type Downstream, Upstream, type UpstreamSettings } from "./upstream.js";

/** Options of a bridge. */
export interface BridgeOptions
  extends Omit<OpenOptions, "identity" | "revision" | "signal" | "onNotification" | "exactNumbers"> {
  /** The bridge's name and version, used for a side that does not declare its own. Default: this library. */
  readonly info?: Implementation;
  /** The required protocol revision upstream. Default: prefer one of the downstream client's era, else the newest. */
  readonly revision?: string;
  /** Whether to reconnect upstream when the connection breaks. Default: true for a URL, false otherwise. */
  readonly reopen?: boolean;
  /** The maximum number of upstream sessions, in total and per principal. Defaults: 256 and 32. */
  readonly max?: number;
  /** The maximum number of upstream sessions of one principal. Default: 32. */
  readonly maxPerPrincipal?: number;
  /** The maximum number of upstream sessions for anonymous callers of one network address. Default: 32. */
  readonly maxPerAddress?: number;
  /**
   * The maximum number of upstream sessions for stateless clients of one principal or network address that declare
   * different client infos or capabilities. Further clients share one session per revision, without client info and
   * capabilities. Declarations cost a client nothing, while each session may be a process. Default: 8.
   */
  readonly maxClients?: number;
  /** Milliseconds until an unused upstream session for stateless clients is closed. Default: 300,000. */
  readonly idleTtl?: number;
  /**
   * Whether downstream clients see transport and process errors of the upstream server. Enable it only if the client
   * belongs to the operator of the bridge. Default: false; these errors are only reported.
   */
  readonly candid?: boolean;
  /** Called when an upstream session cannot be opened or ends unexpectedly. Default: the error is reported. */
  readonly onLost?: (error: unknown) => unknown;
}

const { revision: _, signal, onNotification, exactNumbers, ...upstreamMembers } = openMembers;

/** The members of `BridgeOptions`, to detect unknown options. */
export const bridgeMembers: MembersOf<BridgeOptions> = {
  ...upstreamMembers,
  info: implementationMembers,
  revision: ["string", "protocolVersion", "version", "versions"],
  reopen: ["boolean", "reconnect"],
  max: ["number"],
  maxPerPrincipal: ["number"],
  maxPerAddress: ["number"],
  maxClients: ["number"],
  idleTtl: ["number"],
  candid: ["boolean"],
  onLost: ["function"],
};

/** A server that forwards to an upstream server. It is served like any other server, and owns its upstream sessions. */
export interface Bridge extends Servable, AsyncDisposable {
  /** Closes all upstream sessions; resolves when they are closed. */
  close(): Promise<void>;
}

/** Members that the bridge shares with the servers of its clients. */
const forwarding: Omit<Servable, "info" | "run"> = {
  instructions: undefined,
  exactNumbers: true,
  /** Change notifications are forwarded from upstream, so the bridge has no changes of its own. */
  changes: { size: 0, listen: () => () => undefined },
  /** The upstream server seals its own state; the bridge keeps held calls in memory. */
  stateSeal: undefined,
  capabilities: () => ({}),
  /** The upstream server itself rejects unknown methods. */
  hasMethod: () => true,
  /** The upstream transport mirrors params into headers; the bridge does not check those of its clients. */
  mirroredParams: () => [],
};

/**
 * Creates a bridge.
 * @throws RangeError for an unknown revision
 */
export function bridgeOver(open: SessionOpener, isLongLived: boolean, options: BridgeOptions = {}): Bridge {
  const upstreams = new Upstreams(open, isLongLived, options);
  const close = (): Promise<void> => upstreams.close();
  return {
    ...forwarding,
    info: options.info ?? thisLibrary,
    /** Never called: each client is served by the server for its upstream session. */
    run(method) {
      throw new Error(`${method}: a bridge cannot be called directly`);
    },
    serverFor: (hello) => upstreams.serverFor(hello),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The upstream server as served to one downstream client. */
function bridgedServer(
  downstream: Downstream,
  upstream: Upstream,
  { info, report, isCandid }: UpstreamSettings,
): Servable {
  const { session } = upstream;
  return {
    ...forwarding,
    info: session.server.info ?? info,
    get instructions() {
      return session.server.instructions;
    },
    capabilities: () => translateServerCapabilities(session.server, session.revision, downstream.client.revision),
    onNotification: (method, params) => downstream.onNotification?.(method, params, upstream),
    async run(method, params, operation) {
      try {
        return await downstream.call(method, { operation, params }, upstream);
      } catch (thrown) {
        // If the client responded to an input request with an error, the call fails with that error.
        const isRefusal = thrown instanceof LocalError && thrown.cause instanceof RpcError;
        const error = isRefusal ? thrown.cause : thrown;
        if (error instanceof RpcError) throw translateError(error, method, params, operation.revision);
        if (!(error instanceof LocalError) || operation.signal.aborted) throw error;
        report({ kind: "fault", method, error });
        throw withoutResponse(error, isCandid);
      }
    },
  };
}

/** The upstream sessions of a bridge. */
class Upstreams {
  readonly #settings: UpstreamSettings;
  readonly #onLost: BridgeOptions["onLost"];
  readonly #limits: Required<Pick<BridgeOptions, "max" | "maxPerPrincipal" | "maxPerAddress" | "maxClients">>;
  readonly #held: HeldCalls;
  readonly #shared: SharedUpstreams;
  readonly #closing = new AbortController();
  /** All upstream sessions that are open or opening, with the client of each. */
  readonly #upstreams = new Map<Promise<Upstream>, ClientHello>();

  constructor(open: SessionOpener, isLongLived: boolean, options: BridgeOptions) {
    const {
      info = thisLibrary,
      revision,
      reopen = isLongLived,
      candid = false,
      idleTtl = 300_000,
      onLost,
      max = 256,
      maxPerPrincipal = 32,
      maxPerAddress = 32,
      maxClients = 8,
      ...rest
    } = options;
    const required = revision === undefined ? {} : { revision: knownRevision(revision) };
    this.#onLost = onLost;
    this.#limits = { max, maxPerPrincipal, maxPerAddress, maxClients };
    const { report, clock } = peerSettings(options);
    this.#settings = {
      open,
      reopen,
      options: { ...rest, ...required, random: randomOf(options) },
      info,
      isCandid: candid,
      clock,
      report,
    };
    this.#held = new HeldCalls(clock);
    this.#shared = new SharedUpstreams(clock, idleTtl);
  }

  async serverFor(hello: ClientHello): Promise<Servable> {
    const { session } = hello;
    return session === undefined ? this.#openShared(hello) : this.#openOwn(hello, session);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#held.close();
    this.#shared.close();
    const closing = [...this.#upstreams.keys()].map((opening) => opening.then(({ session }) => session.close()));
    await Promise.allSettled(closing); // Opening may fail: the caller of `#open` gets the error.
  }

  /** Opens an upstream session for one handshake client. Both end together. */
  async #openOwn(hello: ClientHello, session: ServedSession): Promise<Servable> {
    const downstream = new DownstreamSession(hello, session, this.#settings.report);
    const { ended } = session;
    const upstream = await this.#open(downstream, ended);
    whenAborted(ended, () => void upstream.session.close());
    void upstream.session.closed.then(() => session.close());
    return bridgedServer(downstream, upstream, this.#settings);
  }

  /**
   * The upstream session shared by all stateless calls of a principal with the same declarations. Beyond `maxClients`
   * different declarations, one without any.
   */
  #openShared(hello: ClientHello): Promise<Servable> {
    const { principal, info, capabilities, revision } = hello;
    const peer = peerOf(hello);
    const name = canonical([principal ?? null, info, capabilities, revision.version]);
    const isKnown = peer === undefined || this.#shared.has(name);
    const shared = this.#clientsOf(peer).filter(({ session }) => session === undefined);
    if (isKnown || shared.length < this.#limits.maxClients) return this.#shareAs(name, hello);
    const unnamed: ClientHello = { ...hello, info: undefined, capabilities: {} };
    return this.#shareAs(canonical([peer ?? null, revision.version]), unnamed);
  }

  #shareAs(name: string, hello: ClientHello): Promise<Servable> {
    return this.#shared.find(name, async () => {
      const downstream = new DownstreamCalls(hello, this.#held);
      const upstream = await this.#open(downstream, this.#closing.signal);
      return { server: bridgedServer(downstream, upstream, this.#settings), upstream, downstream };
    });
  }

  /** @throws RpcError if a limit is reached, or the upstream server cannot be reached */
  async #open(downstream: Downstream, ended: AbortSignal): Promise<Upstream> {
    this.#requireRoom(downstream.client);
    const stop = AbortSignal.any([ended, this.#closing.signal]);
    const opening = Upstream.open(this.#settings, downstream, stop);
    this.#upstreams.set(opening, downstream.client);
    try {
      const upstream = await opening;
      void upstream.session.closed.then((how) => this.#onClosed(opening, how));
      return upstream;
    } catch (error) {
      this.#upstreams.delete(opening);
      if (stop.aborted) throw error;
      this.#reportLost(error);
      throw error instanceof LocalError ? withoutResponse(error, this.#settings.isCandid) : error;
    }
  }

  #onClosed(opening: Promise<Upstream>, { reason, error }: Closed): void {
    this.#upstreams.delete(opening);
    if (reason !== "closed")
      this.#reportLost(error ?? new LocalError("closed", "the server has closed the connection"));
  }

  #reportLost(error: unknown): void {
    const onLost = this.#onLost;
    if (onLost === undefined) this.#settings.report({ kind: "fault", method: "bridge", error });
    else guarded("onLost", () => onLost(error), this.#settings.report);
  }

  /** The clients of a peer, one for each of its upstream sessions. */
  #clientsOf(peer: string | undefined): readonly ClientHello[] {
    return [...this.#upstreams.values()].filter((client) => peerOf(client) === peer);
  }

  #requireRoom(client: ClientHello): void {
    const { max, maxPerPrincipal, maxPerAddress } = this.#limits;
    const peer = peerOf(client);
    const most = client.principal === undefined ? maxPerAddress : maxPerPrincipal;
    if (this.#closing.signal.aborted) throw refused("the bridge is closed");
    if (this.#upstreams.size >= max)
      throw refused(`all ${max} upstream sessions of this bridge are in use: try again later`);
    if (peer !== undefined && this.#clientsOf(peer).length >= most)
      throw refused(`this caller has ${most} upstream sessions already: end one`);
  }
}

/** The key by which upstream sessions are counted. */
function peerOf({ peer, principal }: ClientHello): string | undefined {
  return peer ?? principal;
}

function refused(reason: string): RpcError {
  return new RpcError(codes.tooManyRequests, "Too many requests", { reason });
}
