import { isObject, type JsonObject, kindOf, pointerToken } from "../../base/json.js";
import type { SchemaLimits } from "../limits.js";
import { SchemaError } from "../schema-error.js";
import { checkDialect, type Dialect } from "./dialect.js";
import { argumentProblem, type Form, isNames, keywords } from "./keywords.js";
import { isLinear, isValidPattern } from "./linear-pattern.js";
import { mapMembers } from "./map-members.js";
import { References, type Resource, type Target } from "./references.js";

/**
 * A schema in the form that validators receive: JSON Schema 2020-12 with only the keywords that affect validity, each
 * with an argument of the right type. Objects are as `JSON.parse` returns them. Each `$ref` is `"#"` or
 * `"#/$defs/<number>"`; `$id`, `$anchor` and `$dynamicRef` are resolved and removed.
 */
export type NormalSchema = Readonly<Record<string, unknown>>;

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

type MutableSchema = Record<string, unknown>;

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
    const definitions: MutableSchema = {};
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

  #list(schemas: readonly unknown[], place: Place): unknown[] {
    return schemas.map((schema, index) => this.#schema(schema, below(place, index)));
  }

  #map(schemas: JsonObject, place: Place): NormalSchema {
    return mapMembers(schemas, (schema, key) => this.#schema(schema, below(place, key)));
  }

  #dependencies(dependencies: JsonObject, place: Place): NormalSchema {
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
    // A schema may have both `$ref` and `$dynamicRef`: the dynamic one moves into `allOf`. This module built `allOf`,
    // so it is an array.
    node.allOf = [...((node.allOf ?? []) as unknown[]), { $ref: name }];
  }
}

/** Draft-07 writes a tuple as an array under `items`, and the schema of the remaining items under `additionalItems`. */
function moveTuple(node: MutableSchema): void {
  const { items, additionalItems } = node;
  node.prefixItems = items;
  if (additionalItems === undefined) delete node.items;
  else node.items = additionalItems;
}

/** Splits `dependencies` of draft-07 into `dependentSchemas` and `dependentRequired`. */
function splitDependencies(node: MutableSchema): void {
  const dependencies = Object.entries(node.dependencies as NormalSchema);
  const required = dependencies.filter(([, dependency]) => isNames(dependency));
  const schemas = dependencies.filter(([, dependency]) => !isNames(dependency));
  node.dependentRequired = { ...(node.dependentRequired as object), ...Object.fromEntries(required) };
  node.dependentSchemas = { ...(node.dependentSchemas as object), ...Object.fromEntries(schemas) };
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
