import fc from "fast-check";
import { isObject, placesIn, replaced, valueAt } from "./mutation.js";
import { plainNode } from "./plain-node.js";
import type { SchemaNode } from "./schema-node.js";
import { definitionsOf } from "./schemas.js";

// Values that a published schema takes, and values that are a little off.

const strings: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  ["uri-reference", ["file:///a", "https://example.com/a?b#c", "git:/diff/staged", "urn:x:y"]],
  ["uri-template", ["file:///{path}", "x://{+a}{?b,c*}", "plain"]],
  ["byte", ["", "AA==", "AAA=", "AAAA"]],
]);
const anything = fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 2, "", "a", [], ["a"], {}, { a: 1 });

/** Values that fit a node of the schema of a version. */
export function fitting(version: string, node: SchemaNode): fc.Arbitrary<unknown> {
  const plain = plainNode(version, node);
  if (plain.anyOf !== undefined) return fc.oneof(...plain.anyOf.map((choice) => fitting(version, choice)));
  if ("const" in plain) return fc.constant(plain.const);
  if (plain.enum !== undefined) return fc.constantFrom(...plain.enum);
  return fc.oneof(...[plain.type ?? (plain.properties ? "object" : "any")].flat().map(ofType));

  function ofType(type: string): fc.Arbitrary<unknown> {
    switch (type) {
      case "string":
        return fc.constantFrom(...(strings.get(plain.format) ?? ["", "a", "complete"]));
      case "integer":
        return fc.integer({ min: plain.minimum ?? -2, max: 3 });
      case "number":
        return fc.constantFrom(0, 0.5, 1, ...(plain.maximum === undefined ? [-1, 2.5] : []));
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      case "array":
        return fc.array(fitting(version, plain.items ?? {}), { maxLength: 2 });
      case "object":
        return objects(version, plain);
      default:
        return anything;
    }
  }
}

function objects(version: string, node: SchemaNode): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = node;
  const known = fc.record<Record<string, unknown>>(
    Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, fitting(version, member)])),
    { requiredKeys: required.filter((name) => name in properties) },
  );
  const of = typeof additionalProperties === "object" ? fitting(version, additionalProperties) : anything;
  const unknown = fc.dictionary(fc.constantFrom("x-a", "x/b~"), of, { maxKeys: 2 });
  return fc.tuple(unknown, known).map(([more, some]) => Object.assign({}, more, some));
}

type Change =
  | { readonly do: "drop" }
  | { readonly do: "add" }
  | { readonly do: "put"; readonly value: unknown }
  | { readonly do: "move"; readonly from: number };

/** Something that is done to one place in a value: the places are counted through, again and again. */
export interface Mutation {
  readonly at: number;
  readonly change: Change;
}

/** Mutations that know the words of the schema of a version. */
export function mutations(version: string): fc.Arbitrary<Mutation> {
  const odd = ["not a URI", "AAA", "{", Array.from({ length: 101 }, () => "a"), ...wordsOf(definitionsOf(version))];
  const put = fc.oneof(anything, fc.constantFrom<unknown>(...odd)).map((value): Change => ({ do: "put", value }));
  const change = fc.oneof<fc.Arbitrary<Change>[]>(
    fc.constantFrom<Change>({ do: "drop" }, { do: "add" }),
    put,
    fc.nat({ max: 200 }).map((from): Change => ({ do: "move", from })),
  );
  return fc.record({ at: fc.nat({ max: 200 }), change });
}

function wordsOf(node: unknown): readonly unknown[] {
  if (typeof node !== "object" || node === null) return [];
  const { const: word, enum: words = [] } = node as SchemaNode;
  const own = [word, ...(Array.isArray(words) ? words : [])].filter((one) => typeof one === "string");
  return [...new Set([...own, ...Object.values(node).flatMap(wordsOf)])];
}

/** A value with something done to it. */
export function mutate(value: unknown, { at, change }: Mutation): unknown {
  const places = placesIn(value);
  const path = places[at % places.length] ?? [];
  if (change.do === "put") return replaced(value, path, () => change.value);
  if (change.do === "add")
    return replaced(value, path, (there) => (isObject(there) ? { ...there, extra: [1] } : there));
  if (change.do === "drop") return replaced(value, path, () => undefined);
  return replaced(value, path, () => valueAt(value, places[change.from % places.length] ?? []));
}
