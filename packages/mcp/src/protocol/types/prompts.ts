import type { JsonObject } from "../json.js";
import type { BaseMetadata, ContentBlock, Icon, Role } from "./content.js";
import type { InputResponseParams } from "./params.js";
import type { PaginatedResult, Result } from "./result.js";

/** A parameter of a prompt. */
export interface PromptArgument extends BaseMetadata {
  readonly description?: string;
  readonly required?: boolean;
}

/** A prompt template that a server offers to users. */
export interface Prompt extends BaseMetadata {
  readonly description?: string;
  readonly arguments?: readonly PromptArgument[];
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
}

/** One message of a prompt, with a single content block. */
export interface PromptMessage {
  readonly role: Role;
  readonly content: ContentBlock;
}

/** Result of `prompts/list`. */
export interface ListPromptsResult extends PaginatedResult {
  readonly prompts: readonly Prompt[];
}

/** Params of `prompts/get`. */
export interface GetPromptParams extends InputResponseParams {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, string>>;
}

/** Result of `prompts/get`. */
export interface GetPromptResult extends Result {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
}
