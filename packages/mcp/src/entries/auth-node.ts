/**
 * Authorization of clients on Node: sign-in with the system's browser, tokens in a file or with the keychain, and requests that reach only public addresses.
 *
 * @module auth-node
 */
import "../base/runtime.js";

export type { OpenReceiver, RedirectReceiver } from "../auth/client/authorization-code.js";
export { browserSignIn } from "../node/auth/browser-sign-in.js";
export { type FileTokenStore, fileTokenStore } from "../node/auth/file-token-store.js";
export { keychainTokenStore } from "../node/auth/keychain-token-store.js";
export { publicFetch } from "../node/auth/public-fetch.js";
