import type { MessageShapes } from "./message-shapes.js";
import type { Members, Shape, Types } from "./shape.js";

/** The changes of a type from another revision. */
export interface TypeChange {
  /** Removed members, or removed choices of a tagged type. */
  readonly lacks?: readonly string[];
  /** Added or replaced members. */
  readonly has?: Members;
  /** Added choices of a tagged type. */
  readonly allows?: readonly string[];
}

/** Changes or replacements of types, by name. */
export type TypeChanges = Readonly<Record<string, TypeChange | Shape>>;

/** Applies type changes to messages. */
export function amendShapes(shapes: MessageShapes, changes: TypeChanges): MessageShapes {
  return { ...shapes, types: amendTypes(shapes.types, changes) };
}

/**
 * Applies changes to types.
 * @throws Error if a change has no effect on its type, so that mistakes are found
 */
export function amendTypes(types: Types, changes: TypeChanges): Types {
  const amended = Object.entries(changes).map(([name, change]): [string, Shape] => [
    name,
    "kind" in change ? change : amend(name, types[name], change),
  ]);
  return { ...types, ...Object.fromEntries(amended) };
}

function amend(name: string, shape: Shape | undefined, { lacks = [], has, allows }: TypeChange): Shape {
  if (shape?.kind === "object" && allows === undefined) {
    expectAll(name, Object.keys(shape.members), lacks);
    const kept = Object.entries(shape.members).filter(([member]) => !lacks.includes(member));
    return { ...shape, members: { ...Object.fromEntries(kept), ...has } };
  }
  if (shape?.kind === "tagged" && has === undefined) {
    expectAll(name, shape.choices, lacks);
    return { ...shape, choices: [...shape.choices.filter((choice) => !lacks.includes(choice)), ...(allows ?? [])] };
  }
  throw new Error(`The shape ${name} is ${shape?.kind ?? "not there"}: it cannot be changed that way`);
}

function expectAll(name: string, there: readonly string[], lacking: readonly string[]): void {
  const strange = lacking.filter((what) => !there.includes(what));
  if (strange.length > 0) throw new Error(`The shape ${name} never had ${strange.join(", ")}`);
}
