/** The value of a parameter of a challenge (RFC 9110 §11.2); undefined without a challenge or without the parameter. */
export function challengeParameter({ headers }: { readonly headers: Headers }, name: string): string | undefined {
  const challenge = headers.get("www-authenticate") ?? "";
  const [, quoted, token] = new RegExp(`\\b${name}\\s*=\\s*(?:"([^"]*)"|([^\\s",]+))`, "i").exec(challenge) ?? [];
  return quoted ?? token;
}

/** Whether a challenge is that of an OAuth resource server. */
export function isOauthChallenge({ headers }: { readonly headers: Headers }): boolean {
  return /\b(?:bearer|dpop)\b/i.test(headers.get("www-authenticate") ?? "");
}

/**
 * The URLs of the Protected Resource Metadata of a server: the one that its challenge names, and those of RFC 9728 §3.1, below the
 * path of the server and at the root.
 */
export function metadataPlaces(url: URL, challenged: { readonly headers: Headers }): readonly URL[] {
  const address = challengeParameter(challenged, "resource_metadata");
  const named = address !== undefined && URL.canParse(address, url) ? [new URL(address, url)] : [];
  const root = `${url.origin}/.well-known/oauth-protected-resource`;
  const all = [...named, new URL(root + url.pathname.replace(/\/$/, "")), new URL(root)];
  return [...new Map(all.map((place) => [place.href, place])).values()];
}

/** Whether a resource identifier covers a server: it is its URL, or a prefix that ends before a slash. */
export function covers(resource: string, { origin, pathname }: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const named = new URL(resource);
  return (
    named.origin === origin &&
    `${pathname}/`.startsWith(named.pathname.endsWith("/") ? named.pathname : `${named.pathname}/`)
  );
}

/** Descriptions of invalid tokens, with the tokens. No authorization server has issued them. */
export const badTokens: Readonly<Record<string, string>> = {
  "of arbitrary text": "parlance-doctor",
  // {"alg":"none"}.{"aud":"https://other.example","sub":"parlance-doctor"}
  "for another audience, without a signature":
    "eyJhbGciOiJub25lIn0.eyJhdWQiOiJodHRwczovL290aGVyLmV4YW1wbGUiLCJzdWIiOiJwYXJsYW5jZS1kb2N0b3IifQ.",
};
