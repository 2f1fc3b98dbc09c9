import type { RequestParams } from "./params.js";

interface Labelled {
  readonly title?: string;
  readonly description?: string;
}

/** A line of text to fill in. */
export interface StringSchema extends Labelled {
  readonly type: "string";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: "date" | "date-time" | "email" | "uri";
  readonly default?: string;
}

/** A number to fill in. */
export interface NumberSchema extends Labelled {
  readonly type: "number" | "integer";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

/** Yes or no. */
export interface BooleanSchema extends Labelled {
  readonly type: "boolean";
  readonly default?: boolean;
}

/** A value, and its name for people. */
export interface TitledConst {
  readonly const: string;
  readonly title: string;
}

/** One of several values; `enumNames` is the older way to give them names. */
export interface SingleSelectSchema extends Labelled {
  readonly type: "string";
  readonly enum?: readonly string[];
  readonly enumNames?: readonly string[];
  readonly oneOf?: readonly TitledConst[];
  readonly default?: string;
}

/** Any of several values. */
export interface MultiSelectSchema extends Labelled {
  readonly type: "array";
  readonly items:
    | { readonly type: "string"; readonly enum: readonly string[] }
    | { readonly anyOf: readonly TitledConst[] };
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
}

/** One field of a form. */
export type FieldSchema = StringSchema | NumberSchema | BooleanSchema | SingleSelectSchema | MultiSelectSchema;

/** A form: a flat object of simple fields. */
export interface FormSchema {
  readonly type: "object";
  readonly $schema?: string;
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

/** Asks a person to fill in a form. */
export interface ElicitFormParams extends RequestParams {
  readonly mode?: "form";
  readonly message: string;
  readonly requestedSchema: FormSchema;
}

/** Sends a person to a web page. */
export interface ElicitUrlParams extends RequestParams {
  readonly mode: "url";
  readonly message: string;
  readonly url: string;
}

/** Params of `elicitation/create`. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams;

/** Result of `elicitation/create`. */
export interface ElicitResult {
  readonly action: "accept" | "decline" | "cancel";
  /** The filled-in form, if one was accepted. */
  readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}
