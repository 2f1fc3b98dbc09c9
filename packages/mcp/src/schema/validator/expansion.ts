import { SchemaError } from "../schema-error.js";
import type { NormalForm, NormalSchema } from "./normal-form.js";

/** The longest chain of references. Validators follow references recursively. */
const longestChain = 256;

const inPlaceLists = ["allOf", "anyOf", "oneOf"] as const;
const inPlaceSchemas = ["not", "if", "then", "else"] as const;

/**
 * Rejects a schema that applies too many subschemas to the same value: infinitely many if references form a cycle that
 * does not descend into the value, or exponentially many if each reference doubles the work of the next.
 */
export function checkExpansion({ schema, places }: NormalForm, most: number): void {
  const definitions = schema.$defs as NormalSchema | undefined;
  /** The number of subschemas applied to one value, by schema; 0 while it is being computed. */
  const counts = new Map<unknown, number>();
  const refuse = (reason: "endless" | "too-large", at: unknown, problem: string): never => {
    throw new SchemaError(reason, places.get(at as NormalSchema) ?? "", problem);
  };
  const count = (at: unknown, chain: number): number => {
    if (typeof at === "boolean") return 1;
    const known = counts.get(at);
    if (known === 0) return refuse("endless", at, '"$ref" leads back here without looking deeper into the value');
    if (known !== undefined) return known;
    if (chain > longestChain) return refuse("too-large", at, `expected at most ${longestChain} references in a row`);
    counts.set(at, 0);
    let total = 1;
    for (const inner of inPlace(at as NormalSchema, schema, definitions)) {
      total += count(inner, chain + 1);
      if (total > most) refuse("too-large", at, `holds one value against more than ${most} subschemas`);
    }
    counts.set(at, total);
    return total;
  };
  for (const node of places.keys()) count(node, 0);
}

/** The subschemas that apply to the same value as `node`. */
function inPlace(node: NormalSchema, root: NormalSchema, definitions: NormalSchema | undefined): readonly unknown[] {
  const { $ref } = node;
  const target = $ref === undefined ? [] : [$ref === "#" ? root : definitions?.[String($ref).slice("#/$defs/".length)]];
  const lists = inPlaceLists.flatMap((keyword) => (node[keyword] ?? []) as readonly unknown[]);
  const schemas = inPlaceSchemas.flatMap((keyword) => (node[keyword] === undefined ? [] : [node[keyword]]));
  return [...target, ...lists, ...schemas, ...Object.values(node.dependentSchemas ?? {})];
}
