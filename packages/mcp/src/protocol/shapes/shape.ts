// The language of shapes. A shape is plain data: it can be checked, compared and printed, and a revision can change it.
// All objects are open: members that a shape does not name may be present with any value.

/** An additional format of a string. */
export type StringFormat = "uri" | "uri-template" | "base64";

/** A literal value. */
export type Literal = string | number | boolean | null;

/** Shapes by member name. A member is required unless its shape is optional. */
export type Members = Readonly<Record<string, Shape>>;

/** A number, optionally with bounds. */
export interface NumberShape {
  readonly kind: "number";
  /** Whether fractions are rejected. */
  readonly integer: boolean;
  /** The least value that is accepted. Default: none. */
  readonly minimum?: number;
  /** The greatest value that is accepted. Default: none. */
  readonly maximum?: number;
}

/** An object: the members of its bases, plus its own. */
export interface ObjectShape {
  readonly kind: "object";
  /** The names of the shapes whose members it has, too. */
  readonly bases: readonly string[];
  /** The members of its own. */
  readonly members: Members;
}

/** One of several object types, distinguished by a literal at one member. */
export interface TaggedShape {
  readonly kind: "tagged";
  /** The name of the member that selects a shape. */
  readonly tag: string;
  /** The names of the shapes to select from. */
  readonly choices: readonly string[];
}

/** The shape of a value. */
export type Shape =
  | { readonly kind: "any" }
  | { readonly kind: "boolean" }
  | {
      readonly kind: "string";
      /** The format of the string. Default: any. */
      readonly format?: StringFormat;
    }
  | NumberShape
  | {
      readonly kind: "literal";
      /** The accepted values. */
      readonly values: readonly Literal[];
    }
  | {
      readonly kind: "array";
      /** The shape of every element. */
      readonly of: Shape;
      /** The maximum number of elements. Default: any. */
      readonly most?: number;
    }
  | {
      readonly kind: "map";
      /** The shape of every value. */
      readonly of: Shape;
    }
  | ObjectShape
  | TaggedShape
  | {
      readonly kind: "anyOf";
      /** A description of the choices, for messages. */
      readonly expected: string;
      /** The shapes, one of which must match. */
      readonly shapes: readonly Shape[];
    }
  | {
      readonly kind: "optional";
      /** The shape of the member, where it is present. */
      readonly shape: Shape;
    }
  | {
      readonly kind: "ref";
      /** The name of the shape. */
      readonly name: string;
    };

/** Shapes by the type name in the specification. */
export type Types = Readonly<Record<string, Shape>>;

/** Any JSON value, including null. It must be present. */
export const any: Shape = { kind: "any" };

/** A boolean. */
export const boolean: Shape = { kind: "boolean" };

/** A string. */
export const string: Shape = { kind: "string" };

/** A URI with a scheme, as in RFC 3986. */
export const uri: Shape = { kind: "string", format: "uri" };

/** A URI template, as in RFC 6570. */
export const uriTemplate: Shape = { kind: "string", format: "uri-template" };

/** Bytes in base64, as in RFC 4648 §4. */
export const base64: Shape = { kind: "string", format: "base64" };

/** A number. */
export const number: Shape = { kind: "number", integer: false };

/** A number without a fraction; `1.0` is an integer. */
export const integer: Shape = { kind: "number", integer: true };

/** A non-negative integer. */
export const count: Shape = { kind: "number", integer: true, minimum: 0 };

/** A number from 0 to 1. */
export const fraction: Shape = { kind: "number", integer: false, minimum: 0, maximum: 1 };

/** One of these literal values. */
export function literal(...values: readonly Literal[]): Shape {
  return { kind: "literal", values };
}

/**
 * An array with elements of one shape.
 * @param most the maximum number of elements; default: no limit
 */
export function array(of: Shape, most?: number): Shape {
  return most === undefined ? { kind: "array", of } : { kind: "array", of, most };
}

/** An object with arbitrary member names and one shape for all values. */
export function map(of: Shape): Shape {
  return { kind: "map", of };
}

/** An object with these members. */
export function object(members: Members): Shape {
  return { kind: "object", bases: [], members };
}

/** An object with the members of the named types and with its own, which take precedence. */
export function extending(bases: readonly string[], members: Members = {}): Shape {
  return { kind: "object", bases, members };
}

/** One of the named object types, distinguished by the literal at the member `tag`. */
export function tagged(tag: string, choices: readonly string[]): Shape {
  return { kind: "tagged", tag, choices };
}

/**
 * Any of several shapes.
 * @param expected the choices in words, for a value that resembles none or several of them
 */
export function anyOf(expected: string, shapes: readonly Shape[]): Shape {
  return { kind: "anyOf", expected, shapes };
}

/** A shape that may be absent. */
export function optional(shape: Shape): Shape {
  return { kind: "optional", shape };
}

/** A reference to a type of that name in the revision at hand. */
export function ref(name: string): Shape {
  return { kind: "ref", name };
}
