/**
 * Types shared by servers and clients: the messages of the protocol in their newest shape, versions, and error codes.
 *
 * @module
 */
import "../base/runtime.js";

export type * from "../protocol/cancelled.js";
export type * from "../protocol/capabilities.js";
export type * from "../protocol/completion.js";
export type * from "../protocol/content.js";
export type * from "../protocol/discover.js";
export type * from "../protocol/elicitation.js";
export { catalogueCodes, specCodes } from "../protocol/errors.js";
export type * from "../protocol/implementation.js";
export type * from "../protocol/initialize.js";
export type * from "../protocol/input.js";
export type * from "../protocol/logging.js";
export type { RequestMeta } from "../protocol/meta.js";
export type * from "../protocol/method-params.js";
export type * from "../protocol/params.js";
export type * from "../protocol/progress.js";
export type * from "../protocol/prompts.js";
export type * from "../protocol/resources.js";
export type * from "../protocol/result.js";
export type * from "../protocol/roots.js";
export type * from "../protocol/sampling.js";
export type * from "../protocol/subscriptions.js";
export type * from "../protocol/tasks.js";
export type * from "../protocol/tools.js";
export { handshakeVersions, latest, latestHandshake, statelessVersions, versions } from "../revisions/all.js";
