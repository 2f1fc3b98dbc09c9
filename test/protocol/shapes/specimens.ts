import { isObject, placesIn, replaced, valueAt } from "./mutation.js";
import { plainNode } from "./plain-node.js";
import type { SchemaNode } from "./schema-node.js";

const strings: ReadonlyMap<string | undefined, string> = new Map([
  ["uri-reference", "file:///a"],
  ["uri-template", "file:///{path}"],
  ["byte", "AA=="],
]);

/** Values that fit a node of the schema of a version: every member, choice and word of it is in one of them. */
export function specimens(version: string, node: SchemaNode): readonly unknown[] {
  const plain = plainNode(version, node);
  if (plain.anyOf !== undefined) return plain.anyOf.flatMap((choice) => specimens(version, choice));
  if ("const" in plain) return [plain.const];
  if (plain.enum !== undefined) return plain.enum;
  return [plain.type ?? "object"].flat().flatMap((type): readonly unknown[] => {
    if (type === "object") return objects(version, plain);
    if (type === "array") return specimens(version, plain.items ?? {}).map((element) => [element]);
    if (type === "string") return [strings.get(plain.format) ?? "a"];
    return type === "null" ? [null] : [type === "boolean" ? true : type === "integer" ? 1 : 0.5];
  });
}

function objects(
  version: string,
  { properties = {}, required = [], additionalProperties }: SchemaNode,
): readonly unknown[] {
  const nodes = Object.entries(properties);
  // Where a schema says something of every member, there is one with a name that a pointer has to escape.
  if (typeof additionalProperties === "object") nodes.push(["a/b~c", additionalProperties]);
  const members = nodes.map(([name, node]) => [name, specimens(version, node)] as const);
  const most = Math.max(1, ...members.map(([, values]) => values.length));
  const full = Array.from({ length: most }, (_, turn) =>
    Object.fromEntries(members.map(([name, values]) => [name, values[turn % values.length]])),
  );
  const least = Object.fromEntries(
    members.filter(([name]) => required.includes(name)).map(([name, [first]]) => [name, first]),
  );
  return [...full, least];
}

const odd: readonly unknown[] = [undefined, null, true, -1, 1.5, "a b", [], {}];

/**
 * The specimens, and every value that is one of them but for one place. A place that looks like one before, among
 * neighbours that look the same, is passed over.
 */
export function* variations(values: readonly unknown[]): Generator<unknown> {
  const seen = new Set<string>();
  for (const value of values) {
    yield value;
    for (const path of placesIn(value)) {
      const place = JSON.stringify([path, outlineOf(valueAt(value, path.slice(0, -1)))]);
      if (seen.has(place)) continue;
      seen.add(place);
      const there = valueAt(value, path);
      const long =
        Array.isArray(there) && typeof there[0] === "string" ? [Array.from({ length: 101 }, () => there[0])] : [];
      for (const other of [...odd, ...long]) yield replaced(value, path, () => other);
    }
  }
}

/** A value without what is inside of its members. */
function outlineOf(value: unknown): unknown {
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, typeof member === "object" ? "…" : member]);
  return Object.fromEntries(members);
}
