import { clientCredentials, enterpriseManaged, oauth, workloadIdentity } from "@parlance/mcp/auth";

/** @typedef {Readonly<Record<string, string | undefined>>} Context What a scenario says of the client and its credentials. */

/**
 * How a client of a scenario gets its tokens.
 *
 * @param {string} scenario
 * @param {Context} context
 * @param {string} url of the MCP server
 */
export async function authorizationFor(scenario, context, url) {
  const { client_id: clientId = "", client_secret: clientSecret, issuer } = context;
  const secret = clientSecret === undefined ? {} : { clientSecret };
  switch (scenario) {
    case "auth/client-credentials-basic":
      return clientCredentials({ clientId, ...secret, issuer: await issuerOf(url) });
    case "auth/client-credentials-jwt":
      return clientCredentials({
        clientId,
        privateKey: context.private_key_pem ?? "",
        algorithm: context.signing_algorithm ?? "",
      });
    case "auth/wif-jwt-bearer":
      return workloadIdentity({ clientId, issuer: await issuerOf(url), assertion: () => context.valid_jwt ?? "" });
    case "auth/enterprise-managed-authorization":
      return enterpriseManaged({
        identityProvider: { issuer: context.idp_issuer ?? "", clientId: context.idp_client_id ?? "" },
        idToken: () => context.idp_id_token ?? "",
        clientId,
        ...secret,
        issuer: await issuerOf(url),
      });
    default:
      return oauth({
        clientName: "conformance",
        clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
        ...(clientId === "" ? {} : { clientId }),
        // A client that can binds its tokens.
        dpop: true,
        ...(issuer === undefined ? {} : { ...secret, issuer }),
        redirectUrl: "http://127.0.0.1:8765/callback",
        authorize: approved,
      });
  }
}

/**
 * The authorization server of a scenario, which these give no name, as an operator would configure it.
 *
 * @param {string} url of the MCP server
 */
async function issuerOf(url) {
  const { origin, pathname } = new URL(url);
  const metadata = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: servers } = await metadata.json();
  return String(servers[0]);
}

/**
 * The authorization servers of the suite redirect at once, without a user.
 *
 * @param {URL} authorization
 */
async function approved(authorization) {
  const { headers } = await fetch(authorization, { redirect: "manual" });
  return headers.get("location") ?? "";
}
