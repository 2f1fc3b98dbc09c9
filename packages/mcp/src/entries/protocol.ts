/**
 * Protocol data for tools that read, check or create messages: methods, revisions, shapes, error codes, HTTP headers,
 * and a few functions for JSON and bytes. Servers and clients do not need it.
 *
 * @module
 */
import "../base/runtime.js";

export { decodeBase64, encodeBase64 } from "../base/base64.js";
export { isObject, type JsonObject, kindOf, pointerToken } from "../base/json.js";
export { type CodeReading, codeReadings, type Vocabulary } from "../protocol/errors.js";
export { decodeHeaderValue, encodeHeaderValue } from "../protocol/header-values.js";
export { mcpHeaders, namedBy } from "../protocol/http-headers.js";
export { metaKeys, type RequestMetaReading, readRequestMeta } from "../protocol/meta.js";
export { isAdvertised, methodCapabilities } from "../protocol/method-capabilities.js";
export {
  isProtocolMethod,
  type Method,
  methods,
  type NotificationMethod,
  notifications,
} from "../protocol/methods.js";
export {
  isMirrored,
  type MirroredParam,
  type MirroredParams,
  readMirroredParams,
} from "../protocol/mirrored-params.js";
export { type Alias, methodAliases, versionAliases } from "../protocol/revisions/aliases.js";
export { revisionOf, revisions, versionsWithCode } from "../protocol/revisions/all.js";
export {
  type CodeCircumstances,
  type DescribedCode,
  describeErrorCode,
} from "../protocol/revisions/describe-error-code.js";
export type * from "../protocol/revisions/facts.js";
export { type MessageOptions, type Messages, messagesOf } from "../protocol/revisions/messages.js";
export type { BySender, Edition, Era, Revision, Step, StepOf } from "../protocol/revisions/revision.js";
export {
  checkShape,
  type MessagePart,
  type ShapeAdditions,
  type Shapes,
  shapesOf,
} from "../protocol/revisions/shapes.js";
export type { TypeChange, TypeChanges } from "../protocol/shapes/amend-shapes.js";
export type { RequestShape } from "../protocol/shapes/message-shapes.js";
export * as shape from "../protocol/shapes/shape.js";
export { describeFault, describeValue, type ShapeFault } from "../protocol/shapes/shape-fault.js";
export { loggingLevels } from "../protocol/types/logging.js";
export { isObjectSchema } from "../protocol/types/tools.js";
export { decodeUtf8 } from "../transport/framing/utf8.js";
