import { isObject, type JsonObject, kindOf, pointerToken } from "../../base/json.js";
import type { SchemaLimits } from "../json-schema-validator.js";
import { SchemaError, shorten } from "../schema-error.js";
import {
  argumentProblem,
  type ByName,
  type Form,
  isNames,
  type Keywords,
  keywords,
  type NormalSchema,
  type NormalSubschema,
} from "./keywords.js";
import { isLinear, isValidPattern } from "./linear-pattern.js";
import { References, type Resource, type Target } from "./references.js";

/** The supported dialects. A document without `$schema` is read as 2020-12 with the older keywords allowed. */
export type Dialect = "2020-12" | "draft-07" | "unnamed";

const dialects: ReadonlyMap<unknown, Dialect> = new Map([
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
  ["http://json-schema.org/draft-07/schema", "draft-07"],
  ["https://json-schema.org/draft-07/schema", "draft-07"],
]);

/** The dialect that a document declares. Throws for an unsupported one. */
export function dialectOf(document: JsonObject): Dialect {
  return document.$schema === undefined ? "unnamed" : named(document.$schema, "");
}

/** Throws if a subschema declares another dialect than its document. */
function checkDialect(subschema: JsonObject, dialect: Dialect, pointer: string): void {
  const uri = subschema.$schema;
  if (uri === undefined || named(uri, pointer) === dialect) return;
  throw new SchemaError("dialect", `${pointer}/$schema`, "expected the dialect of the whole document, got another one");
}

