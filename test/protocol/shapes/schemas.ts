import { readFileSync } from "node:fs";
import { type Schema, type SchemaDraft, Validator } from "@cfworker/json-schema";
import { corrections } from "./corrections.js";
import type { Definitions, SchemaNode } from "./schema-node.js";

// The published schemas as an oracle: which definitions say what a part of a message looks like, and what they say of
// a value. What they say wrong is corrected first; every correction has its reason in `corrections.ts`.

const folder = new URL("../../../../shared/schemas/", import.meta.url);

interface Published {
  readonly definitions: Definitions;
  readonly validators: Map<string, Validator>;
  readonly root: Schema;
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
  return { definitions, validators: new Map(), root, draft: modern ? "2020-12" : "7", pointer };
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
  const { validators, root, draft } = published(version);
  const key = JSON.stringify(node);
  const validator = validators.get(key) ?? new Validator({ ...root, allOf: [node] } as Schema, draft, false);
  validators.set(key, validator);
  return validator.validate(value).errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
}
