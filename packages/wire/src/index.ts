/**
 * The messages between an MCP client and server: recordings, conversations, rules, filters, reports, redaction and the raw client.
 *
 * @module wire
 */

export { Comparable } from "./compare/comparable.js";
export { type Comparison, compareConversations, comparisonSteps } from "./compare/compare.js";
export { differencesOfMessages, statusOf, targetOf } from "./compare/compared.js";
export { canonicalJson, ignoring, significant } from "./compare/differences.js";
export { Conversation } from "./conversation/conversation.js";
export { headerOf } from "./conversation/exchange.js";
export type { RecordedOperation, WireMessage } from "./conversation/message.js";
export { latencyOf, pairOf, type Row, sizeOf } from "./conversation/row.js";
export { type Expectation, parseExpectation } from "./filter/expectation.js";
export { parseFilter } from "./filter/filter.js";
export { compileFilter } from "./filter/match.js";
export { literalOf, nodeAt } from "./json/json-node.js";
export { scanJson } from "./json/json-scan.js";
export { RawChannel } from "./raw-client/raw-channel.js";
export {
  EntryWriter,
  isErrorWithoutId,
  type RawClient,
  type RawReply,
  type RawRequest,
} from "./raw-client/raw-client.js";
export { RawHttp } from "./raw-client/raw-http.js";
export type { Entry, FrameEntry, HeaderEntry } from "./recording/entry.js";
export { bytesOf, recordedBytes, type Sender } from "./recording/frame.js";
export { BodyCutter, EventCutter, LineCutter } from "./recording/frame-cutters.js";
export { recordChannel } from "./recording/record-channel.js";
export {
  encodeEntry,
  type Recording,
  RecordingDecoder,
  type RecordingItem,
  readRecording,
} from "./recording/recording.js";
export {
  coverCredentials,
  describeRedaction,
  Redaction,
  redact,
  secretVariables,
} from "./redact/redact.js";
export { SignInCover } from "./redact/sign-in-cover.js";
export { type CheckReport, concerns, defaultConcerns, reportOf, violations } from "./report/report.js";
export { junitOf } from "./report/report-junit.js";
export { sarifOf } from "./report/report-sarif.js";
export { describeVerdict, wording } from "./report/report-words.js";
export { rules } from "./rules/all.js";
export { byEra, inSchema, onMessages } from "./rules/citations.js";
export {
  type Level,
  levelOf,
  levelOfFinding,
  type Requirement,
  type Rule,
  recordedVerdict,
  sentenceOf,
  specOf,
  type Verdict,
} from "./rules/rule.js";
