/**
 * Protocol data for tools that read, check or create messages: methods, revisions, shapes, error codes, HTTP headers,
 * and a few functions for JSON and bytes. Servers and clients do not need it.
 *
 * @module protocol
 */
import "../base/runtime.js";

export { decodeBase64, encodeBase64 } from "../base/base64.js";
export { isObject, type JsonObject, kindOf, pointerToken } from "../base/json.js";
export { codeReadings } from "../protocol/errors.js";
export { decodeHeaderValue, encodeHeaderValue, mcpHeaders, namedBy } from "../protocol/http-headers.js";
export { metaKeys, readRequestMeta } from "../protocol/meta.js";
export { isAdvertised, methodCapabilities } from "../protocol/method-capabilities.js";
export { type Method, methods, notifications } from "../protocol/methods.js";
export { isMirrored, readMirroredParams } from "../protocol/mirrored-params.js";
export { methodAliases, versionAliases } from "../protocol/revisions/aliases.js";
export {
  describeErrorCode,
  isProtocolMethod,
  revisionOf,
  revisions,
  versionsWithCode,
} from "../protocol/revisions/all.js";
export { type Messages, messagesOf } from "../protocol/revisions/messages.js";
export type { Revision } from "../protocol/revisions/revision.js";
export { checkShape } from "../protocol/revisions/shapes.js";
export { describeFault, describeValue } from "../protocol/shapes/shape-fault.js";
export { loggingLevels } from "../protocol/types/logging.js";
export { isObjectSchema } from "../protocol/types/tools.js";
export { decodeUtf8 } from "../transport/framing/utf8.js";
