import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DeviceCodeOptions, OAuthOptions, SignInError, SignInStep, TokenStore } from "@parlance/mcp/auth";
import { type ConnectOptions, connect } from "@parlance/mcp/client";
import { type Failure, unreachableFailure } from "../failure.js";
import { shellWord } from "../output/shell-word.js";
import { parsedObject } from "../parsed-json.js";
import type { Header, RecordedRequests } from "../target/configured-target.js";
import type { Target } from "../target/target.js";
import { stateDirectory } from "../user-directories.js";
import { covers } from "./protected-resource.js";

type Authorization = NonNullable<ConnectOptions["auth"]>;
type Fetch = ReturnType<Authorization>;

/** The file with the tokens of `parlance login`: `PARLANCE_CREDENTIALS`, or a file beside the recordings. */
export function credentialsFile(env: NodeJS.ProcessEnv): string {
  const { PARLANCE_CREDENTIALS } = env;
  if (PARLANCE_CREDENTIALS !== undefined && PARLANCE_CREDENTIALS !== "") return PARLANCE_CREDENTIALS;
  return join(stateDirectory(env), "credentials.json");
}

/** The name under which the command registers with authorization servers. */
const clientName = "parlance";

/** The maximum milliseconds of a connection during which a user signs in. */
const signInTime = 330_000;

/** The options of a sign-in, and the listener for its steps. */
export type SignInOptions = Pick<OAuthOptions, "scopes" | "clientId" | "onStep"> & {
  /** Signs in with a code that the user enters on another device. Default: in the browser of this machine. */
  readonly device?: Required<Pick<DeviceCodeOptions, "show" | "signal">>;
};

/**
 * Signs the user in, if the server requires it: prints the address of a page, and opens it. The tokens are stored for later
 * connections.
 */
export async function signInAt(
  url: URL,
  { device, scopes: wanted = [], ...given }: SignInOptions = {},
  recorded?: RecordedRequests,
): Promise<void> {
  const [{ deviceCode, oauth }, { browserSignIn, fileTokenStore, publicFetch }] = await loadAuthorization();
  const file = fileTokenStore(credentialsFile(process.env));
  const store = requiring(wanted, storeFor(file, given.clientId));
  // The new token is to serve what the one before serves.
  const before = [...(await file.entries()).values()].filter(({ resource }) => covers(resource, url));
  const scopes = wanted.length === 0 ? [] : [...before.flatMap(({ tokens }) => tokens?.scopes ?? []), ...wanted];
  const options = { ...given, ...(scopes.length === 0 ? {} : { scopes: [...new Set(scopes)] }) };
  const reached = publicFetch({ privateHosts: [url.hostname] });
  const common = { clientName, store, fetch: recorded?.signIns.fetch(reached) ?? reached, ...options };
  const signIn = recorded?.signIns.receiver(browserSignIn()) ?? browserSignIn();
  const auth = device === undefined ? oauth({ ...common, signIn }) : deviceCode({ ...common, ...device });
  // A new connection, because a person takes longer than a server has to respond.
  const times = { timeout: signInTime, probeTimeout: signInTime };
  const client = await connect(url, { auth, ...times, reopen: false, ...(recorded && { fetch: recorded.fetch }) });
  await client.close();
}

/** Hides tokens that lack one of these scopes, so that the user signs in for them. They are kept until that has worked. */
function requiring(scopes: readonly string[], store: TokenStore): TokenStore {
  return {
    ...store,
    async get(key) {
      const credentials = await store.get(key);
      if (credentials === undefined) return undefined;
      const { tokens, ...others } = credentials;
      return scopes.every((scope) => tokens?.scopes.includes(scope)) ? credentials : others;
    },
  };
}

/**
 * The store for a sign-in with the user's own client id. The library separates the tokens of clients by the last part of the key.
 * This store keeps the id with the tokens instead, so that other commands can use them without it.
 */
