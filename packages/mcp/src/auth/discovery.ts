import {
  type AuthorizationServer,
  allowInsecureRequests,
  customFetch,
  discoveryRequest,
  processDiscoveryResponse,
} from "oauth4webapi";
import { thrownText } from "../jsonrpc/errors.js";
import { boundedFetch } from "./bounded-fetch.js";

/**
 * The metadata of an authorization server: RFC 8414 first, then OpenID Connect. Its issuer must be the one that was asked for, as it
 * was written.
 * https://modelcontextprotocol.io/specification/latest/basic/authorization#authorization-server-metadata-discovery
 *
 * @throws Error with what was found at each place
 */
export async function discover(issuerUrl: URL, issuer: string): Promise<AuthorizationServer> {
  const failures: string[] = [];
  for (const algorithm of ["oauth2", "oidc"] as const) {
    try {
      const response = await discoveryRequest(issuerUrl, {
        algorithm,
        // `requireSecureUrl` has seen to it that only this machine is without HTTPS.
        [allowInsecureRequests]: issuerUrl.protocol === "http:",
        [customFetch]: boundedFetch,
      });
      const metadata = await processDiscoveryResponse(issuerUrl, response);
      if (metadata.issuer === issuer) return metadata;
      failures.push(`${algorithm}: its issuer is ${metadata.issuer}`);
    } catch (error) {
      failures.push(`${algorithm}: ${thrownText(error)}`);
    }
  }
  throw new Error(`no metadata of ${issuer} (${failures.join("; ")})`);
}
