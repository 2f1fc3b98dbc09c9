import type { JsonObject } from "../json.js";
import type { AudioContent, ContentBlock, ImageContent, Role, TextContent } from "./content.js";
import type { RequestParams } from "./params.js";
import type { Tool } from "./tools.js";

/** A tool call requested by a model. */
export interface ToolUseContent {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly _meta?: JsonObject;
}

/** The result of a tool call. */
export interface ToolResultContent {
  readonly type: "tool_result";
  readonly toolUseId: string;
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

/** One content block of a sampling message. */
export type SamplingContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** One message of a sampling request. */
export interface SamplingMessage {
  readonly role: Role;
  readonly content: SamplingContentBlock | readonly SamplingContentBlock[];
  readonly _meta?: JsonObject;
}

/** Preferences for the choice of a model. Priorities are from 0 to 1. */
export interface ModelPreferences {
  /** Substrings of model names, the most preferred first. */
  readonly hints?: readonly { readonly name?: string }[];
  readonly costPriority?: number;
  readonly speedPriority?: number;
  readonly intelligencePriority?: number;
}

/** Params of `sampling/createMessage`. */
export interface CreateMessageParams extends RequestParams {
  readonly messages: readonly SamplingMessage[];
  readonly maxTokens: number;
  readonly modelPreferences?: ModelPreferences;
  readonly systemPrompt?: string;
  readonly includeContext?: "none" | "thisServer" | "allServers";
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  /** Passed on to the model provider. */
  readonly metadata?: JsonObject;
  readonly tools?: readonly Tool[];
  /** Default: `"auto"`. */
  readonly toolChoice?: { readonly mode?: "auto" | "required" | "none" };
}

/** Result of `sampling/createMessage`. */
export interface CreateMessageResult extends SamplingMessage {
  readonly model: string;
  /** `"endTurn"`, `"stopSequence"`, `"maxTokens"`, `"toolUse"`, or a value of the model provider. */
  readonly stopReason?: string;
}
