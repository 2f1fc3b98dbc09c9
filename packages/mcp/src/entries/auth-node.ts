/**
 * Authorization of clients on Node: tokens in a file.
 *
 * @module auth-node
 */
import "../base/runtime.js";

export { fileTokenStore } from "../node/auth/file-token-store.js";
