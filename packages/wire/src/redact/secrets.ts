import { pointerToken } from "@parlance/mcp/protocol";
import type { JsonNode } from "../json/json-node.js";

/** What counts as a secret. */
export interface Secrets {
  /** Names of members whose values are secret; without case, `-` and `_`. A longer name that ends with one is secret too. */
  readonly keys: ReadonlySet<string>;
  /** JSON pointers from a message; `*` is any one token. */
  readonly pointers: readonly (readonly string[])[];
  /** Patterns that are secret in any place. */
  readonly patterns: readonly RegExp[];
  /** The pattern among them that matches a value after the name of a secret. */
  readonly assigned: RegExp;
  /** Names of headers, in lower case. */
  readonly headers: ReadonlySet<string>;
  /** Texts that are secret in any place. */
  readonly values: readonly string[];
  /** Matches every text that may hold a secret by name or shape: a quick test that often avoids a slow search. */
  readonly hint: RegExp;
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
  "bearer",
  "signingKey",
  "encryptionKey",
];

/** Endings of names with `token` that mean a cursor or a request of the protocol. */
const noSecrets = /(?:progress|page|continuation|next|sync|cancel)token$/;

/** Headers with credentials. */
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

/** Shapes of secrets: a private key, a bearer token, a JSON Web Token, keys of well-known services. */
const knownShapes: readonly RegExp[] = [
  // The lines between the begin and end of a PEM key; the end may be missing.
  /(?<=-----BEGIN (?:[A-Z\d]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)(?:[^-]|-(?!----))+/g,
  /(?<=\bBearer )[\w.~+/-]{8,}=*/g,
  /\beyJ[\w-]{8,512}\.[\w-]{8,8192}\.[\w-]+/g,
  /\b(?:sk|pk|rk)[-_](?:live_|test_|ant-|proj-)?[\w-]{16,}/g,
  /\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\bAKIA[\dA-Z]{16}\b/g,
  // The user and the password of a URL.
  /(?<=\b[a-z][a-z\d+.-]*:\/\/)[^\s/@"]+(?=@)/gi,
];

/** Every text with one of the known shapes matches this. */
const shapeHint = "-----BEGIN|bearer|eyJ|[spr]k[-_]|gh[opsur]_|github_pat_|glpat-|xox|AKIA|://[^\\s/@]+@";

/** Secrets beside the default ones. */
export interface SecretsOptions {
  readonly keys?: readonly string[];
  readonly pointers?: readonly string[];
  readonly patterns?: readonly RegExp[];
  readonly headers?: readonly string[];
  /** Secret texts that are known from elsewhere: the values of environment variables, for instance. */
  readonly values?: readonly string[];
}

/** The defaults with the additions. */
export function secretsOf(options: SecretsOptions = {}): Secrets {
  const { keys = [], pointers = [], patterns = [], headers = [], values = [] } = options;
  const names = [...secretKeys, ...keys];
  const hints = names.map((name) => Array.from(plainName(name), escaped).join("[-_]?"));
  const byName = assigned(names);
  // A pointer or a pattern of the caller may match any text.
  const isAnywhere = pointers.length + patterns.length > 0;
  return {
    values,
    hint: isAnywhere ? /^/ : new RegExp([...hints, shapeHint, "\\\\u00"].join("|"), "i"),
    keys: new Set(names.map(plainName)),
    pointers: pointers.map((pointer) => pointer.split("/")),
    assigned: byName,
    patterns: [...knownShapes, byName, ...patterns.map(everywhere)],
    headers: new Set([...secretHeaders, ...headers].map((name) => name.toLowerCase())),
  };
}

/** `apiKey`, `api_key` and `API-KEY` are one name. */
function plainName(name: string): string {
  return name.replaceAll(/[-_]/g, "").toLowerCase();
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Whether a name says that its value is secret: `apiKey`, `BRAVE_API_KEY`, `githubToken`. */
export function isSecretName(name: string, { keys }: Pick<Secrets, "keys">): boolean {
  const plain = plainName(name);
  if (keys.has(plain)) return true;
  if (noSecrets.test(plain)) return false;
  const words = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, " ").split(/[-_.\s]+/);
  return words.some((_, at) => at > 0 && keys.has(words.slice(at).join("").toLowerCase()));
}

/** A value after a secret name in a text: `token=…`, `"password": "…"`, also with escaped quotes. */
function assigned(names: readonly string[]): RegExp {
  const written = names.map((name) =>
    escaped(name)
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "[-_]?")
      .replaceAll(/(?<=\w)[-_](?=\w)/g, "[-_]?"),
  );
  // Skips what cannot begin a value: a lookbehind over a long run of spaces would take quadratic time.
  return new RegExp(
    `(?=[^\\s"'\\\\,;&{}[\\]]{3})(?<=(?<![a-z])(?:${written.join("|")})(?:\\\\?["'])?\\s*[:=]\\s*(?:\\\\?["'])?)[^\\s"'\\\\,;&{}[\\]]{3,}`,
    "gi",
  );
}

function everywhere(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}

/** What of a message is never secret by its name or place: without it, it is no message. What is known to be secret is covered here too. */
const framework: ReadonlySet<string> = new Set(["/jsonrpc", "/method", "/id"]);

/** Schemas describe values and hold none: those of tools and of elicitation forms. */
const schema =
  /^(?:\/result|\/params|\/result\/inputRequests\/[^/]+\/params)\/(?:tools\/\d+\/(?:in|out)putSchema|requestedSchema)$/;

/** A text or a number of a message. */
export interface Scalar {
  readonly node: JsonNode;
  /** The whole value is secret, by name or place. */
  readonly secret: boolean;
  /** Only known secrets are searched for in it: it is a name, or part of a schema. */
  readonly described: boolean;
}

/** A value of a message that may be covered, and whether all of it is secret. */
export function scalars(root: JsonNode, secrets: Secrets): readonly Scalar[] {
  const found: Scalar[] = [];
  const visit = (node: JsonNode, pointer: string, secret: boolean, described: boolean): void => {
    const isDescribed = described || framework.has(pointer) || schema.test(pointer);
    const isSecret = !isDescribed && (secret || secrets.pointers.some((pattern) => names(pattern, pointer)));
    if (node.kind === "object")
      for (const { key, keyStart, keyEnd, value } of node.members) {
        if (pointer !== "") found.push({ node: nameNode(keyStart, keyEnd), secret: false, described: true });
        visit(value, `${pointer}/${pointerToken(key)}`, isSecret || isSecretName(key, secrets), isDescribed);
      }
    else if (node.kind === "array")
      for (const [index, value] of node.elements.entries()) visit(value, `${pointer}/${index}`, isSecret, isDescribed);
    else found.push({ node, secret: isSecret, described: isDescribed });
  };
  visit(root, "", false, false);
  return found;
}

function nameNode(start: number, end: number): JsonNode {
  return { kind: "string", start, end };
}

function names(pattern: readonly string[], pointer: string): boolean {
  const tokens = pointer.split("/");
  return tokens.length === pattern.length && pattern.every((token, at) => token === "*" || token === tokens[at]);
}
