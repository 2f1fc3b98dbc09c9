import { readFileSync } from "node:fs";
import { dereference, type Schema, type SchemaDraft, validate } from "@cfworker/json-schema";
import { corrections } from "./corrections.js";
import type { Definitions, SchemaNode } from "./schema-node.js";

// The published schemas as an oracle: which definitions say what a part of a message looks like, and what they say of
// a value. What they say wrong is corrected first; every correction has its reason in `corrections.ts`.

const folder = new URL("../../../../shared/schemas/", import.meta.url);

interface Published {
  readonly definitions: Definitions;
  /** The nodes that values were held against, by their JSON. */
  readonly nodes: Map<string, Schema>;
  /** Every node of the schema by its URI: it is made once, because that takes longer than to hold a value against a node. */
  readonly lookup: ReturnType<typeof dereference>;
  readonly draft: SchemaDraft;
  readonly pointer: string;
}

const cache = new Map<string, Published>();

function published(version: string): Published {
  const known = cache.get(version) ?? read(version);
  cache.set(version, known);
  return known;
}

function read(version: string): Published {
  const root = JSON.parse(readFileSync(new URL(`${version}/schema.json`, folder), "utf8")) as Schema;
  const modern = "$defs" in root;
  const pointer = modern ? "$defs" : "definitions";
  const definitions = root[pointer] as Definitions;
  for (const { versions, correct } of corrections) if (versions.includes(version)) correct(definitions);
  return { definitions, nodes: new Map(), lookup: dereference(root), draft: modern ? "2020-12" : "7", pointer };
}

/** The definitions of a version, corrected. */
export function definitionsOf(version: string): Definitions {
  return published(version).definitions;
}

/** A node that stands for a definition. */
export function refTo(version: string, definition: string): SchemaNode {
  return { $ref: `#/${published(version).pointer}/${definition}` };
}

/** The faults of a value by a node of the schema of a version. */
export function problemsOf(version: string, node: SchemaNode, value: unknown): readonly string[] {
  const { nodes, lookup, draft } = published(version);
  const key = JSON.stringify(node);
  const schema = nodes.get(key) ?? register({ allOf: [node] } as Schema, nodes.size, lookup);
  nodes.set(key, schema);
  const { errors } = validate(value, schema, draft, lookup, false);
  return errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
}

/** Resolves the references of a node within the schema whose nodes the lookup has. */
function register(node: Schema, at: number, lookup: Published["lookup"]): Schema {
  dereference(node, lookup, undefined, `/nodes/${at}`);
  return node;
}
