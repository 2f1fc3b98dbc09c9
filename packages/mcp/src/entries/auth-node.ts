/**
 * Authorization of clients on Node: sign-in with the system's browser, and tokens in a file.
 *
 * @module auth-node
 */
import "../base/runtime.js";

export { browserSignIn } from "../node/auth/browser-sign-in.js";
export { fileTokenStore } from "../node/auth/file-token-store.js";
