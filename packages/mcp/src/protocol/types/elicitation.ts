import type { RequestParams } from "./params.js";

interface Labelled {
  /** The label of the field. */
  readonly title?: string | undefined;
  /** A description of the field, for the user. */
  readonly description?: string | undefined;
}

/** A text field. */
export interface StringSchema extends Labelled {
  readonly type: "string";
  /** The least number of characters. Default: 0. */
  readonly minLength?: number | undefined;
  /** The greatest number of characters. Default: any. */
  readonly maxLength?: number | undefined;
  /** The format of the text. Default: any. */
  readonly format?: "date" | "date-time" | "email" | "uri" | undefined;
  /** The value that the field begins with. */
  readonly default?: string | undefined;
}

/** A number field. */
export interface NumberSchema extends Labelled {
  /** Whether fractions are accepted. */
  readonly type: "number" | "integer";
  /** The least value. Default: any. */
  readonly minimum?: number | undefined;
  /** The greatest value. Default: any. */
  readonly maximum?: number | undefined;
  /** The value that the field begins with. */
  readonly default?: number | undefined;
}

/** A yes/no field. */
export interface BooleanSchema extends Labelled {
  readonly type: "boolean";
  /** The value that the field begins with. */
  readonly default?: boolean | undefined;
}

/** A value with a display name. */
export interface TitledConst {
  /** The value. */
  readonly const: string;
  /** The label to display. */
  readonly title: string;
}

/** A field with one of several values; `enumNames` is the older way to name them. */
export interface SingleSelectSchema extends Labelled {
  readonly type: "string";
  /** The values to choose from. */
  readonly enum?: readonly string[] | undefined;
  /** The labels of the values, in the same order. Newer revisions have `oneOf` instead. */
  readonly enumNames?: readonly string[] | undefined;
  /** The values to choose from, with labels. */
  readonly oneOf?: readonly TitledConst[] | undefined;
  /** The value that the field begins with. */
  readonly default?: string | undefined;
}

/** A field with any number of several values. */
export interface MultiSelectSchema extends Labelled {
  readonly type: "array";
  /** The values to choose from. */
  readonly items:
    | {
        readonly type: "string";
        /** The values, which are their own labels. */
        readonly enum: readonly string[];
      }
    | {
        /** The values, with labels. */
        readonly anyOf: readonly TitledConst[];
      };
  /** The least number of choices. Default: 0. */
  readonly minItems?: number | undefined;
  /** The greatest number of choices. Default: any. */
  readonly maxItems?: number | undefined;
  /** The values that the field begins with. */
  readonly default?: readonly string[] | undefined;
}

/** One field of a form. */
export type FieldSchema = StringSchema | NumberSchema | BooleanSchema | SingleSelectSchema | MultiSelectSchema;

/** A form: a flat object of simple fields. It is a JSON Schema, so it fits wherever one is taken. */
export interface FormSchema {
  readonly type: "object";
  /** The dialect of JSON Schema. Default: 2020-12. */
  readonly $schema?: string | undefined;
  /** The fields, by name. */
  readonly properties: Readonly<Record<string, FieldSchema>>;
  /** The names of the fields that must be filled in. Default: none. */
  readonly required?: readonly string[] | undefined;
  readonly [keyword: string]: unknown;
}

/** Params of an elicitation in form mode. */
export interface ElicitFormParams extends RequestParams {
  readonly mode?: "form";
  /** The question to display. */
  readonly message: string;
  /** The fields of the form. */
  readonly requestedSchema: FormSchema;
}

/** Params of an elicitation in URL mode. */
export interface ElicitUrlParams extends RequestParams {
  readonly mode: "url";
  /** The reason to display. */
  readonly message: string;
  /** The page to open, after the user has seen its host and agreed. */
  readonly url: string;
  /** The id of the elicitation. Exists in 2025-11-25 only. */
  readonly elicitationId?: string;
}

/** Params of `elicitation/create`. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams;

/**
 * Result of `elicitation/create`.
 *
 * @example
 * const handlers: InputHandlers = {
 *   elicitation({ message }) {
 *     if (message.startsWith("Delete")) return { action: "accept", content: { sure: true } };
 *     return { action: "accept", content: { name: "Ada" } };
 *   },
 * };
 */
export interface ElicitResult {
  /** The choice of the user: to submit, to refuse, or to dismiss. */
  readonly action: "accept" | "decline" | "cancel";
  /** The submitted values, if the user accepted. A handler may leave fields undefined: they are not sent. */
  readonly content?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>> | undefined;
}
