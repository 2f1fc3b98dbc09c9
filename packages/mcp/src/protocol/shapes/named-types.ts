import type { Literal, Members, ObjectShape, Shape, Types } from "./shape.js";

/** The changes of a type. */
export interface TypeChange {
  /** A replacement of the whole shape. */
  readonly becomes?: Shape;
  /** Removed members, or removed choices of a tagged type. */
  readonly lacks?: readonly string[];
  /** Renamed members: the new name by the former one. */
  readonly renames?: Readonly<Record<string, string>>;
  /** Added or replaced members. */
  readonly has?: Members;
  /** Added choices of a tagged type. */
  readonly allows?: readonly string[];
}

/** Changes or replacements of types, by name. */
export type TypeChanges = Readonly<Record<string, TypeChange | Shape>>;

/**
 * Applies changes to types.
 * @throws Error if a change has no effect on its type, so that mistakes are found
 */
export function amendTypes(types: Types, changes: TypeChanges): Types {
  const amended = Object.entries(changes).map(([name, change]): [string, Shape] => [
    name,
    "kind" in change ? change : (change.becomes ?? amend(name, types[name], change)),
  ]);
  return { ...types, ...Object.fromEntries(amended) };
}

function amend(name: string, shape: Shape | undefined, change: TypeChange): Shape {
  const { lacks = [], renames = {}, has, allows } = change;
  if (shape?.kind === "object" && allows === undefined) {
    expectAll(name, Object.keys(shape.members), [...lacks, ...Object.keys(renames)]);
    const kept = Object.entries(shape.members).filter(([member]) => !lacks.includes(member));
    const renamed = kept.map(([member, its]): [string, Shape] => [renames[member] ?? member, its]);
    return { ...shape, members: { ...Object.fromEntries(renamed), ...has } };
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

/** The type of a name. @throws Error if it is missing */
export function typeOf(types: Types, name: string, user = "a message"): Shape {
  const shape = Object.hasOwn(types, name) ? types[name] : undefined;
  if (shape === undefined) throw new Error(`There is no shape ${name}, which ${user} needs`);
  return shape;
}

/**
 * The members of an object, including those of its bases.
 * @param path the types that contain the object, outermost first
 * @throws Error if a base is missing, is not an object, or contains the object
 */
export function membersOf(types: Types, { bases, members }: ObjectShape, path: readonly string[] = []): Members {
  const inherited = bases.map((name): Members => {
    const base = typeOf(types, name, path.at(-1));
    if (base.kind !== "object") throw new Error(`The shape ${name} is no object, so nothing can extend it`);
    return membersOf(types, base, entered(path, name));
  });
  return Object.assign({}, ...inherited, members) as Members; // All sources are `Members`.
}

/** The path into a type. @throws Error if the type contains itself */
export function entered(path: readonly string[], name: string): readonly string[] {
  if (path.includes(name)) throw new Error(`The shape ${name} contains itself: ${path.join(" > ")}`);
  return [...path, name];
}

/** The literals that a type allows for its tag member; undefined if the member is optional. @throws Error without any */
export function tagsOf(types: Types, name: string, tag: string): readonly (Literal | undefined)[] {
  const read = (shape: Shape): readonly (Literal | undefined)[] => {
    if (shape.kind === "ref") return read(typeOf(types, shape.name));
    if (shape.kind === "anyOf") return [...new Set(shape.shapes.flatMap(read))];
    const member = shape.kind === "object" ? membersOf(types, shape)[tag] : undefined;
    if (member?.kind === "literal") return member.values;
    if (member?.kind === "optional" && member.shape.kind === "literal") return [undefined, ...member.shape.values];
    throw new Error(`The shape ${name} has no literal at ${tag}, by which it could be told from others`);
  };
  return read(typeOf(types, name));
}
