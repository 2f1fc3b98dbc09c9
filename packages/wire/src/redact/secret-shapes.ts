// The names and shapes of the secrets that are covered by default.

/** Names of members that hold secrets by default. A longer name that ends with one is secret too: `x-api-key`, `githubToken`. */
export const secretKeys: readonly string[] = [
  "password",
  "passwd",
  "passphrase",
  "secret",
  "clientSecret",
  "token",
  "accessToken",
  "refreshToken",
  "idToken",
  "authToken",
  "apiKey",
  "privateKey",
  "secretKey",
  "accessKey",
  "authorization",
  "credentials",
  "cookie",
  "bearer",
  "signingKey",
  "encryptionKey",
  "codeVerifier",
  "clientAssertion",
  "deviceCode",
  "idTokenHint",
];

/**
 * Parameters of OAuth whose names have other meanings elsewhere: an error of JSON-RPC has a `code`. They are secret only in URLs,
 * forms and JSON bodies of OAuth. A `code_challenge` may be the verifier itself (`plain`).
 */
export const oauthNames: ReadonlySet<string> = new Set(
  ["code", "state", "nonce", "assertion", "userCode", "codeChallenge", "requestUri"].map(plainName),
);

/** A JSON body of OAuth has at least one of these members. */
export const oauthMembers: ReadonlySet<string> = new Set(
  [
    "grant_type",
    "response_type",
    "client_id",
    "redirect_uri",
    "request_uri",
    "code_verifier",
    "device_code",
    "iss",
  ].map(plainName),
);

/** The names of private members of a JSON Web Key (RFC 7518 §6). */
export const privateMembers: ReadonlySet<string> = new Set(["d", "p", "q", "dp", "dq", "qi", "oth", "k"]);

/**
 * A parameter of OAuth in a URL or a form, whose first pair has no separator before it; also in a URL within a parameter, in HTML,
 * or in JSON that escapes `&`. The lookbehind reads backwards and stops at the start of a line, so a match takes linear time.
 */
export const oauthParameter: RegExp =
  /(?<=(?:(?=[^\s&]*&[^\s&=]+=)(?<![^\r\n])|[?&#]|&amp;|\\u0026|%(?:25)?(?:3f|26|23))(?:code|state|nonce|assertion|request_uri|user_code|code_challenge|code_verifier|client_assertion|device_code|(?:access|refresh|id)_token|client_secret)(?:=|%(?:25)?3d))[^\s&#"'<>\\]{3,}/gi;

/** Endings of names with `token` that mean a cursor or a request of the protocol. */
export const noSecrets: RegExp = /(?:progress|page|continuation|next|sync|cancel)token$/;

/** Shapes of secrets: a private key, a bearer token, a JSON Web Token, keys of well-known services. */
export const knownShapes: readonly RegExp[] = [
  // The lines between the begin and end of a PEM key; the end may be missing.
  /(?<=-----BEGIN (?:[A-Z\d]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)(?:[^-]|-(?!----))+/g,
  // A challenge has a parameter after `Bearer`: `realm="…"`.
  /(?<=\bBearer )(?!\w{1,40}=\\*"[\w/:])[\w.~+/-]{8,}=*/g,
  /\beyJ[\w-]{8,512}\.[\w-]{8,8192}\.[\w-]+/g,
  /\b(?:sk|pk|rk)[-_](?:live_|test_|ant-|proj-)?[\w-]{16,}/g,
  /\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\bAKIA[\dA-Z]{16}\b/g,
  // The private members of a JSON Web Key.
  /(?<=\\*"(?:d|p|q|dp|dq|qi|k)\\*"\s{0,9}:\s{0,9}\\*")[\w-]{22,}/g,
  oauthParameter,
  // The user and the password of a URL.
  /(?<=\b[a-z][a-z\d+.-]*:\/\/)[^\s/@"]+(?=@)/gi,
];

/** Every text with one of the known shapes matches this. */
export const shapeHint: string =
  '(?:code|state|nonce|assertion|challenge|request_uri)(?:=|%|")|(?:verifier|token|secret)%|\\bkty\\b|-----BEGIN|bearer|eyJ|[spr]k[-_]|gh[opsur]_|github_pat_|glpat-|xox|AKIA|://[^\\s/@]+@';

/** `apiKey`, `api_key` and `API-KEY` are one name. */
export function plainName(name: string): string {
  return name.replaceAll(/[-_]/g, "").toLowerCase();
}
