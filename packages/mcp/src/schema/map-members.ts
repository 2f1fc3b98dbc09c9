/** An object with the same members and other values. A member named `__proto__` stays a member like any other. */
export function mapMembers<T>(
  source: Readonly<Record<string, unknown>>,
  map: (value: unknown, key: string) => T,
): Record<string, T> {
  // Not by assignment: `copy["__proto__"] = value` would give the copy another prototype.
  return Object.fromEntries(Object.entries(source).map(([key, value]) => [key, map(value, key)]));
}
