import type { JsonObject } from "../../base/json.js";

/** The severities of RFC 5424, least severe first. */
export const loggingLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** The severity of a log message. */
export type LoggingLevel = (typeof loggingLevels)[number];

/** Narrows to a logging level. */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return loggingLevels.some((level) => level === value);
}

/** Params of `notifications/message`. */
export interface LoggingMessageParams {
  /** The severity. */
  readonly level: LoggingLevel;
  /** The name of the logger. */
  readonly logger?: string;
  /** Any JSON value: a text or an object. */
  readonly data: unknown;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** Params of `logging/setLevel`. */
export interface SetLevelParams {
  /** The lowest level to send. */
  readonly level: LoggingLevel;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}
