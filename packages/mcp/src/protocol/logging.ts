import type { JsonObject } from "./json.js";

/** The severities of RFC 5424, from least to most severe. */
export const loggingLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** How severe a log message is. */
export type LoggingLevel = (typeof loggingLevels)[number];

/** Narrows to a logging level. */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return loggingLevels.some((level) => level === value);
}

/** Params of `notifications/message`. */
export interface LoggingMessageParams {
  readonly level: LoggingLevel;
  readonly logger?: string;
  /** Anything JSON: a sentence, or an object. */
  readonly data: unknown;
  readonly _meta?: JsonObject;
}

/** Params of `logging/setLevel`. */
export interface SetLevelParams {
  readonly level: LoggingLevel;
  readonly _meta?: JsonObject;
}
