import type { NotificationParams, RequestParams } from "./params.js";

/** The severities of RFC 5424, least severe first. */
export const loggingLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** The severity of a log message. */
export type LoggingLevel = (typeof loggingLevels)[number];

/** Narrows to a logging level. */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return loggingLevels.some((level) => level === value);
}

/** Params of `notifications/message`. */
export interface LoggingMessageParams extends NotificationParams {
  /** The severity. */
  readonly level: LoggingLevel;
  /** The name of the logger. */
  readonly logger?: string;
  /** Any JSON value: a text or an object. */
  readonly data: unknown;
}

/** Params of `logging/setLevel`. */
export interface SetLevelParams extends RequestParams {
  /** The lowest level to send. */
  readonly level: LoggingLevel;
}