function storeFor(store: TokenStore, clientId: string | undefined): TokenStore {
  if (clientId === undefined) return store;
  const keyOf = (key: string): string => JSON.stringify([...(JSON.parse(key) as string[]).slice(0, -1), clientName]);
  return {
    // Tokens of another client do not work for this one.
    async get(key) {
      const kept = await store.get(keyOf(key));
      return kept?.client?.id === clientId ? kept : undefined;
    },
    set: (key, credentials) => store.set(keyOf(key), { client: { id: clientId }, ...credentials }),
    delete: (key) => store.delete(keyOf(key)),
    exclusive: (key, run) => store.exclusive(keyOf(key), run),
  };
}

/** The parts of a sign-in that need no user. */
export interface ExaminedSignIn {
  /** The authorization request. */
  readonly authorization?: URL;
  /** The metadata of the authorization server, unchanged. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly failure?: SignInError["failure"];
}

/** Performs a sign-in up to the page that a user would see. Registers no client, and stores nothing. */
export async function examineSignIn(url: URL): Promise<ExaminedSignIn> {
  const [{ oauth }, { publicFetch }] = await loadAuthorization();
  const reached = publicFetch({ privateHosts: [url.hostname] });
  const examined: { -readonly [Member in keyof ExaminedSignIn]: ExaminedSignIn[Member] } = {};
  const watched: Fetch = async (at, init) => {
    const response = await reached(at, init);
    if (response.ok && /\/\.well-known\/(?:oauth-authorization-server|openid-configuration)/.test(at.pathname))
      examined.metadata = parsedObject(await response.clone().text()) ?? {};
    return response;
  };
  const authorize = async (authorization: URL): Promise<never> => {
    examined.authorization = authorization;
    throw new Error("no user is asked");
  };
  const redirectUrl = "http://127.0.0.1:33418/callback";
  const auth = oauth({ clientId: "parlance-doctor", redirectUrl, authorize, fetch: watched });
  try {
    const client = await connect(url, { auth, reopen: false });
    await client.close();
  } catch (error) {
    const failure = signInErrorOf(error)?.failure;
    if (examined.authorization === undefined && failure !== undefined) examined.failure = failure;
  }
  return examined;
}

/** Options of using stored tokens. */
interface KeptTokens {
  /** Called with each step of a refresh or a sign-in, without secrets. Default: nothing. */
  readonly tell?: (text: string) => void;
  /** Whether to open the browser when the server requires a sign-in. Default: false; the connection then fails. */
  readonly opensBrowser?: boolean;
  /** Records the exchanges of a refresh. Default: they are not recorded. */
  readonly recorded?: RecordedRequests | undefined;
}

/**
 * Sends requests with the tokens of an earlier sign-in, unless the server requires authentication of another kind. The
 * authorization code is loaded only if there are tokens, or the server requires them.
 */
export function withKeptTokens(
  url: URL,
  { tell = () => undefined, opensBrowser = false, recorded }: KeptTokens = {},
): Authorization {
  const file = credentialsFile(process.env);
  return (fetch) => {
    let authorized: Promise<Fetch> | undefined;
    const load = async (): Promise<Fetch> => {
      const [{ oauth }, { browserSignIn, fileTokenStore, publicFetch }] = await loadAuthorization();
      const onStep: SignInOptions["onStep"] = ({ kind, text }) => tell(`sign-in: ${kind}: ${text}`);
      const reached = publicFetch({ privateHosts: [url.hostname] });
      const signIn = opensBrowser ? { signIn: browserSignIn() } : {};
      const sent = recorded?.signIns.fetch(reached) ?? reached;
      return oauth({ clientName, store: fileTokenStore(file), fetch: sent, onStep, ...signIn })(fetch, url);
    };
    return async (at, init) => {
      if (authorized === undefined && !existsSync(file)) {
        const response = await fetch(at, init);
        if (response.status !== 401 || !namesMetadata(response)) return response;
        void response.body?.cancel().catch(() => undefined); // The request is sent again.
      }
      authorized ??= load();
      return (await authorized)(at, init);
    };
  };
}

function loadAuthorization() {
  return Promise.all([import("@parlance/mcp/auth"), import("@parlance/mcp/auth-node")]);
}

/** Whether a user can sign in: the output is a terminal, and the program was not started by another program. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Whether a server requires a user who signs in. */
export function requiresSignIn(error: unknown): boolean {
  return signInErrorOf(error)?.failure.kind === "interaction";
}

/** Whether a challenge names the metadata of the resource. Only then does the server certainly use OAuth. */
function namesMetadata({ headers }: Response): boolean {
  return /\bresource_metadata\s*=/i.test(headers.get("www-authenticate") ?? "");
}

/** How a user gets a token, and how a machine gives one. */
export function signInRemedy(url: string, scopes: readonly string[] = []): string {
  // Both come from the server, and the line is there to be pasted into a shell.
  const words = [...scopes.flatMap((scope) => ["--scope", scope]), url].map(shellWord);
  return `parlance login ${words.join(" ")}, or for machines --bearer-env TOKEN`;
}

/** A failed sign-in as a failure of the command; undefined for any other error. */
export function signInFailureOf(error: unknown): Failure | undefined {
  const refused = signInErrorOf(error);
  if (refused === undefined) return undefined;
  const { kind, step, received, expected, remedy, resource = "", scopes } = refused.failure;
  if (kind === "interaction") {
    const message = scopes === undefined ? "the server requires a sign-in" : "the token lacks a scope that this needs";
    return unreachableFailure(message, signInRemedy(resource, scopes), error);
  }
  const needsId = kind === "registration" || kind === "no-client-id";
  // The library names its own option; name the option of the command line instead.
  const advice = needsId
    ? "register a client at the authorization server, and sign in with --client-id <id>; a server with keys of its own takes them by --bearer-env TOKEN or --header-env x-api-key=KEY"
    : remedy;
  const seen = [`received  ${received}`, `expected  ${expected}`];
  return unreachableFailure(`sign-in failed: ${step}`, advice, error).with({ seen });
}

/** The failed sign-in behind an error. Without loading the class, which most conversations do not need. */
export function signInErrorOf(error: unknown): SignInError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (isSignInError(each)) return each;
  return undefined;
}

