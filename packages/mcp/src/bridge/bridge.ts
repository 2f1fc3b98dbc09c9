import { systemClock } from "../base/clock.js";
import { onAbort } from "../jsonrpc/abort-listeners.js";
import type { Closed } from "../jsonrpc/connection.js";
import { codes, LocalError, RpcError } from "../jsonrpc/errors.js";
import { termsOf } from "../jsonrpc/terms.js";
import type { Opening, OpenOptions } from "../lifecycle/open.js";
import type { Newcomer, OpenConversation, Served } from "../lifecycle/served.js";
import { canonical } from "../lifecycle/state-seal.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { Implementation } from "../protocol/implementation.js";
import { revisionOf, versions } from "../revisions/all.js";
import { BridgedServer, type CallingEnd, noChanges } from "./bridged-server.js";
import { unanswered } from "./crossing.js";
import { FarEnd, type FarEndHost } from "./far-end.js";
import { HeldCalls } from "./held-calls.js";
import { NearCalls } from "./near-calls.js";
import { NearConversation } from "./near-conversation.js";
import { SharedEnds } from "./shared-ends.js";

/** What can be set about a bridge. */
export interface BridgeOptions
  extends Omit<OpenOptions, "identity" | "revision" | "signal" | "onNotification" | "exactNumbers"> {
  /** What the bridge says of itself where a side says nothing of itself. Default: this library. */
  readonly info?: Implementation;
  /** A protocol revision to insist on at the far end. Default: one of the near end's era, or else the newest. */
  readonly revision?: string;
  /** Whether a far end is opened again when its carrier has broken. Default: true for a URL, false for anything else. */
  readonly reopen?: boolean;
  /** Far ends that may be there at the same time, and those of one principal. Default: 256 and 32. */
  readonly max?: number;
  readonly maxPerPrincipal?: number;
  /** Milliseconds until a far end of the stateless era that nobody uses is closed. Default: 300,000. */
  readonly idleTtl?: number;
  /**
   * Whether a near client is told what the carrier or the process of the far end has said of its end: for a near end that is
   * nobody else than whoever runs the bridge. Default: false, it is only reported.
   */
  readonly candid?: boolean;
  /** Told of a far end that could not be opened, or has gone by itself. Must not throw. Default: it is reported. */
  readonly onLost?: (error: unknown) => void;
}

const defaults = { max: 256, maxPerPrincipal: 32, idleTtl: 300_000 } as const;

/** A server that is another one, somewhere else. It is served like any server, and owns its far ends. */
export interface Bridge extends Served, AsyncDisposable {
  /** Ends all far ends; resolves when they are gone. */
  close(): Promise<void>;
}

/** Makes a bridge. @throws RangeError for a revision that does not exist */
export function bridgeOver(open: Opening, isLasting: boolean, options: BridgeOptions = {}): Bridge {
  return new OpenBridge(open, isLasting, options);
}

class OpenBridge implements Bridge {
  readonly info: Implementation;
  readonly instructions = undefined;
  readonly exactNumbers = true;
  readonly changes = noChanges;
  readonly stateSeal = undefined;
  readonly #host: FarEndHost;
  readonly #options: BridgeOptions;
  readonly #held: HeldCalls;
  readonly #shared: SharedEnds;
  readonly #closing = new AbortController();
  /** All that are there or are being opened, and whose they are. */
  readonly #ends = new Map<Promise<FarEnd>, string | undefined>();

  constructor(open: Opening, isLasting: boolean, options: BridgeOptions) {
    const {
      info = thisLibrary,
      revision,
      reopen = isLasting,
      candid = false,
      idleTtl,
      onLost,
      max,
      maxPerPrincipal,
      ...rest
    } = options;
    const { clock = systemClock } = options;
    const insisted = revision === undefined ? {} : { revision: knownRevision(revision) };
    this.info = info;
    this.#options = options;
    const { report } = termsOf(options);
    this.#host = { open, reopen, options: { ...rest, ...insisted }, info, isCandid: candid, clock, report };
    this.#held = new HeldCalls(clock);
    this.#shared = new SharedEnds(clock, idleTtl ?? defaults.idleTtl);
  }

