import { isObject, type JsonObject } from "../../base/json.js";
import { membersOf, tagsOf, typeOf } from "../shapes/named-types.js";
import type { Shape, TaggedShape, Types } from "../shapes/shape.js";

/**
 * Converts a value to another shape. A pure function: it never changes its argument, leaves unknown parts alone, and
 * returns the same value if nothing changes.
 */
export interface Reshape {
  (value: unknown): unknown;
  /** Only objects with one of these members change. Undefined: any value may change. */
  readonly members?: ReadonlySet<string> | undefined;
}

/** Returns the value unchanged. */
export const keep: Reshape = Object.assign((value: unknown) => value, { members: new Set<string>() });

/** Applies several reshapes in order; undefined if there are none. */
export function inOrder(given: readonly (Reshape | undefined)[]): Reshape | undefined {
  const reshapes = given.filter((reshape) => reshape !== undefined);
  if (reshapes.length < 2) return reshapes[0];
  const all: Reshape = (value) => {
    let reshaped = value;
    for (const reshape of reshapes) reshaped = reshape(reshaped);
    return reshaped;
  };
  return Object.assign(all, { members: membersOfAll(reshapes) });
}

/** Applies a reshape to objects that have one of the members. */
export function having(names: readonly string[], reshape: (value: JsonObject) => unknown): Reshape {
  const some: Reshape = (value) => {
    if (!isObject(value)) return value;
    for (const name of names) if (Object.hasOwn(value, name)) return reshape(value);
    return value;
  };
  return Object.assign(some, { members: new Set(names) });
}

function membersOfAll(reshapes: readonly Reshape[]): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const { members } of reshapes) {
    if (members === undefined) return undefined;
    for (const name of members) names.add(name);
  }
  return names;
}

/** Renames members of an object. A member that has the new name already is kept. */
export function renamed(names: Readonly<Record<string, string>>): Reshape {
  const known = Object.entries(names);
  return having(Object.keys(names), (value) => {
    if (!known.some(([from, to]) => Object.hasOwn(value, from) && !Object.hasOwn(value, to))) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const to = Object.hasOwn(names, name) ? names[name] : undefined;
        return [to === undefined || Object.hasOwn(value, to) ? name : to, member];
      }),
    );
  });
}

/** Removes members of an object. */
export function without(...names: readonly string[]): Reshape {
  return having(names, (value) => Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))));
}

/** Applies a reshape to one member of an object. */
export function within(name: string, reshape: Reshape): Reshape {
  return having([name], (value) => {
    const member = reshape(value[name]);
    return Object.is(member, value[name]) ? value : { ...value, [name]: member };
  });
}

/** Applies a reshape to each element of an array. Every result passes through here, so nothing is made where nothing changes. */
export function eachElement(reshape: Reshape): Reshape {
  return (value) => {
    if (!Array.isArray(value)) return value;
    let changed: unknown[] | undefined;
    for (let index = 0; index < value.length; index += 1) {
      const element: unknown = value[index];
      const reshaped = reshape(element);
      if (Object.is(reshaped, element)) continue;
      changed ??= [...value];
      changed[index] = reshaped;
    }
    return changed ?? value;
  };
}

/** Applies a reshape to each member of an object. */
export function eachMember(reshape: Reshape): Reshape {
  return (value) => {
    if (!isObject(value)) return value;
    const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, reshape(member)]);
    return members.every(([name, member]) => Object.is(member, value[name])) ? value : Object.fromEntries(members);
  };
}

/**
 * Converts whole messages by the changes of their types: finds every place of a changed type in a shape, and applies its
 * change there, outer types first. Compiled once per shape; types without changes cost nothing.
 */
export class Converter {
  readonly #types: Types;
  readonly #changes: ReadonlyMap<string, Reshape>;
  readonly #named = new Map<string, Reshape | undefined>();

  /** @param changes the changes by type name */
  constructor(types: Types, changes: ReadonlyMap<string, Reshape>) {
    this.#types = types;
    this.#changes = changes;
  }

  /** The conversion of values of a shape; undefined if nothing in it changes. */
  compile(shape: Shape): Reshape | undefined {
    switch (shape.kind) {
      case "ref":
        return this.#type(shape.name);
      case "optional":
        return this.compile(shape.shape);
      case "array":
        return applied(this.compile(shape.of), eachElement);
      case "map":
        return applied(this.compile(shape.of), eachMember);
      case "object":
        return inOrder([
          ...shape.bases.map((base) => this.#type(base)),
          ...Object.entries(shape.members).map(([name, member]) =>
            applied(this.compile(member), (reshape) => within(name, reshape)),
          ),
        ]);
      case "tagged":
        return this.#tagged(shape);
      case "anyOf":
        return this.#anyOf(shape.shapes);
      default:
        return undefined;
    }
  }

  #type(name: string): Reshape | undefined {
    if (this.#named.has(name)) return this.#named.get(name);
    const conversion = inOrder([this.#changes.get(name), this.compile(typeOf(this.#types, name))]);
    this.#named.set(name, conversion);
    return conversion;
  }

  /** A value with an absent or unknown tag is converted as the first choice, for example a result without `resultType`. */
  #tagged({ tag, choices }: TaggedShape): Reshape | undefined {
    const conversions = choices.map((name) => this.#type(name) ?? keep);
    if (conversions.every((conversion) => conversion === keep)) return undefined;
    const byTag = new Map<unknown, Reshape>();
    for (const [index, conversion] of conversions.entries()) {
      for (const value of tagsOf(this.#types, choices[index] ?? "", tag)) byTag.set(value, conversion);
    }
    const [first = keep] = conversions;
    const chosen: Reshape = (value) => (isObject(value) ? (byTag.get(value[tag]) ?? first)(value) : value);
    return Object.assign(chosen, { members: membersOfAll(conversions) });
  }

  /** The first shape decides that a value has the required members of. */
  #anyOf(shapes: readonly Shape[]): Reshape | undefined {
    const choices = shapes.map((shape) => ({
      fits: resemblance(this.#types, shape),
      conversion: this.compile(shape) ?? keep,
    }));
    if (choices.every(({ conversion }) => conversion === keep)) return undefined;
    const fitting: Reshape = (value) => {
      for (const { fits, conversion } of choices) if (fits(value)) return conversion(value);
      return value;
    };
    return Object.assign(fitting, { members: membersOfAll(choices.map(({ conversion }) => conversion)) });
  }
}

function applied(conversion: Reshape | undefined, apply: (conversion: Reshape) => Reshape): Reshape | undefined {
  return conversion && apply(conversion);
}

/** A test whether a value is of the same kind as a shape and has its required members. */
function resemblance(types: Types, shape: Shape): (value: unknown) => boolean {
  switch (shape.kind) {
    case "ref":
      return resemblance(types, typeOf(types, shape.name));
    case "array":
      return Array.isArray;
    case "tagged":
    case "map":
      return isObject;
    case "object": {
      const required = Object.entries(membersOf(types, shape)).flatMap(([name, { kind }]) =>
        kind === "optional" ? [] : name,
      );
      return (value) => {
        if (!isObject(value)) return false;
        for (const name of required) if (value[name] === undefined) return false;
        return true;
      };
    }
    default:
      return () => true;
  }
}