function isSignInError(error: Error): error is SignInError {
  return error.message.startsWith("sign-in failed (") && "failure" in error;
}

/** The scopes that the user has to grant before a call can be made; undefined for any other error. */
export function missingScopesOf(error: unknown): readonly string[] | undefined {
  const { kind, scopes } = signInErrorOf(error)?.failure ?? {};
  return kind === "interaction" ? scopes : undefined;
}

/**
 * A target with the access token of an earlier sign-in as a header, for commands that write their own requests. A connection
 * obtains the token, which may have to be refreshed first.
 */
export async function withKeptToken(target: Target): Promise<Target> {
  if (target.kind !== "url" || !target.url.protocol.startsWith("http") || hasAuthorization(target.headers))
    return target;
  if (!existsSync(credentialsFile(process.env))) return target;
  const { url, headers } = target;
  let token: string | null = null;
  const watched: Fetch = (at, init) => {
    token = new Headers(init.headers).get("authorization") ?? token;
    return fetch(at, init);
  };
  try {
    const client = await connect(url, { auth: withKeptTokens(url), fetch: watched, headers, reopen: false });
    await client.close();
  } catch {
    // The command itself reports the failure.
  }
  return token === null ? target : { ...target, headers: [...headers, ["Authorization", token]] };
}

/** Whether the user passes a token, which is then used instead of stored ones. */
export function hasAuthorization(headers: readonly Header[]): boolean {
  return headers.some(([name]) => name.toLowerCase() === "authorization");
}

const page = "https://modelcontextprotocol.io/specification/latest/basic/authorization";

/** Where the specification describes each step of a sign-in. */
export const stepPages: Readonly<Record<SignInStep["kind"], string>> = {
  challenge: `${page}#authorization-server-location`,
  "resource-metadata": "https://www.rfc-editor.org/rfc/rfc9728#section-3.3",
  "server-metadata": `${page}#authorization-server-metadata-discovery`,
  stored: `${page}#token-handling`,
  registration: `${page}#client-registration-approaches`,
  authorization: `${page}#authorization-code-protection`,
  redirect: "https://www.rfc-editor.org/rfc/rfc9207#section-2.4",
  token: `${page}#resource-parameter-implementation`,
  refresh: "https://www.rfc-editor.org/rfc/rfc6749#section-6",
  "step-up": `${page}#scope-challenge-handling`,
};
