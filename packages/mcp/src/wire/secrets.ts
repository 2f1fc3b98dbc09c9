import { pointerToken } from "../base/json.js";
import { type JsonNode, literalOf } from "./json-node.js";

/** What counts as a secret. */
export interface Secrets {
  /** Names of members whose values are secret; without case, `-` and `_`. */
  readonly keys: ReadonlySet<string>;
  /** JSON pointers from a message; `*` is any one token. */
  readonly pointers: readonly (readonly string[])[];
  /** What is secret wherever it stands. */
  readonly patterns: readonly RegExp[];
  /** Names of headers, in lower case. */
  readonly headers: ReadonlySet<string>;
}

/** Names of members that hold secrets by default. */
const secretKeys: readonly string[] = [
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
];

/** Headers that prove who somebody is. */
export const credentialHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
  "api-key",
  "apikey",
  "x-auth-token",
  "x-access-token",
  "x-amz-security-token",
  "x-goog-api-key",
]);

/** Headers that are covered by default. */
const secretHeaders: readonly string[] = [...credentialHeaders, "mcp-session-id"];

/** What looks like a secret wherever it stands: a bearer token, a JSON Web Token, keys of well-known services. */
const knownShapes: readonly RegExp[] = [
  /(?<=\bBearer )[\w.~+/-]{8,}=*/g,
  /\beyJ[\w-]{8,512}\.[\w-]{8,8192}\.[\w-]+/g,
  /\b(?:sk|pk|rk)[-_](?:live_|test_|ant-|proj-)?[\w-]{16,}/g,
  /\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\bAKIA[\dA-Z]{16}\b/g,
  // The user and the password of a URL.
  /(?<=\b[a-z][a-z\d+.-]*:\/\/)[^\s/@"]+(?=@)/gi,
];

/** What is added to what is secret by default. */
export interface SecretsOptions {
  readonly keys?: readonly string[];
  readonly pointers?: readonly string[];
  readonly patterns?: readonly RegExp[];
  readonly headers?: readonly string[];
}

/** The defaults, and what is added to them. */
export function secretsOf({ keys = [], pointers = [], patterns = [], headers = [] }: SecretsOptions = {}): Secrets {
  const names = [...secretKeys, ...keys];
  return {
    keys: new Set(names.map(plainName)),
    pointers: pointers.map((pointer) => pointer.split("/")),
    patterns: [...knownShapes, assigned(names), ...patterns.map(everywhere)],
    headers: new Set([...secretHeaders, ...headers].map((name) => name.toLowerCase())),
  };
}

/** `apiKey`, `api_key` and `API-KEY` are one name. */
export function plainName(name: string): string {
  return name.replaceAll(/[-_]/g, "").toLowerCase();
}

/** A value that stands behind a secret name in a text: `token=…`, `"password": "…"`, also with its quotes escaped. */
function assigned(names: readonly string[]): RegExp {
  const written = names.map((name) =>
    name
      .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "[-_]?")
      .replaceAll(/(?<=\w)[-_](?=\w)/g, "[-_]?"),
  );
  // What cannot begin a value is passed over first: looking back over a long run of spaces from each of them takes for ever.
  return new RegExp(
    `(?=[^\\s"'\\\\,;&{}[\\]]{3})(?<=(?<![a-z])(?:${written.join("|")})(?:\\\\?["'])?\\s*[:=]\\s*(?:\\\\?["'])?)[^\\s"'\\\\,;&{}[\\]]{3,}`,
    "gi",
  );
}

function everywhere(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}

/** What of a message may never be covered: without it, it is no message. */
const framework: ReadonlySet<string> = new Set(["/jsonrpc", "/method", "/id"]);

/** Schemas describe values and hold none: what a tool takes, what it gives, what a form asks for. */
const schema =
  /^(?:\/result|\/params|\/result\/inputRequests\/[^/]+\/params)\/(?:tools\/\d+\/(?:in|out)putSchema|requestedSchema)$/;

/** A scalar of a JSON text, and whether all of it is secret. */
export interface Scalar {
  readonly node: JsonNode;
  readonly secret: boolean;
}

/** The scalars of a message that may be covered. `pointer` is that of the node in its message. */
export function* scalars(root: JsonNode, secrets: Secrets, pointer = "", secret = false): Iterable<Scalar> {
  if (framework.has(pointer) || schema.test(pointer)) return;
  const isSecret = secret || secrets.pointers.some((pattern) => names(pattern, pointer));
  if (root.kind === "object")
    for (const { key, value } of root.members) {
      const isKey = secrets.keys.has(plainName(key));
      yield* scalars(value, secrets, `${pointer}/${pointerToken(key)}`, isSecret || isKey);
    }
  else if (root.kind === "array")
    for (const [index, value] of root.elements.entries())
      yield* scalars(value, secrets, `${pointer}/${index}`, isSecret);
  else yield { node: root, secret: isSecret };
}

function names(pattern: readonly string[], pointer: string): boolean {
  const tokens = pointer.split("/");
  return tokens.length === pattern.length && pattern.every((token, at) => token === "*" || token === tokens[at]);
}

/** The text between the quotes of a string, as it was written. */
export function innerText({ start, end }: JsonNode, bytes: Uint8Array): string {
  return literalOf({ start: start + 1, end: end - 1 }, bytes);
}
