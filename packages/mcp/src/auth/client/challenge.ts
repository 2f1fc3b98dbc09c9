import {
  allowInsecureRequests,
  customFetch,
  protectedResourceRequest,
  type WWWAuthenticateChallenge,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";

/** The requirements of a server for a token. */
export interface Challenge {
  readonly status: number;
  /** The URL of its Protected Resource Metadata, if it names one. */
  readonly resourceMetadata?: string;
  /** The scopes that the request needs, if it says so. */
  readonly scopes?: readonly string[];
  readonly error?: string;
  readonly description?: string;
}

/**
 * The challenge of a response with 401, or with 403 for missing scopes; undefined for any other response.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization#protected-resource-metadata-discovery-requirements
 */
export async function challengeOf({ status, headers }: Response): Promise<Challenge | undefined> {
  if (status !== 401 && status !== 403) return undefined;
  const header = headers.get("www-authenticate");
  const all = header === null ? [] : await parse(header);
  const ours = all.filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  const first = (name: "error" | "error_description" | "resource_metadata" | "scope"): string | undefined =>
    ours.find(({ parameters }) => parameters[name] !== undefined)?.parameters[name];
  const error = first("error");
  if (status === 403 && error !== "insufficient_scope") return undefined;
  const resourceMetadata = first("resource_metadata");
  const scope = first("scope");
  const description = first("error_description");
  return {
    status,
    ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
    ...(scope === undefined ? {} : { scopes: scopesIn(scope) }),
    ...(error === undefined ? {} : { error }),
    ...(description === undefined ? {} : { description }),
  };
}

/** The scopes of a text: they are separated by spaces. */
export function scopesIn(text: string): readonly string[] {
  return [...new Set(text.split(" ").filter((scope) => scope !== ""))];
}

/** All challenges of a header; none if it is malformed. The library parses only the responses to its own requests. */
async function parse(header: string): Promise<readonly WWWAuthenticateChallenge[]> {
  try {
    await protectedResourceRequest("none", "GET", new URL("http://localhost/"), undefined, null, {
      [allowInsecureRequests]: true,
      [customFetch]: async () => new Response(null, { status: 401, headers: { "www-authenticate": header } }),
    });
  } catch (error) {
    if (error instanceof WWWAuthenticateChallengeError) return error.cause;
    throw error;
  }
  return [];
}
