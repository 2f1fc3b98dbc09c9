/**
 * Authorization for servers over HTTP: access tokens, verified on every request.
 *
 * @module auth
 */
import "../base/runtime.js";

export type { ResourceServer } from "../auth/resource-server.js";
export { bearerAuth } from "../auth/server/bearer-auth.js";
export { introspectionAuth } from "../auth/server/introspection-auth.js";
export { jwtAuth } from "../auth/server/jwt-auth.js";
