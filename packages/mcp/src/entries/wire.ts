/**
 * What crossed between a client and a server: its frames, its recording, and what the protocol says of it.
 *
 * @module
 */
import "../base/runtime.js";

export { carriedVerdict } from "../wire/carried-verdict.js";
export {
  type Comparison,
  type ComparisonOptions,
  compareConversations,
  comparisonSteps,
  type DefinitionChange,
  type DefinitionComparison,
  type ItemChange,
  type LatencyChange,
} from "../wire/compare.js";
export { type ComparedItem, statusOf, targetOf } from "../wire/compared.js";
export type { DefinitionList } from "../wire/contract.js";
export { Conversation, type ConversationOptions } from "../wire/conversation.js";
export type { Crash } from "../wire/crash.js";
export {
  type ComparableValue,
  canonicalJson,
  type Ignores,
  ignoring,
  significant,
  type ValueChange,
  volatilePointers,
} from "../wire/differences.js";
export type * from "../wire/entry.js";
export { type CutEvent, EventCutter } from "../wire/event-cutter.js";
export { headerOf } from "../wire/exchange.js";
export {
  type Aggregate,
  checkExpectation,
  type Expectation,
  type ExpectationResult,
  type ParsedExpectation,
  parseExpectation,
} from "../wire/filter/expectation.js";
export { type Field as FilterField, fields as filterFields } from "../wire/filter/fields.js";
export type { Filter, FilterFault, Operator, ParsedFilter, Pattern, Written } from "../wire/filter/filter.js";
export { compileFilter, type RowTest } from "../wire/filter/match.js";
export { type FilterContext, parseFilter } from "../wire/filter/parse.js";
export { printFilter } from "../wire/filter/print.js";
export { bytesOf, type Frame, frameOf, type Party, recordedBytes, type Sender, senderOf } from "../wire/frame.js";
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
} from "../wire/json-node.js";
export { type JsonFault, type JsonScan, scanJson } from "../wire/json-scan.js";
export { type CutLine, LineCutter } from "../wire/line-cutter.js";
export type {
  Exchange,
  HandshakePhase,
  MessageContext,
  MessageKind,
  Operation,
  Pairing,
  WireMessage,
} from "../wire/message.js";
export type { Pending, PendingState } from "../wire/pending.js";
export { type RecordOptions, recordChannel } from "../wire/record-channel.js";
export {
  type Damage,
  encodeEntry,
  type LinePlace,
  type Recording,
  RecordingDecoder,
  type RecordingItem,
  readRecording,
} from "../wire/recording.js";
export {
  coverCredentials,
  credentialWords,
  type Redacted,
  Redaction,
  redact,
  redactionWords,
  secretVariables,
} from "../wire/redact.js";
export {
  type Concern,
  concerns,
  defaultConcerns,
  type Placed,
  type Report,
  type ReportOptions,
  type ReportTally,
  reportOf,
} from "../wire/report.js";
export { junitOf } from "../wire/report-junit.js";
export { type SarifLog, type SarifTool, sarifOf } from "../wire/report-sarif.js";
export {
  crashWords,
  damageWords,
  emptyWords,
  expectationWords,
  gapWords,
  pendingWords,
  rangeWords,
  requirementWords,
  saysWithoutPlace,
  verdictPlace,
} from "../wire/report-words.js";
export { latencyOf, pairOf, type Row, type RowKind, sizeOf } from "../wire/row.js";
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
} from "../wire/rule.js";
export { rules } from "../wire/rules/all.js";
export type { SecretsOptions } from "../wire/secrets.js";
export type { ListedTool, WireSession } from "../wire/session.js";
export { TimedBytes, type TimedRun } from "../wire/timed-bytes.js";
export { describeVerdict, violations } from "../wire/violations.js";