function named(uri: unknown, pointer: string): Dialect {
  const dialect = dialects.get(typeof uri === "string" ? uri.replace(/#$/, "") : uri);
  if (dialect !== undefined) return dialect;
  const found = typeof uri === "string" ? JSON.stringify(shorten(uri)) : kindOf(uri);
  const problem = `expected JSON Schema 2020-12 or draft-07, got ${found}: convert the schema, or leave "$schema" out`;
  throw new SchemaError("dialect", `${pointer}/$schema`, problem);
}

/** Throws unless the root declares `type: "object"`, as the protocol requires for tool arguments. */
export function checkRoot(document: JsonObject): void {
  if (document.type === "object") return;
  const found = document.type === undefined ? withoutType(document) : `"type": ${JSON.stringify(document.type)}`;
  const remedy = 'write { type: "object", properties: { name: { type: "string" } } }, or an object schema of a library';
  throw new SchemaError("root", "", `expected "type": "object" at the root, got ${shorten(found)}: ${remedy}`);
}

function withoutType(document: JsonObject): string {
  const [keyword] = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const"].filter((name) =>
    Object.hasOwn(document, name),
  );
  return keyword === undefined ? "no type" : `${JSON.stringify(keyword)} without a type`;
}

/** The result of `normalise`. */
export interface NormalForm {
  readonly schema: NormalSchema;
  /** A JSON pointer into the document for each subschema. */
  readonly places: ReadonlyMap<NormalSchema, string>;
  /** JSON pointers to a peer's patterns that are not checked. */
  readonly unchecked: readonly string[];
}

/** Options of `normalise`. */
export interface NormalFormOptions {
  readonly dialect: Dialect;
  readonly trust: "author" | "peer";
  readonly formats: "assert" | "annotate";
  readonly limits: SchemaLimits;
}

/** A schema while it is built, keyword by keyword. */
type MutableSchema = { -readonly [Name in keyof Keywords]: Keywords[Name] } & Record<string, unknown>;

interface Place {
  readonly resource: Resource;
  readonly pointer: string;
  readonly depth: number;
}

interface Link {
  readonly node: MutableSchema;
  readonly keyword: string;
  readonly reference: string;
  readonly place: Place;
}

/** Keywords that are unknown to draft-07. */
const newer: ReadonlySet<string> = new Set([
  "$dynamicRef",
  "prefixItems",
  "unevaluatedItems",
  "unevaluatedProperties",
  "dependentRequired",
  "dependentSchemas",
  "minContains",
  "maxContains",
]);
/** Keywords that are unknown to 2020-12. */
const older: ReadonlySet<string> = new Set(["additionalItems", "dependencies"]);
/** Draft-07 ignores all keywords beside `$ref`. Definitions are still read, because references may point into them. */
const besideReference: ReadonlySet<string> = new Set(["$ref", "$defs", "definitions"]);
/** Keywords that invert: if their subschema accepts more, the whole schema accepts less. */
const inverting: ReadonlySet<string> = new Set(["not", "if", "oneOf", "contains"]);
/** The number of a peer's patterns that each member name is matched against. */
const mostPatternProperties = 16;

/**
 * Converts a frozen document to its normal form.
 * @throws SchemaError if the document is malformed or exceeds a limit
 */
export function normalise(document: JsonObject, options: NormalFormOptions): NormalForm {
  return new Normaliser(options).run(document);
}

class Normaliser {
  readonly #options: NormalFormOptions;
  readonly #references = new References();
  readonly #nodes = new Map<JsonObject, MutableSchema>();
  readonly #places = new Map<NormalSchema, string>();
  readonly #links: Link[] = [];
  readonly #unchecked: string[] = [];
  #inverts = false;

  constructor(options: NormalFormOptions) {
    this.#options = options;
  }

  run(document: JsonObject): NormalForm {
    const root = this.#node(document, { resource: this.#references.open(document), pointer: "", depth: 1 });
    const definitions: Record<string, NormalSubschema> = {};
    const names = new Map<unknown, string>([[document, "#"]]);
    // Resolving a link may append more links to this list.
    for (const link of this.#links) {
      const { schema, resource } = this.#target(link);
      const name = names.get(schema) ?? `#/$defs/${names.size}`;
      if (!names.has(schema)) {
        // The target was not visited because it lies outside the known keywords.
        const pointer = link.reference.slice(link.reference.indexOf("#") + 1);
        definitions[names.size] = this.#schema(schema, { resource, pointer, depth: 1 });
        names.set(schema, name);
      }
      connect(link, name);
    }
    if (names.size > 1) root.$defs = definitions;
    this.#judgeUnchecked();
    return { schema: root, places: this.#places, unchecked: this.#unchecked };
  }

  #target({ keyword, reference, place }: Link): Target {
    const { resource, pointer } = place;
    return keyword === "$ref"
      ? this.#references.resolve(reference, resource, pointer)
      : this.#references.resolveDynamic(reference, resource, pointer);
  }

  #schema(source: unknown, place: Place): MutableSchema | boolean {
    if (typeof source === "boolean") return source;
    if (isObject(source)) return this.#nodes.get(source) ?? this.#node(source, place);
    const problem = `expected a schema (an object or a boolean), got ${kindOf(source)}`;
    throw new SchemaError("malformed", place.pointer, problem);
  }

  #node(source: JsonObject, { resource: outer, pointer, depth }: Place): MutableSchema {
    const node: MutableSchema = {};
    this.#nodes.set(source, node);
    this.#places.set(node, pointer);
    const { subschemas, depth: deepest } = this.#options.limits;
    if (this.#nodes.size > subschemas) throw tooLarge(pointer, `expected at most ${subschemas} subschemas`);
    if (depth > deepest) throw tooLarge(pointer, `expected subschemas nested at most ${deepest} deep`);
    if (depth > 1) checkDialect(source, this.#options.dialect, pointer);
    const alone = this.#options.dialect === "draft-07" && Object.hasOwn(source, "$ref");
    const resource = alone ? outer : this.#references.declare(source, outer, pointer);
    for (const keyword of Object.keys(source)) {
      const form = keywords.get(keyword);
      if (form === undefined || this.#ignores(keyword) || (alone && !besideReference.has(keyword))) continue;
      this.#keyword(node, keyword, form, source[keyword], {
        resource,
        pointer: `${pointer}/${pointerToken(keyword)}`,
        depth: depth + 1,
      });
    }
    if (Array.isArray(node.items)) moveTuple(node);
    delete node.additionalItems;
    if (node.dependencies !== undefined) splitDependencies(node);
    return node;
  }

  #ignores(keyword: string): boolean {
    const { dialect, formats } = this.#options;
    if (keyword === "format") return formats === "annotate";
    return dialect === "draft-07" ? newer.has(keyword) : dialect === "2020-12" && older.has(keyword);
  }

  #keyword(node: MutableSchema, keyword: string, form: Form, argument: unknown, place: Place): void {
    if (inverting.has(keyword)) this.#inverts = true;
    const tuple = keyword === "items" && Array.isArray(argument);
    if (tuple && this.#options.dialect === "2020-12") {
      throw new SchemaError("malformed", place.pointer, 'expected a schema, got an array: a tuple is "prefixItems"');
    }
    const problem = argumentProblem(tuple ? "schemas" : form, argument);
    if (problem !== undefined) throw new SchemaError("malformed", place.pointer, problem);
    if (form === "declarations") {
      this.#map(argument as JsonObject, place);
    } else if (form === "reference") {
      this.#links.push({ node, keyword, reference: argument as string, place });
    } else if (form !== "pattern" || this.#mayRun(argument as string, place.pointer)) {
      node[keyword] =
        tuple || form === "schemas" ? this.#list(argument as unknown[], place) : this.#argument(form, argument, place);
    }
    if (keyword === "patternProperties") this.#judgeNames(Object.keys(argument as JsonObject), place.pointer);
  }

  /** A keyword's argument with its subschemas in normal form. Its type was checked before. */
  #argument(form: Form, argument: unknown, place: Place): unknown {
    if (form === "schema") return this.#schema(argument, place);
    if (form === "schema-map") return this.#map(argument as JsonObject, place);
    return form === "dependencies" ? this.#dependencies(argument as JsonObject, place) : argument;
  }

  #list(schemas: readonly unknown[], place: Place): NormalSubschema[] {
    return schemas.map((schema, index) => this.#schema(schema, below(place, index)));
  }

  #map(schemas: JsonObject, place: Place): ByName<NormalSubschema> {
    return mapMembers(schemas, (schema, key) => this.#schema(schema, below(place, key)));
  }

  #dependencies(dependencies: JsonObject, place: Place): JsonObject {
    return mapMembers(dependencies, (dependency, key) =>
      isNames(dependency) ? dependency : this.#schema(dependency, below(place, key)),
    );
  }

  /** True for a pattern that is checked; false for a peer's pattern that stays an annotation. */
  #mayRun(pattern: string, pointer: string): boolean {
    const { trust, limits } = this.#options;
    if (trust === "peer") {
      const runs = pattern.length <= limits.patternLength && isLinear(pattern);
      if (!runs) this.#unchecked.push(pointer);
      return runs;
    }
    if (isValidPattern(pattern)) return true;
    throw new SchemaError("pattern", pointer, "expected a regular expression that compiles with the u flag");
  }

  /** `patternProperties` also decides which members are additional, so its patterns cannot be ignored. */
  #judgeNames(patterns: readonly string[], pointer: string): void {
    if (this.#options.trust === "peer" && patterns.length > mostPatternProperties) {
      throw tooLarge(pointer, `expected at most ${mostPatternProperties} patterns`);
    }
    if (!patterns.every((pattern) => this.#mayRun(pattern, pointer))) throw unprovable(pointer);
  }

  /** Below an inverting keyword, an ignored pattern would make the schema reject valid values. */
  #judgeUnchecked(): void {
    const [first] = this.#unchecked;
    if (this.#inverts && first !== undefined) throw unprovable(first);
  }
}

