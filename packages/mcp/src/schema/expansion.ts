import type { NormalForm, NormalSchema } from "./normal-form.js";
import { SchemaError } from "./schema-error.js";

/** How many references in a row a value may be taken through. Validators follow them recursively. */
const longestChain = 256;

const inPlaceLists = ["allOf", "anyOf", "oneOf"] as const;
const inPlaceSchemas = ["not", "if", "then", "else"] as const;

/**
 * Refuses a schema that holds one value against too many subschemas before it looks any deeper into the value:
 * endlessly, where references lead in a circle, or exponentially often, where each doubles what the next one does.
 */
export function checkExpansion({ schema, places }: NormalForm, most: number): void {
  const definitions = schema.$defs as NormalSchema | undefined;
  /** How many subschemas one value meets below each schema; 0 while that is being found out. */
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

/** The subschemas that look at the same value as `node`. */
function inPlace(node: NormalSchema, root: NormalSchema, definitions: NormalSchema | undefined): readonly unknown[] {
  const { $ref } = node;
  const target = $ref === undefined ? [] : [$ref === "#" ? root : definitions?.[String($ref).slice("#/$defs/".length)]];
  const lists = inPlaceLists.flatMap((keyword) => (node[keyword] ?? []) as readonly unknown[]);
  const schemas = inPlaceSchemas.flatMap((keyword) => (node[keyword] === undefined ? [] : [node[keyword]]));
  return [...target, ...lists, ...schemas, ...Object.values(node.dependentSchemas ?? {})];
}
