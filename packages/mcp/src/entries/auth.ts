/**
 * Authorization over HTTP: servers verify access tokens on every request, and clients obtain them.
 *
 * @module auth
 */
import "../base/runtime.js";

export { type DevAuth, devAuth } from "../auth/authorization-server/dev-auth.js";
export { type OAuthProxy, oauthProxy } from "../auth/authorization-server/oauth-proxy.js";
export type { AuthorizationStore } from "../auth/authorization-server/state-store.js";
export { type DeviceCodeOptions, type DevicePrompt, deviceCode } from "../auth/client/device-code.js";
export {
  type ClientCredentialsOptions,
  clientCredentials,
  type EnterpriseManagedOptions,
  enterpriseManaged,
  type WorkloadIdentityOptions,
  workloadIdentity,
} from "../auth/client/machine-grants.js";
export { type OAuthOptions, oauth } from "../auth/client/oauth.js";
export { revokeTokens } from "../auth/client/revocation.js";
export { SignInError, type SignInFailure, type SignInStep } from "../auth/client/sign-in-error.js";
export { memoryTokenStore, type StoredCredentials, type TokenStore } from "../auth/client/token-store.js";
export { pathsOfAuth, type ResourceServer } from "../auth/resource-server.js";
export { bearerAuth } from "../auth/server/bearer-auth.js";
export { introspectionAuth } from "../auth/server/introspection-auth.js";
export { jwtAuth } from "../auth/server/jwt-auth.js";
export {
  auth0,
  clerk,
  entra,
  github,
  google,
  keycloak,
  okta,
  supabase,
  workos,
} from "../auth/server/providers.js";
export type { HttpAuthorization } from "../http/client/http-target.js";
