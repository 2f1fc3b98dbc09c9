import type { JsonObject } from "../../base/json.js";
import type { AudioContent, ContentBlock, ImageContent, Role, TextContent } from "./content.js";
import type { RequestParams } from "./params.js";
import type { Tool } from "./tools.js";

/** A tool call requested by a model. */
export interface ToolUseContent {
  readonly type: "tool_use";
  /** The id of the use, which its result repeats. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The arguments of the tool. */
  readonly input: JsonObject;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** The result of a tool call. */
export interface ToolResultContent {
  readonly type: "tool_result";
  /** The id of the tool use. */
  readonly toolUseId: string;
  /** The result, for the model. */
  readonly content: readonly ContentBlock[];
  /** The result as JSON. */
  readonly structuredContent?: unknown;
  /** Whether the tool failed. Default: false. */
  readonly isError?: boolean;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** One content block of a sampling message. */
export type SamplingContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** One message of a sampling request. */
export interface SamplingMessage {
  /** The speaker of the message. */
  readonly role: Role;
  /** The content: one block or several. */
  readonly content: SamplingContentBlock | readonly SamplingContentBlock[];
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** Preferences for the choice of a model. Priorities are from 0 to 1. */
export interface ModelPreferences {
  /** Substrings of model names, the most preferred first. */
  readonly hints?: readonly {
    /** A substring of a model name, such as `sonnet`. */
    readonly name?: string;
  }[];
  /** How much low cost matters, from 0 to 1. */
  readonly costPriority?: number;
  /** How much low latency matters, from 0 to 1. */
  readonly speedPriority?: number;
  /** How much capability matters, from 0 to 1. */
  readonly intelligencePriority?: number;
}

/** Params of `sampling/createMessage`. */
export interface CreateMessageParams extends RequestParams {
  /** The conversation so far, in order. */
  readonly messages: readonly SamplingMessage[];
  /** The greatest number of tokens to sample. */
  readonly maxTokens: number;
  /** Preferences for a model, which the client may ignore. */
  readonly modelPreferences?: ModelPreferences;
  /** The system prompt, which the client may change or leave out. */
  readonly systemPrompt?: string;
  /** The servers whose context is added. Default: `"none"`. */
  readonly includeContext?: "none" | "thisServer" | "allServers";
  /** The sampling temperature. Default: that of the client. */
  readonly temperature?: number;
  /** Texts that end the sampling. Default: none. */
  readonly stopSequences?: readonly string[];
  /** Passed on to the model provider. */
  readonly metadata?: JsonObject;
  /** The tools that the model may use. Only for clients with `sampling.tools`. */
  readonly tools?: readonly Tool[];
  /** Default: `"auto"`. */
  readonly toolChoice?: {
    /** Whether the model may, must or must not use tools. */
    readonly mode?: "auto" | "required" | "none";
  };
}

/** Result of `sampling/createMessage`. */
export interface CreateMessageResult extends SamplingMessage {
  /** The name of the model that answered. */
  readonly model: string;
  /** `"endTurn"`, `"stopSequence"`, `"maxTokens"`, `"toolUse"`, or a value of the model provider. */
  readonly stopReason?: string;
}
