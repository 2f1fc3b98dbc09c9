// The words in which shapes are stated. A shape is plain data: it can be checked, compared, printed, and restated for
// another revision. Objects are open everywhere: a member that a shape does not name may be there and may be anything.

/** What a string must be besides a string. */
export type StringFormat = "uri" | "uri-template" | "base64";

/** What stands for itself. */
export type Literal = string | number | boolean | null;

/** Shapes by the name of a member. A member is required unless its shape is optional. */
export type Members = Readonly<Record<string, Shape>>;

/** A number, within bounds where it has some. */
export interface NumberShape {
  readonly kind: "number";
  readonly integer: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** An object: what the named types say of it, and on top of that its own members. */
export interface ObjectShape {
  readonly kind: "object";
  readonly bases: readonly string[];
  readonly members: Members;
}

/** One of several types of object, told apart by the literals that they have at one member. */
export interface TaggedShape {
  readonly kind: "tagged";
  readonly tag: string;
  readonly choices: readonly string[];
}

/** What a value looks like. */
export type Shape =
  | { readonly kind: "any" }
  | { readonly kind: "boolean" }
  | { readonly kind: "string"; readonly format?: StringFormat }
  | NumberShape
  | { readonly kind: "literal"; readonly values: readonly Literal[] }
  | { readonly kind: "array"; readonly of: Shape; readonly most?: number }
  | { readonly kind: "map"; readonly of: Shape }
  | ObjectShape
  | TaggedShape
  | { readonly kind: "anyOf"; readonly expected: string; readonly shapes: readonly Shape[] }
  | { readonly kind: "optional"; readonly shape: Shape }
  | { readonly kind: "ref"; readonly name: string };

/** Shapes by the name that the specification gives to the type. */
export type Types = Readonly<Record<string, Shape>>;

/** Any JSON value, null included, as long as there is one. */
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

/** A number without a fraction: `1.0` is one. */
export const integer: Shape = { kind: "number", integer: true };

/** An integer that counts something. */
export const count: Shape = { kind: "number", integer: true, minimum: 0 };

/** A number from 0 to 1. */
export const fraction: Shape = { kind: "number", integer: false, minimum: 0, maximum: 1 };

/** One of these values, and nothing else. */
export function literal(...values: readonly Literal[]): Shape {
  return { kind: "literal", values };
}

/**
 * An array of things of one shape.
 * @param most how many elements it may have; as many as one likes where it is left out
 */
export function array(of: Shape, most?: number): Shape {
  return most === undefined ? { kind: "array", of } : { kind: "array", of, most };
}

/** An object whose members have names that nobody knows beforehand, and one shape. */
export function map(of: Shape): Shape {
  return { kind: "map", of };
}

/** An object with these members. */
export function object(members: Members): Shape {
  return { kind: "object", bases: [], members };
}

/** An object with the members of the named types, and with these, which win where both have one. */
export function extending(bases: readonly string[], members: Members = {}): Shape {
  return { kind: "object", bases, members };
}

/** One of the named types of object, told apart by the literals that they have at the member `tag`. */
export function tagged(tag: string, choices: readonly string[]): Shape {
  return { kind: "tagged", tag, choices };
}

/**
 * Any of several shapes.
 * @param expected all of them in words, for a value that is like none of them, or like several
 */
export function anyOf(expected: string, shapes: readonly Shape[]): Shape {
  return { kind: "anyOf", expected, shapes };
}

/** That shape, or nothing at all. */
export function optional(shape: Shape): Shape {
  return { kind: "optional", shape };
}

/** The type of that name, as the revision has it. */
export function ref(name: string): Shape {
  return { kind: "ref", name };
}
