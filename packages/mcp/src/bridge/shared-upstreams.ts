import { type Clock, setBackgroundTimer, type Timer } from "../base/clock.js";
import type { Servable } from "../server/servable.js";
import type { DownstreamCalls } from "./downstream-calls.js";
import type { Upstream } from "./upstream.js";

/** An upstream session that several calls use. */
export interface SharedUpstream {
  readonly server: Servable;
  readonly upstream: Upstream;
  readonly downstream: DownstreamCalls;
}

interface Entry {
  readonly end: Promise<SharedUpstream>;
  usedAt: number;
}

/**
 * Upstream sessions for stateless clients, by key. Stateless clients do not announce their end, so sessions close after
 * a time without use.
 */
export class SharedUpstreams {
  readonly #clock: Clock;
  readonly #idleTtl: number;
  readonly #entries = new Map<string, Entry>();
  #timer: Timer | undefined;

  constructor(clock: Clock, idleTtl: number) {
    this.#clock = clock;
    this.#idleTtl = idleTtl;
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /**
   * Returns the session of a key, opening it if needed.
   * @throws as `open`
   */
  async find(name: string, open: () => Promise<SharedUpstream>): Promise<Servable> {
    const entry = this.#entries.get(name) ?? this.#add(name, open);
    entry.usedAt = this.#clock.now();
    const { server, upstream } = await entry.end;
    if (upstream.isUsable) return server;
    if (this.#entries.get(name) === entry) this.#entries.delete(name); // It closes by itself.
    return this.find(name, open);
  }

  close(): void {
    this.#entries.clear();
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  #add(name: string, open: () => Promise<SharedUpstream>): Entry {
    const entry: Entry = { end: open(), usedAt: 0 };
    const forget = (): void => {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    };
    this.#entries.set(name, entry);
    entry.end.then(({ upstream }) => upstream.session.closed.then(forget), forget);
    if (this.#timer === undefined) this.#watch();
    return entry;
  }

  #watch(): void {
    const sweep = (): void => {
      this.#timer = undefined;
      void this.#sweep();
    };
    this.#timer = setBackgroundTimer(this.#clock, sweep, this.#idleTtl);
  }

  async #sweep(): Promise<void> {
    const now = this.#clock.now();
    for (const [name, entry] of [...this.#entries]) {
      const end = await entry.end.catch(() => undefined); // The caller that opened it got the error.
      if (end === undefined || end.upstream.isBusy || end.downstream.isBusy) entry.usedAt = now;
      if (now - entry.usedAt < this.#idleTtl) continue;
      this.#entries.delete(name);
      void end?.upstream.session.close();
    }
    if (this.#entries.size > 0 && this.#timer === undefined) this.#watch();
  }
}
