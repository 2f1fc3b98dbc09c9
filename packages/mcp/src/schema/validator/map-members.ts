/** Maps the values of an object. A member named `__proto__` is kept as an ordinary member. */
export function mapMembers<T>(
  source: Readonly<Record<string, unknown>>,
  map: (value: unknown, key: string) => T,
): Record<string, T> {
  // `Object.fromEntries` instead of assignment: `copy["__proto__"] = value` would set the prototype.
  return Object.fromEntries(Object.entries(source).map(([key, value]) => [key, map(value, key)]));
}
