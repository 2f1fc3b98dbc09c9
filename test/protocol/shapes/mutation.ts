// Mutations of a JSON value, at any place in it.

/** Where something stands in a value: the names and indexes that lead there. */
export type Path = readonly (string | number)[];

/** Every place in a value, that of the value itself first. */
export function placesIn(value: unknown, path: Path = []): readonly Path[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((element, index) => placesIn(element, [...path, index]))];
  if (!isObject(value)) return [path];
  return [path, ...Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]))];
}

/** The value at a place. */
export function valueAt(value: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined) return value;
  // Places are those of the value.
  return valueAt((value as Record<string | number, unknown>)[key], rest);
}

/** A copy of a value with something else at a place; with nothing there, if that is undefined. */
export function replaced(value: unknown, [key, ...rest]: Path, by: (there: unknown) => unknown): unknown {
  if (key === undefined) return by(value);
  if (Array.isArray(value)) {
    return value.flatMap((element: unknown, index) => {
      const other = index === key ? replaced(element, rest, by) : element;
      return other === undefined ? [] : [other];
    });
  }
  if (!isObject(value)) return value;
  const { [key]: there, ...others } = value;
  const other = replaced(there, rest, by);
  return other === undefined ? others : { ...others, [key]: other };
}

/** Narrows to a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