function connect({ node, keyword }: Link, name: string): void {
  if (keyword === "$ref") {
    node.$ref = name;
  } else {
    // A schema may have both `$ref` and `$dynamicRef`: the dynamic one moves into `allOf`.
    node.allOf = [...(node.allOf ?? []), { $ref: name }];
  }
}

/** Draft-07 writes a tuple as an array under `items`, and the schema of the remaining items under `additionalItems`. */
function moveTuple(node: MutableSchema): void {
  // The types are those of the finished form; until here, both keywords have what draft-07 allows.
  const { items, additionalItems } = node as { items?: unknown; additionalItems?: NormalSubschema };
  node.prefixItems = items as readonly NormalSubschema[]; // Only called for an array.
  if (additionalItems === undefined) delete node.items;
  else node.items = additionalItems;
}

/** Splits `dependencies` of draft-07 into `dependentSchemas` and `dependentRequired`. */
function splitDependencies(node: MutableSchema): void {
  const dependencies = Object.entries(node.dependencies ?? {});
  const required = dependencies.flatMap(([name, each]) => (isNames(each) ? [[name, each] as const] : []));
  const schemas = dependencies.flatMap(([name, each]) => (isNames(each) ? [] : [[name, each] as const]));
  node.dependentRequired = { ...node.dependentRequired, ...Object.fromEntries(required) };
  node.dependentSchemas = { ...node.dependentSchemas, ...Object.fromEntries(schemas) };
  delete node.dependencies;
}

