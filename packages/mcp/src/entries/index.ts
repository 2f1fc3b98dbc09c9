/**
 * What servers and clients share: the revisions and the shapes of the protocol.
 *
 * @module
 */
export type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
export type { ContentBlock, Icon } from "../protocol/content.js";
export { type CodeReading, catalogueCodes, specCodes } from "../protocol/errors.js";
export type { Implementation } from "../protocol/implementation.js";
export type { LoggingLevel, LoggingMessageParams } from "../protocol/logging.js";
export { methods, notifications } from "../protocol/methods.js";
export type { ProgressParams } from "../protocol/progress.js";
export type { CallToolResult, Tool, ToolAnnotations } from "../protocol/tools.js";
export {
  handshakeVersions,
  latest,
  latestHandshake,
  revisionOf,
  revisions,
  statelessVersions,
  versions,
} from "../revisions/all.js";
export type { Era, Revision } from "../revisions/revision.js";
