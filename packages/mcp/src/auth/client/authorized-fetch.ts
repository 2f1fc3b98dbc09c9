import type { Fetch, HttpAuthorization } from "../../http/client/http-target.js";
import { whenAborted } from "../../jsonrpc/abort-listeners.js";
import { causeText, LocalError } from "../../jsonrpc/errors.js";
import { requireSecureUrl } from "../server/protected.js";
import { AccessTokens, hasScopes, type Obtained, type Tokens } from "./access-tokens.js";
import { fetchWithProof, type TokenKey } from "./bound-tokens.js";
import { type Challenge, challengeOf } from "./challenge.js";
import type { GrantSettings, TokenOptions } from "./grant.js";
import { SignInError } from "./sign-in-error.js";
import { memoryTokenStore, namedTokenStore } from "./token-store.js";

/** The times that one request may lead to an authorization, the first included. */
const maxAuthorizations = 3;

/**
 * Sends requests with an access token, and obtains one when the server requires it: with 401, or with 403 for missing scopes.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization#scope-challenge-handling
 */
export function authorizedFetch(options: TokenOptions, how: GrantSettings): HttpAuthorization {
  const settings = { ...options, store: namedTokenStore(options.store ?? memoryTokenStore()) };
  const accesses = new Map<string, AccessTokens>();
  return (fetch, server, waits) => {
    requireSecureUrl("auth: the URL of the server", new URL(server.pathname + server.search, server).href);
    // Connections to one URL, at the same time or one after the other, share their tokens.
    const access = accesses.get(server.href) ?? new AccessTokens(server, settings, how);
    accesses.set(server.href, access);
    return async (url, init) => {
      // No other origin may get the token.
      if (url.origin !== server.origin) return fetch(url, init);
      let tokens = await access.current();
      let from: Obtained["from"] | undefined;
      for (let authorizations = 0; ; ) {
        const response = await send(fetch, url, init, tokens, access.key);
        const challenge = await challengeOf(response);
        if (challenge === undefined) return response;
        void response.body?.cancel().catch(() => undefined); // The headers have all that is needed.
        access.report("challenge", challengeText(challenge), { url: url.href, status: challenge.status });
        if (tokens !== undefined) requireHope(challenge, tokens, from === "grant", authorizations >= maxAuthorizations);
        const mayRefresh = from === undefined || from === "store";
        const renewal = access.renew(tokens, challenge, mayRefresh).catch(asLocalError);
        waits?.(renewal);
        ({ tokens, from } = await unlessAborted(renewal, init.signal));
        if (from === "grant") authorizations += 1;
      }
    };
  };
}

/** Errors of the token store, for instance: they do not mean that the server cannot be reached. */
function asLocalError(error: unknown): never {
  if (error instanceof LocalError) throw error;
  throw new LocalError("refused", `no access token: ${causeText(error)}`, { cause: error });
}

function send(
  fetch: Fetch,
  url: URL,
  init: RequestInit,
  tokens: Tokens | undefined,
  key: TokenKey | undefined,
): Promise<Response> {
  if (tokens === undefined) return fetch(url, init);
  if (tokens.tokenType === "DPoP" && key !== undefined)
    return fetchWithProof(fetch, url, init, tokens.accessToken, key);
  const headers = new Headers(init.headers);
  headers.set("authorization", `${tokens.tokenType} ${tokens.accessToken}`);
  return fetch(url, { ...init, headers });
}

/** @throws SignInError if another token would not help */
function requireHope(challenge: Challenge, tokens: Tokens, isFresh: boolean, isLast: boolean): void {
  const { status, scopes = [] } = challenge;
  if (status === 401 && (isFresh || isLast)) {
    throw new SignInError({
      kind: "token-refused",
      step: "challenge",
      received: challengeText(challenge),
      expected: "a response: the access token was just issued for this server",
      remedy:
        "the server and its authorization server disagree, for instance about the audience; the operator has to look into it",
    });
  }
  if (status === 403 && (isLast || hasScopes(tokens, challenge))) {
    throw new SignInError({
      kind: "scope",
      step: "step-up",
      received: challengeText(challenge),
      expected: `a response: the token has the scopes ${tokens.scopes.join(" ") || "that were asked for"}`,
      remedy: `ask the operator of the server for access${scopes.length === 0 ? "" : ` with ${scopes.join(" ")}`}`,
    });
  }
}

function challengeText({ status, error, description, scopes }: Challenge): string {
  const details = [error, description, scopes === undefined ? undefined : `scope ${scopes.join(" ")}`];
  const said = details.filter((each) => each !== undefined).join(", ");
  return said === "" ? String(status) : `${status} (${said})`;
}

/** Waits for a sign-in unless the call is cancelled; the sign-in continues for other calls. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (signal === null || signal === undefined) return promise;
  let forget = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    forget = whenAborted(signal, () => reject(signal.reason as Error));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    forget();
  }
}
