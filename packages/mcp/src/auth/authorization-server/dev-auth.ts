import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { ResourceServer } from "../resource-server.js";
import { issuerMembers, isThisMachine, type ProtectedOptions, protect, requireSecureUrl } from "../server/protected.js";
import { AuthorizationServer, type SignedIn, type SignIn } from "./authorization-server.js";
import { Clients, type RegisteredClient } from "./clients.js";
import { Grants } from "./grants.js";
import { newKeyPair, Secrets } from "./keys.js";
import { escapeHtml } from "./page.js";
import { memoryAuthorizationStore } from "./state-store.js";

/** A user of `devAuth`. */
export interface DevUser {
  /** The subject of tokens, and the name on the page. */
  readonly name: string;
  /** The most scopes that a client gets for this user. Default: every scope that it asks for. */
  readonly scopes?: readonly string[];
}

/** A client of `devAuth` that gets tokens without a user. */
export interface DevClient {
  /** The client id. */
  readonly id: string;
  /** The client secret. */
  readonly secret: string;
  /** The scopes that it may get. Default: those that every request needs. */
  readonly scopes?: readonly string[];
}

/** Options of `devAuth`. */
export interface DevAuthOptions extends Omit<ProtectedOptions, "dpop"> {
  /** The users. Any of them can be picked without a password. */
  readonly users: readonly (string | DevUser)[];
  /** Clients that get tokens without a user, by client credentials. Default: none. */
  readonly clients?: readonly DevClient[];
  /** The URL of this server as clients write it. Default: that of `serveHttp`. Other adapters need it. */
  readonly resource?: string;
  /** Seconds that access tokens are valid. Default: 3,600. */
  readonly tokenLifetime?: number;
  /** Whether to start if `NODE_ENV` is `production`, or at an address that other machines may reach. Default: false. */
  readonly allowProduction?: boolean;
}

const members: MembersOf<DevAuthOptions> = {
  users: ["array", "user", "accounts"],
  clients: ["array"],
  resource: ["string", "audience", "resourceUrl", "url", "baseUrl"],
  tokenLifetime: ["number", "expiresIn", "accessTokenLifetime"],
  allowProduction: ["boolean", "production"],
  ...issuerMembers,
};

/** The claims of a token that is made for a test. */
export interface DevTokenClaims {
  /** The user. */
  readonly subject: string;
  /** Default: those that every request needs. */
  readonly scopes?: readonly string[];
  /** Default: `dev`. */
  readonly clientId?: string;
  /** Seconds; negative for a token that has expired. Default: the lifetime of tokens. */
  readonly expiresIn?: number;
}

/** A protected server with an authorization server in memory. */
export interface DevAuth extends ResourceServer {
  /** A valid access token, without a sign-in. */
  token(claims: DevTokenClaims): Promise<string>;
  /** Signs a user in without a browser: the option `authorize` of `oauth`. */
  signInAs(user: string): (url: URL) => Promise<URL>;
}

/**
 * Protects a server with an authorization server of its own, for development and tests: the user picks who to be on a page, without a
 * password. It serves its metadata, dynamic client registration, client ID metadata documents, authorization codes with PKCE, rotating
 * refresh tokens, client credentials and its keys at the origin of the server, and keeps all of it in memory.
 *
 * @example
 * const auth = devAuth({ users: ["ada", "bob"], scopes: ["notes"] });
 * await using http = await serveHttp(server, { auth });
 * const token = await auth.token({ subject: "ada" }); // for a test without a sign-in
 *
 * @throws TypeError without users, and where it could be reached in production
 */
export function devAuth(options: DevAuthOptions): DevAuth {
  checkMembers("devAuth", options, members);
  const { users, clients = [], tokenLifetime = 3_600, scopes = [], allowProduction = false } = options;
  if (!Array.isArray(users) || users.length === 0)
    throw new TypeError('devAuth: name at least one user, e.g. users: ["ada"]');
  const people: readonly DevUser[] = users.map((user) => (typeof user === "string" ? { name: user } : user));
  const secrets = new Secrets(crypto.getRandomValues(new Uint8Array(32)));
  const key = newKeyPair();
  let served: ResourceServer | undefined;
  const servedAt = (resource: string): void => {
    if (!allowProduction) requireThisMachine(resource);
    const { origin } = requireSecureUrl("devAuth: the resource", resource);
    served = protect("devAuth", resource, [origin], options, (token) => grants.verify(token));
  };
  const current = (): ResourceServer => {
    if (served === undefined)
      throw new Error("devAuth does not know the URL of its server: serve it by serveHttp, or give it a resource");
    return served;
  };
  const grants = new Grants(() => current().resource, memoryAuthorizationStore(), key, tokenLifetime);
  if (options.resource !== undefined) servedAt(options.resource);
  const server = new AuthorizationServer({
    clients: new Clients(secrets, preRegistered(clients, scopes), !allowProduction, undefined),
    grants,
    secrets,
    key,
    defaultScopes: scopes,
    isDevelopment: !allowProduction,
    signIn: pickUser(people),
  });
  return {
    get resource() {
      return current().resource;
    },
    get authorizationServers() {
      return current().authorizationServers;
    },
    get metadata() {
      return current().metadata;
    },
    scopes,
    endpoints: server,
    servedAt(url, isProduction) {
      if (isProduction && !allowProduction) throw new TypeError(`devAuth: NODE_ENV is production, and ${remedy}`);
      if (served === undefined) servedAt(url);
      else if (!allowProduction) requireThisMachine(url);
    },
    verify: (token, request) => current().verify(token, request),
    token: ({ subject, scopes: granted = scopes, clientId = "dev", expiresIn = tokenLifetime }) =>
      grants.accessToken({ subject, clientId, scopes: granted }, expiresIn),
    signInAs: (user) => async (url) => {
      const request = await server.check(url.searchParams, "");
      if (request instanceof URL) return request;
      const outcome = signedIn(people, user, request.scopes);
      if (outcome === undefined) throw new TypeError(`devAuth: there is no user ${JSON.stringify(user)}`);
      return server.complete(request, outcome);
    },
  };
}

const remedy = "anyone can sign in here: use jwtAuth with a real authorization server";

function preRegistered(clients: readonly DevClient[], scopes: readonly string[]): readonly RegisteredClient[] {
  return clients.map(({ id, secret, scopes: ownScopes = scopes }) => ({
    id,
    name: id,
    secret,
    redirectUris: [],
    ownScopes,
  }));
}

/** A page with a button for each user. */
function pickUser(people: readonly DevUser[]): SignIn {
  const button = (name: string): string => `<button name="user" value="${name}">${name}</button>`;
  return {
    form: () => people.map(({ name }) => button(escapeHtml(name))).join(""),
    decide: async (request, form) => signedIn(people, form.get("user"), request.scopes),
  };
}

/** @throws TypeError for another machine, or an address that other machines may reach */
function requireThisMachine(url: string): void {
  if (!URL.canParse(url) || isThisMachine(new URL(url))) return; // Not a URL: `requireSecureUrl` says so.
  throw new TypeError(`devAuth: ${url} can be reached by other machines, and ${remedy}`);
}

/** The scopes of a user are an upper bound: a client gets the ones that it requests. */
function signedIn(people: readonly DevUser[], name: string | null, asked: readonly string[]): SignedIn | undefined {
  const person = people.find((each) => each.name === name);
  if (person === undefined) return undefined;
  const { scopes } = person;
  return { subject: person.name, scopes: scopes === undefined ? asked : asked.filter((each) => scopes.includes(each)) };
}
