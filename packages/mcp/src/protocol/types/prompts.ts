import type { JsonObject } from "../../base/json.js";
import type { BaseMetadata, ContentBlock, Icon, Role } from "./content.js";
import type { InputResponseParams } from "./params.js";
import type { PaginatedResult, Result } from "./result.js";

/** A parameter of a prompt. */
export interface PromptArgument extends BaseMetadata {
  /** A description, for people. */
  readonly description?: string;
  /** Whether the argument must be given. Default: false. */
  readonly required?: boolean;
}

/** A prompt template that a server offers to users. */
export interface Prompt extends BaseMetadata {
  /** A description, for people. */
  readonly description?: string;
  /** The arguments. Default: none. */
  readonly arguments?: readonly PromptArgument[];
  /** Icons to display. */
  readonly icons?: readonly Icon[];
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** One message of a prompt, with a single content block. */
export interface PromptMessage {
  /** The speaker of the message. */
  readonly role: Role;
  /** The content of the message. */
  readonly content: ContentBlock;
}

/** Result of `prompts/list`. */
export interface ListPromptsResult extends PaginatedResult {
  /** The prompts of this page. */
  readonly prompts: readonly Prompt[];
}

/** Params of `prompts/get`. */
export interface GetPromptParams extends InputResponseParams {
  /** The name of the prompt. */
  readonly name: string;
  /** The values of the arguments, by name. */
  readonly arguments?: Readonly<Record<string, string>>;
}

/** Result of `prompts/get`. */
export interface GetPromptResult extends Result {
  /** A description, for people. */
  readonly description?: string;
  /** The messages, in order. */
  readonly messages: readonly PromptMessage[];
}
