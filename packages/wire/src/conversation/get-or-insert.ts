/** The value of a key; a key without a value first gets the one that `make` returns. */
export function getOrInsert<Key, Value>(map: Map<Key, Value>, key: Key, make: () => NoInfer<Value>): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = make();
  map.set(key, value);
  return value;
}
