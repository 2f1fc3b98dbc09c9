import { type AuthorizationServer, OperationProcessingError, processDiscoveryResponse } from "oauth4webapi";
import { isObject } from "../base/json.js";
import { causeText } from "../jsonrpc/errors.js";
import { type BoundedFetch, boundedFetch, type OwnFetch } from "./bounded-fetch.js";

/** The response at one of the places where the metadata of an authorization server can be. */
interface Place {
  readonly url: string;
  /** The status of the response; undefined without one. */
  readonly status: number | undefined;
  /** The issuer in the document, if it is not the one that was asked for. */
  readonly otherIssuer: string | undefined;
  readonly problem: string;
}

/** The metadata of an authorization server, or what was found instead. */
export type Discovery =
  | { readonly kind: "metadata"; readonly metadata: AuthorizationServer }
  | { readonly kind: "none"; readonly places: readonly Place[] };

/**
 * The metadata of an authorization server.
 * @param send what sends the requests; default: the platform's `fetch`
 * @throws Error with what was found at each place
 */
export async function discover(issuer: string, send?: OwnFetch): Promise<AuthorizationServer> {
  const request: BoundedFetch = (url, init) => boundedFetch(url, init, send);
  const discovery = await findServerMetadata(issuer, request);
  if (discovery.kind === "metadata") return discovery.metadata;
  throw new Error(`no metadata of ${issuer} (${placesText(discovery.places)})`);
}

export function placesText(places: readonly Place[]): string {
  return places.map(({ url, problem }) => `${url}: ${problem}`).join("; ");
}

/**
 * Looks for the metadata of an authorization server at its places, in the required order. A document of another issuer is not used.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization#authorization-server-metadata-discovery
 *
 * @param isIssuer whether an issuer is the expected one. Default: the same text, as RFC 8414 compares it, not the same URL
 */
export async function findServerMetadata(
  issuer: string,
  request: BoundedFetch,
  isIssuer: (found: string) => boolean = (found) => found === issuer,
): Promise<Discovery> {
  const issuerUrl = new URL(issuer);
  const places: Place[] = [];
  for (const url of metadataUrls(issuerUrl)) {
    let status: number | undefined;
    let otherIssuer: string | undefined;
    let problem = "";
    try {
      const response = await request(url, { headers: { accept: "application/json" } });
      status = response.status;
      const metadata = await processDiscoveryResponse(issuerUrl, response);
      if (isIssuer(metadata.issuer)) return { kind: "metadata", metadata };
      otherIssuer = metadata.issuer;
    } catch (error) {
      otherIssuer = issuerIn(error);
      problem = status === undefined || status === 200 ? causeText(error) : `status ${status}`;
    }
    if (otherIssuer !== undefined) problem = `its issuer is ${otherIssuer}`;
    places.push({ url, status, otherIssuer, problem });
  }
  return { kind: "none", places };
}

/** The metadata URLs of an issuer: of RFC 8414, then of OpenID Connect, which has two forms for an issuer with a path. */
function metadataUrls({ origin, pathname }: URL): readonly string[] {
  const path = pathname.replace(/\/$/, "");
  const oauth = `${origin}/.well-known/oauth-authorization-server${path}`;
  const openid = `${origin}/.well-known/openid-configuration${path}`;
  return path === "" ? [oauth, openid] : [oauth, openid, `${origin}${path}/.well-known/openid-configuration`];
}

/** The issuer of a document that the library has refused because of it. */
function issuerIn(error: unknown): string | undefined {
  if (!(error instanceof OperationProcessingError) || !isObject(error.cause)) return undefined;
  const { attribute, body } = error.cause;
  if (attribute !== "issuer" || !isObject(body)) return undefined;
  return typeof body.issuer === "string" ? body.issuer : undefined;
}