  capabilities(): ServerCapabilities {
    return {};
  }

  knows(): boolean {
    return true;
  }

  mirroredParams(): readonly [] {
    return [];
  }

  /** Whoever is met is served by a far end. */
  run(method: string): never {
    throw new Error(`${method}: a bridge serves nobody whom it has not met`);
  }

  async meet(newcomer: Newcomer): Promise<Served> {
    const { conversation } = newcomer;
    return conversation === undefined ? this.#sharedEnd(newcomer) : this.#ownEnd(newcomer, conversation);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#held.close();
    this.#shared.close();
    await Promise.all([...this.#ends.keys()].map((end) => closed(end)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** One far end per conversation: it begins and ends with it. */
  async #ownEnd(newcomer: Newcomer, conversation: OpenConversation): Promise<Served> {
    const near = new NearConversation(newcomer, conversation, this.#host.report);
    const { ended } = conversation;
    const far = await this.#open(near, newcomer.principal, ended);
    onAbort(ended, () => void far.close());
    if (ended.aborted) void far.close();
    void far.closed.then(() => conversation.close());
    return new BridgedServer(near, far, this.#host);
  }

  /** One far end for all calls of a principal that declare the same. */
  #sharedEnd(newcomer: Newcomer): Promise<Served> {
    const { principal, info, capabilities, revision } = newcomer;
    const name = canonical([principal ?? null, info, capabilities, revision.version]);
    return this.#shared.find(name, async () => {
      const near = new NearCalls(newcomer, this.#held);
      const far = await this.#open(near, principal, this.#closing.signal);
      return { server: new BridgedServer(near, far, this.#host), far, isBusy: () => far.isBusy || near.isBusy };
    });
  }

  /** @throws RpcError where there are too many, or there is none */
  async #open(near: CallingEnd, principal: string | undefined, unwanted: AbortSignal): Promise<FarEnd> {
    this.#requireRoom(principal);
    const stop = AbortSignal.any([unwanted, this.#closing.signal]);
    const opening = FarEnd.open(this.#host, near, stop);
    this.#ends.set(opening, principal);
    try {
      const far = await opening;
      void far.closed.then((how) => this.#gone(opening, how));
      return far;
    } catch (error) {
      this.#ends.delete(opening);
      if (stop.aborted) throw error;
      this.#lost(error);
      throw error instanceof LocalError ? unanswered(error, this.#host.isCandid) : error;
    }
  }

  #gone(opening: Promise<FarEnd>, { reason, error }: Closed): void {
    this.#ends.delete(opening);
    if (reason !== "closed") this.#lost(error ?? new LocalError("closed", "the server has closed the connection"));
  }

  #lost(error: unknown): void {
    const { onLost } = this.#options;
    if (onLost === undefined) this.#host.report({ kind: "fault", method: "bridge", error });
    else onLost(error);
  }

  #requireRoom(principal: string | undefined): void {
    const { max = defaults.max, maxPerPrincipal = defaults.maxPerPrincipal } = this.#options;
    const own = [...this.#ends.values()].filter((each) => each === principal).length;
    if (this.#closing.signal.aborted) throw refused("the bridge is closed");
    if (this.#ends.size >= max) throw refused(`all ${max} far ends of this bridge are taken: try again later`);
    if (principal !== undefined && own >= maxPerPrincipal)
      throw refused(`this caller has ${maxPerPrincipal} far ends already: end a session`);
  }
}

function refused(reason: string): RpcError {
  return new RpcError(codes.tooManyRequests, "Too many requests", { reason });
}

async function closed(opening: Promise<FarEnd>): Promise<void> {
  try {
    await (await opening).close();
  } catch {
    // It was never open, and whoever wanted it knows.
  }
}

function knownRevision(version: string): NonNullable<ReturnType<typeof revisionOf>> {
  const revision = revisionOf(version);
  if (revision !== undefined) return revision;
  throw new RangeError(`There is no protocol revision ${JSON.stringify(version)}: one of ${versions.join(", ")} is`);
}

const thisLibrary: Implementation = { name: "parlance", version: "0.1.0" };
