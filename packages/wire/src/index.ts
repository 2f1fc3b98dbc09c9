/**
 * What crossed between an MCP client and server: recordings, conversations, rules, filters, reports, redaction and the raw client.
 *
 * @module
 */

export {
  type Comparison,
  type ComparisonOptions,
  compareConversations,
  comparisonSteps,
  type DefinitionChange,
  type DefinitionComparison,
  type ItemChange,
  type LatencyChange,
} from "./compare/compare.js";
export { type ComparedItem, statusOf, targetOf } from "./compare/compared.js";
export type { DefinitionList } from "./compare/contract.js";
export {
  type ComparableValue,
  canonicalJson,
  type Ignores,
  ignoring,
  significant,
  type ValueChange,
  volatilePointers,
} from "./compare/differences.js";
export { Conversation, type ConversationOptions } from "./conversation/conversation.js";
export { headerOf } from "./conversation/exchange.js";
export type {
  HandshakePhase,
  HttpExchange,
  MessageContext,
  MessageKind,
  Pairing,
  RecordedOperation,
  WireMessage,
} from "./conversation/message.js";
export type { Pending, PendingState } from "./conversation/pending.js";
export { latencyOf, pairOf, type Row, type RowKind, sizeOf } from "./conversation/row.js";
export type { ListedTool, WireSession } from "./conversation/session.js";
export {
  type Aggregate,
  checkExpectation,
  type Expectation,
  type ExpectationResult,
  type ParsedExpectation,
  parseExpectation,
} from "./filter/expectation.js";
export { type Field as FilterField, fields as filterFields } from "./filter/fields.js";
export type { Filter, FilterFault, Operator, ParsedFilter, Pattern, Written } from "./filter/filter.js";
export { compileFilter, type RowTest } from "./filter/match.js";
export { type FilterContext, parseFilter } from "./filter/parse.js";
export { printFilter } from "./filter/print.js";
export {
  type ByteRange,
  childOf,
  type JsonArrayNode,
  type JsonMember,
  type JsonNode,
  type JsonObjectNode,
  type JsonScalarNode,
  jsonValue,
  literalOf,
  nodeAt,
  pointerAt,
  rangeOf,
} from "./json/json-node.js";
export { type JsonFault, type JsonScan, scanJson } from "./json/json-scan.js";
export { EntryWriter } from "./raw-client/entry-writer.js";
export { RawChannel, type RawTransport } from "./raw-client/raw-channel.js";
export {
  isErrorWithoutId,
  type RawClient,
  type RawOptions,
  type RawReply,
  type RawRequest,
  type RawResponse,
} from "./raw-client/raw-client.js";
export { RawHttp } from "./raw-client/raw-http.js";
export { BodyCutter, type BodyFrame } from "./recording/body-cutter.js";
export { recordedVerdict } from "./recording/carried-verdict.js";
export type * from "./recording/entry.js";
export { type CutEvent, EventCutter } from "./recording/event-cutter.js";
export { bytesOf, type Frame, frameOf, type Party, recordedBytes, type Sender, senderOf } from "./recording/frame.js";
export { type CutLine, LineCutter } from "./recording/line-cutter.js";
export { type RecordOptions, recordChannel } from "./recording/record-channel.js";
export {
  encodeEntry,
  type LinePlace,
  type Recording,
  type RecordingDamage,
  RecordingDecoder,
  type RecordingItem,
  readRecording,
} from "./recording/recording.js";
export { TimedBytes, type TimedRun } from "./recording/timed-bytes.js";
export {
  coverCredentials,
  credentialWords,
  describeRedaction,
  type Redacted,
  Redaction,
  redact,
  secretVariables,
} from "./redact/redact.js";
export type { SecretsOptions } from "./redact/secrets.js";
export type { Crash } from "./report/crash.js";
export {
  type CheckReport,
  type Concern,
  concerns,
  defaultConcerns,
  type PlacedVerdict,
  type ReportOptions,
  type ReportTally,
  reportOf,
} from "./report/report.js";
export { junitOf } from "./report/report-junit.js";
export { type SarifLog, type SarifTool, sarifOf } from "./report/report-sarif.js";
export {
  describeCrash,
  describeDamage,
  describeEmpty,
  describeExpectation,
  describeGap,
  describePending,
  describePlace,
  describeRange,
  describeRequirement,
  messageWithoutPlace,
} from "./report/report-words.js";
export { describeVerdict, violations } from "./report/violations.js";
export { rules } from "./rules/all.js";
export { byEra, inSchema, onMessages } from "./rules/citations.js";
export {
  type Clause,
  type Finding,
  type FrameReading,
  type Level,
  levelOf,
  levelOfFinding,
  type Requirement,
  type Rule,
  type Subjects,
  sentenceOf,
  specOf,
  type Verdict,
} from "./rules/rule.js";
