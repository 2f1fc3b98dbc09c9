import type { RequestParams } from "./params.js";

interface Labelled {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

/** A text field. */
export interface StringSchema extends Labelled {
  readonly type: "string";
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly format?: "date" | "date-time" | "email" | "uri" | undefined;
  readonly default?: string | undefined;
}

/** A number field. */
export interface NumberSchema extends Labelled {
  readonly type: "number" | "integer";
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly default?: number | undefined;
}

/** A yes/no field. */
export interface BooleanSchema extends Labelled {
  readonly type: "boolean";
  readonly default?: boolean | undefined;
}

/** A value with a display name. */
export interface TitledConst {
  readonly const: string;
  readonly title: string;
}

/** A field with one of several values; `enumNames` is the older way to name them. */
export interface SingleSelectSchema extends Labelled {
  readonly type: "string";
  readonly enum?: readonly string[] | undefined;
  readonly enumNames?: readonly string[] | undefined;
  readonly oneOf?: readonly TitledConst[] | undefined;
  readonly default?: string | undefined;
}

/** A field with any number of several values. */
export interface MultiSelectSchema extends Labelled {
  readonly type: "array";
  readonly items:
    | { readonly type: "string"; readonly enum: readonly string[] }
    | { readonly anyOf: readonly TitledConst[] };
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly default?: readonly string[] | undefined;
}

/** One field of a form. */
export type FieldSchema = StringSchema | NumberSchema | BooleanSchema | SingleSelectSchema | MultiSelectSchema;

/** A form: a flat object of simple fields. It is a JSON Schema, so it fits wherever one is taken. */
export interface FormSchema {
  readonly type: "object";
  readonly $schema?: string | undefined;
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[] | undefined;
  readonly [keyword: string]: unknown;
}

/** Params of an elicitation in form mode. */
export interface ElicitFormParams extends RequestParams {
  readonly mode?: "form";
  readonly message: string;
  readonly requestedSchema: FormSchema;
}

/** Params of an elicitation in URL mode. */
export interface ElicitUrlParams extends RequestParams {
  readonly mode: "url";
  readonly message: string;
  readonly url: string;
  /** The id of the elicitation. Exists in 2025-11-25 only. */
  readonly elicitationId?: string;
}

/** Params of `elicitation/create`. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams;

/** Result of `elicitation/create`. */
export interface ElicitResult {
  readonly action: "accept" | "decline" | "cancel";
  /** The submitted values, if the user accepted. */
  readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>> | undefined;
}
