import { isObject, type JsonObject } from "../json.js";

/**
 * Converts a value to another shape. A pure function: it never changes its argument, leaves unknown parts alone, and
 * returns the same value if nothing changes.
 */
export type Reshape = (value: unknown) => unknown;

/** Returns the value unchanged. */
export const keep: Reshape = (value) => value;

/** Applies several reshapes in order. */
export function chain(reshapes: readonly Reshape[]): Reshape {
  const [first = keep, ...rest] = reshapes;
  if (rest.length === 0) return first;
  return (value) => {
    let reshaped = value;
    for (const reshape of reshapes) reshaped = reshape(reshaped);
    return reshaped;
  };
}

/** Applies a reshape to objects only. */
export function object(reshape: (value: JsonObject) => unknown): Reshape {
  return (value) => (isObject(value) ? reshape(value) : value);
}

/** Removes members of an object. */
export function without(...names: readonly string[]): Reshape {
  const rest = (value: JsonObject): unknown =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
  return object((value) => {
    for (const name of names) if (Object.hasOwn(value, name)) return rest(value);
    return value;
  });
}

/** Applies a reshape to one member of an object. */
export function within(name: string, reshape: Reshape): Reshape {
  return object((value) => {
    if (!Object.hasOwn(value, name)) return value;
    const member = reshape(value[name]);
    return Object.is(member, value[name]) ? value : { ...value, [name]: member };
  });
}

/** Applies a reshape to each element of an array. */
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

/** Applies a reshape to each member of an object. */
export function eachMember(reshape: Reshape): Reshape {
  return object((value) => {
    const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, reshape(member)]);
    return members.every(([name, member]) => Object.is(member, value[name])) ? value : Object.fromEntries(members);
  });
}
