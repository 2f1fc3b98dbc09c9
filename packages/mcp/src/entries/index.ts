/**
 * Types shared by servers and clients: the messages of the protocol in their newest shape, versions, and error codes.
 *
 * @module
 */
import "../base/runtime.js";

export type * from "../protocol/capabilities.js";
export { catalogueCodes, specCodes } from "../protocol/errors.js";
export type { RequestMeta } from "../protocol/meta.js";
export type * from "../protocol/method-params.js";
export { handshakeVersions, latest, latestHandshake, statelessVersions, versions } from "../protocol/revisions/all.js";
export type * from "../protocol/types/cancelled.js";
export type * from "../protocol/types/completion.js";
export type * from "../protocol/types/content.js";
export type * from "../protocol/types/discover.js";
export type * from "../protocol/types/elicitation.js";
export type * from "../protocol/types/implementation.js";
export type * from "../protocol/types/initialize.js";
export type * from "../protocol/types/input.js";
export type * from "../protocol/types/logging.js";
export type * from "../protocol/types/params.js";
export type * from "../protocol/types/progress.js";
export type * from "../protocol/types/prompts.js";
export type * from "../protocol/types/resources.js";
export type * from "../protocol/types/result.js";
export type * from "../protocol/types/roots.js";
export type * from "../protocol/types/sampling.js";
export type * from "../protocol/types/subscriptions.js";
export type * from "../protocol/types/tasks.js";
export type * from "../protocol/types/tools.js";
