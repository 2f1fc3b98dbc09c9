/**
 * What servers and clients share: the revisions, and the types of the protocol in their newest shape.
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
export {
  type CodeReading,
  catalogueCodes,
  codeReadings,
  specCodes,
  type Vocabulary,
} from "../protocol/errors.js";
export { encodeHeaderValue } from "../protocol/header-values.js";
export { mcpHeaders, namedBy } from "../protocol/http-headers.js";
export type * from "../protocol/implementation.js";
export type * from "../protocol/initialize.js";
export type * from "../protocol/input.js";
export type * from "../protocol/logging.js";
export { metaKeys, type RequestMeta } from "../protocol/meta.js";
export type * from "../protocol/method-params.js";
export { type Method, methods, type NotificationMethod, notifications } from "../protocol/methods.js";
export type * from "../protocol/params.js";
export type * from "../protocol/progress.js";
export type * from "../protocol/prompts.js";
export type * from "../protocol/resources.js";
export type * from "../protocol/result.js";
export type * from "../protocol/roots.js";
export type * from "../protocol/sampling.js";
export type { TypeChange, TypeChanges } from "../protocol/shapes/amend-shapes.js";
export type { RequestShape } from "../protocol/shapes/message-shapes.js";
export * as shape from "../protocol/shapes/shape.js";
export type { ShapeFault } from "../protocol/shapes/shape-fault.js";
export type * from "../protocol/subscriptions.js";
export type * from "../protocol/tasks.js";
export type * from "../protocol/tools.js";
export { methodAliases, versionAliases } from "../revisions/aliases.js";
export {
  handshakeVersions,
  latest,
  latestHandshake,
  revisionOf,
  revisions,
  statelessVersions,
  versions,
  versionsWithCode,
} from "../revisions/all.js";
export { type CodeCircumstances, type DescribedCode, describeErrorCode } from "../revisions/describe-error-code.js";
export type * from "../revisions/facts.js";
export { type MessageOptions, type Messages, messagesOf } from "../revisions/messages.js";
export type * from "../revisions/revision.js";
export { checkShape, type MessagePart, type ShapeAdditions, type Shapes, shapesOf } from "../revisions/shapes.js";
