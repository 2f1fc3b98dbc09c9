import { isObject, type JsonObject } from "../protocol/json.js";

/**
 * Turns a value into another shape. Pure and total: it never changes its argument, leaves alone what it does not know,
 * and returns the very same value when there is nothing to change.
 */
export type Reshape = (value: unknown) => unknown;

/** Changes nothing. */
export const keep: Reshape = (value) => value;

/** One reshape after the other. */
export function chain(reshapes: readonly Reshape[]): Reshape {
  const [first = keep, ...rest] = reshapes;
  if (rest.length === 0) return first;
  return (value) => {
    let reshaped = value;
    for (const reshape of reshapes) reshaped = reshape(reshaped);
    return reshaped;
  };
}

/** Reshapes objects only. */
export function object(reshape: (value: JsonObject) => unknown): Reshape {
  return (value) => (isObject(value) ? reshape(value) : value);
}

/** An object without some of its members. */
export function without(...names: readonly string[]): Reshape {
  const rest = (value: JsonObject): unknown =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
  return object((value) => {
    for (const name of names) if (Object.hasOwn(value, name)) return rest(value);
    return value;
  });
}

/** Reshapes one member of an object. */
export function within(name: string, reshape: Reshape): Reshape {
  return object((value) => {
    if (!Object.hasOwn(value, name)) return value;
    const member = reshape(value[name]);
    return Object.is(member, value[name]) ? value : { ...value, [name]: member };
  });
}

/** Reshapes every element of an array. */
export function each(reshape: Reshape): Reshape {
  return (value) => {
    if (!Array.isArray(value)) return value;
    let changed = false;
    const elements = value.map((element: unknown) => {
      const reshaped = reshape(element);
      changed ||= !Object.is(reshaped, element);
      return reshaped;
    });
    return changed ? elements : value;
  };
}

/** Reshapes every member of an object, whatever its name. */
export function eachMember(reshape: Reshape): Reshape {
  return object((value) => {
    const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, reshape(member)]);
    return members.every(([name, member]) => Object.is(member, value[name])) ? value : Object.fromEntries(members);
  });
}
