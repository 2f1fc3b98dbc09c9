import type { MessageShapes } from "./message-shapes.js";
import type { Members, Shape, Types } from "./shape.js";

/** How a type differs from what it is elsewhere. */
export interface TypeChange {
  /** Members that an object does not have, or types that a tagged one cannot be. */
  readonly lacks?: readonly string[];
  /** Members that an object has besides, or has otherwise. */
  readonly has?: Members;
  /** Types that a tagged one can be besides. */
  readonly allows?: readonly string[];
}

/** Types by name: how they differ, or all that they are. */
export type TypeChanges = Readonly<Record<string, TypeChange | Shape>>;

/** Messages whose types have changes. */
export function amendShapes(shapes: MessageShapes, changes: TypeChanges): MessageShapes {
  return { ...shapes, types: amendTypes(shapes.types, changes) };
}

/**
 * Types with changes.
 * @throws Error when a change does not fit its type, so that no change is without effect
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