function below({ resource, pointer, depth }: Place, key: string | number): Place {
  return { resource, pointer: `${pointer}/${pointerToken(key)}`, depth };
}

function tooLarge(pointer: string, problem: string): SchemaError {
  return new SchemaError("too-large", pointer, problem);
}

function unprovable(pointer: string): SchemaError {
  const problem = "expected a regular expression that provably runs in linear time, as it cannot be left out here";
  return new SchemaError("pattern", pointer, problem);
}

/** Maps the values of an object. A member named `__proto__` is kept as an ordinary member. */
function mapMembers<T>(
  source: Readonly<Record<string, unknown>>,
  map: (value: unknown, key: string) => T,
): Record<string, T> {
  // `Object.fromEntries` instead of assignment: `copy["__proto__"] = value` would set the prototype.
  return Object.fromEntries(Object.entries(source).map(([key, value]) => [key, map(value, key)]));
}

/** The longest chain of references. Validators follow references recursively. */
const longestChain = 256;

/** The keywords whose subschemas apply to the same value. */
const inPlaceKeywords = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"] as const;

/**
 * Rejects a schema that applies too many subschemas to the same value: infinitely many if references form a cycle that
 * does not descend into the value, or exponentially many if each reference doubles the work of the next.
 */
export function checkExpansion({ schema, places }: NormalForm, most: number): void {
  /** The number of subschemas applied to one value, by schema; 0 while it is being computed. */
  const counts = new Map<NormalSchema, number>();
  const refuse = (reason: "endless" | "too-large", at: NormalSchema, problem: string): never => {
    throw new SchemaError(reason, places.get(at) ?? "", problem);
  };
  const count = (at: NormalSubschema, chain: number): number => {
    if (typeof at === "boolean") return 1;
    const known = counts.get(at);
    if (known === 0) return refuse("endless", at, '"$ref" leads back here without looking deeper into the value');
    if (known !== undefined) return known;
    if (chain > longestChain) return refuse("too-large", at, `expected at most ${longestChain} references in a row`);
    counts.set(at, 0);
    let total = 1;
    for (const inner of inPlace(at, schema)) {
      total += count(inner, chain + 1);
      if (total > most) refuse("too-large", at, `holds one value against more than ${most} subschemas`);
    }
    counts.set(at, total);
    return total;
  };
  for (const node of places.keys()) count(node, 0);
}

/** The subschemas that apply to the same value as `node`. */
function inPlace(node: NormalSchema, root: NormalSchema): readonly NormalSubschema[] {
  const target = node.$ref === undefined ? [] : [targetOf(node.$ref, root)];
  const inner = inPlaceKeywords.flatMap<NormalSubschema>((keyword) => node[keyword] ?? []);
  return [...target, ...inner, ...Object.values<NormalSubschema>(node.dependentSchemas ?? {})];
}

/** The schema that a `$ref` of a normal form points to. */
export function targetOf(reference: string, root: NormalSchema): NormalSubschema {
  return reference === "#" ? root : (root.$defs?.[reference.slice("#/$defs/".length)] ?? true);
}
