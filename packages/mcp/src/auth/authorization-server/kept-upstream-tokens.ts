import type { TokenEndpointResponse } from "oauth4webapi";
import { systemClock } from "../../base/clock.js";
import { sleep } from "../../jsonrpc/sleep.js";
import { grantTtl } from "./grants.js";
import { randomSecret, type Secrets } from "./keys.js";
import type { AuthorizationStore } from "./state-store.js";

/** The tokens of one grant at the provider, as they are kept encrypted. */
export interface KeptTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
  /** The name of the tickets for the use of the refresh token. */
  readonly ticket: string;
}

/** Milliseconds that a process waits for another one that refreshes. The request of a refresh has five seconds. */
const defaultPatience = 10_000;

/** Milliseconds between two looks at the store: the first pause, and the longest. */
const pauses = { first: 20, longest: 500 };

/**
 * The tokens of a provider by grants. A refresh token may be usable only once, and its second use end the sign-in, so of all processes that
 * share the store one uses it: the one that takes its ticket out of the store. Others wait for the new tokens. A second ticket is for a
 * process that has waited for one which ended in its refresh.
 */
export class KeptUpstreamTokens {
  readonly #store: AuthorizationStore;
  readonly #secrets: Secrets;
  readonly #patience: number;
  /** The refreshes that run in this process. */
  readonly #refreshes = new Map<string, Promise<KeptTokens>>();

  /** @param patience milliseconds to wait for another process */
  constructor(store: AuthorizationStore, secrets: Secrets, patience: number = defaultPatience) {
    this.#store = store;
    this.#secrets = secrets;
    this.#patience = patience;
  }

  /** Keeps the tokens of a response. */
  async keep(grantId: string, granted: TokenEndpointResponse): Promise<KeptTokens> {
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = granted;
    const tokens: KeptTokens = {
      accessToken,
      ...(refreshToken === undefined ? {} : { refreshToken }),
      ...(seconds === undefined ? {} : { expiresAt: Date.now() + seconds * 1000 }),
      ticket: randomSecret(),
    };
    // The tickets first: a process that reads the tokens must find their tickets.
    if (refreshToken !== undefined) await this.#issue(tokens);
    const sealed = await this.#secrets.seal("upstream-tokens", { grantId, tokens });
    await this.#store.set(`upstream:${grantId}`, sealed, grantTtl);
    return tokens;
  }

  /** @throws Error for tokens that have expired or were taken */
  async get(grantId: string): Promise<KeptTokens> {
    const kept = await this.#find(grantId);
    if (kept === undefined)
      throw new Error("oauthProxy: the upstream tokens of the caller have expired: sign in again");
    return kept;
  }

  /**
   * The tokens, with an access token that can be used.
   * @throws Error as `get`; without a refresh token; what `refresh` rejects with
   */
  async refreshed(
    grantId: string,
    refresh: (refreshToken: string) => Promise<TokenEndpointResponse>,
  ): Promise<KeptTokens> {
    const kept = await this.get(grantId);
    if (isFresh(kept)) return kept;
    const running =
      this.#refreshes.get(grantId) ?? this.#refresh(grantId, refresh).finally(() => this.#refreshes.delete(grantId));
    this.#refreshes.set(grantId, running);
    return running;
  }

  /** Removes the tokens of a grant and returns them, after a refresh that runs: otherwise its tokens would be kept after this. */
  async take(grantId: string): Promise<KeptTokens | undefined> {
    await this.#refreshes.get(grantId)?.catch(() => undefined);
    for (let isMine = false; !isMine; ) {
      const kept = await this.#find(grantId);
      isMine = kept?.refreshToken === undefined || (await this.#turn(grantId, kept)) !== "other";
    }
    return this.#opened(grantId, await this.#store.take(`upstream:${grantId}`));
  }

  /** Reads the tokens again: those that led here may be older than a refresh that has ended, and their refresh token be used up. */
  async #refresh(
    grantId: string,
    refresh: (refreshToken: string) => Promise<TokenEndpointResponse>,
  ): Promise<KeptTokens> {
    const kept = await this.get(grantId);
    if (isFresh(kept)) return kept;
    const { refreshToken } = kept;
    if (refreshToken === undefined)
      throw new Error("oauthProxy: the upstream token has expired, and the provider gave no refresh token");
    const turn = await this.#turn(grantId, kept);
    if (turn === "other") return this.get(grantId);
    if (turn === "lost") throw new Error("oauthProxy: a refresh of the upstream token has not ended: sign in again");
    let granted: TokenEndpointResponse;
    try {
      granted = await refresh(refreshToken);
    } catch (error) {
      await this.#issue(kept).catch(() => undefined); // The first error is the one to know.
      throw error;
    }
    return this.keep(grantId, { refresh_token: refreshToken, ...granted });
  }

  /**
   * Waits until this process may use the refresh token of these tokens: `mine`. `other`: another process has used it, or removed the
   * tokens. `lost`: the processes that took its tickets have ended.
   */
  async #turn(grantId: string, { ticket }: KeptTokens): Promise<"mine" | "other" | "lost"> {
    const begun = systemClock.now();
    const { signal } = new AbortController();
    for (let pause = pauses.first; ; pause = Math.min(2 * pause, pauses.longest)) {
      const waited = systemClock.now() - begun;
      if ((await this.#store.take(`upstream-turn:${ticket}`)) !== undefined) return "mine";
      if ((await this.#find(grantId))?.ticket !== ticket) return "other";
      if (waited > this.#patience && (await this.#store.take(`upstream-spare:${ticket}`)) !== undefined) return "mine";
      if (waited > 2 * this.#patience) return "lost";
      await sleep(systemClock, pause, signal);
    }
  }

  async #issue({ ticket }: KeptTokens): Promise<void> {
    await this.#store.set(`upstream-spare:${ticket}`, "spare", grantTtl);
    await this.#store.set(`upstream-turn:${ticket}`, "turn", grantTtl);
  }

  async #find(grantId: string): Promise<KeptTokens | undefined> {
    return this.#opened(grantId, await this.#store.get(`upstream:${grantId}`));
  }

  /** Undefined for tokens of another grant: a store could be written to by others. */
  async #opened(grantId: string, sealed: string | undefined): Promise<KeptTokens | undefined> {
    const opened = sealed === undefined ? undefined : await this.#secrets.open("upstream-tokens", sealed);
    return opened?.grantId === grantId ? (opened.tokens as KeptTokens) : undefined; // Only `keep` seals this kind.
  }
}

/** Whether an access token can be used for another half a minute. */
function isFresh({ expiresAt = Number.POSITIVE_INFINITY }: KeptTokens): boolean {
  return expiresAt > Date.now() + 30_000;
}
