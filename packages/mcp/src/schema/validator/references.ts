import { type JsonObject, kindOf, valueAt } from "../../base/json.js";
import { SchemaError, shorten } from "../schema-error.js";

/** A schema with its own URI: the document, or a part of it with an `$id`. */
export interface Resource {
  readonly uri: string;
  readonly root: JsonObject;
}

/** The target of a reference. */
export interface Target {
  readonly schema: unknown;
  readonly resource: Resource;
}

/** The URI of a document without one: no reference from outside can name it. */
const unnamed = "schema:///";
const longestUri = 2_048;

/** Resolves references within one document. It never fetches another document. */
export class References {
  readonly #resources = new Map<string, Resource>();
  readonly #anchors = new Map<string, Target>();
  readonly #dynamicAnchors = new Map<string, number>();

  /** Registers the document itself, before its `$id` is read. */
  open(root: JsonObject): Resource {
    const resource = { uri: unnamed, root };
    this.#resources.set(unnamed, resource);
    return resource;
  }

  /** Registers a schema's `$id` and anchors. Returns the resource that references in it are relative to. */
  declare(schema: JsonObject, outer: Resource, pointer: string): Resource {
    const { $id, $anchor, $dynamicAnchor } = schema;
    const resource = $id === undefined ? outer : this.#identify(schema, $id, outer, pointer);
    for (const name of [$anchor, $dynamicAnchor]) {
      if (name !== undefined) this.#anchor(schema, name, resource, pointer);
    }
    if (typeof $dynamicAnchor === "string") {
      this.#dynamicAnchors.set($dynamicAnchor, 1 + (this.#dynamicAnchors.get($dynamicAnchor) ?? 0));
    }
    return resource;
  }

  /**
   * Resolves a reference.
   * @throws SchemaError if the target is outside the document or missing
   */
  resolve(reference: string, from: Resource, pointer: string): Target {
    const [uri = "", ...rest] = reference.split("#");
    const fragment = decodeFragment(rest.join("#"));
    const resource = uri === "" ? from : this.#resources.get(resolveUri(uri, from.uri) ?? "");
    if (resource === undefined) {
      const problem = `${quote(reference)} is outside this document, and nothing is fetched: put its schema under "$defs"`;
      throw new SchemaError("reference", pointer, problem);
    }
    const target = fragment === undefined ? undefined : this.#find(fragment, resource);
    if (target?.schema !== undefined) return target;
    throw new SchemaError("reference", pointer, `${quote(reference)} does not exist in this document`);
  }

  /**
   * Resolves a dynamic reference if only one anchor of that name exists in the document; otherwise the target depends
   * on the path by which the schema was reached, which is not supported.
   * https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.3.2
   */
  resolveDynamic(reference: string, from: Resource, pointer: string): Target {
    const name = reference.slice(reference.indexOf("#") + 1);
    if (!reference.includes("#") || (this.#dynamicAnchors.get(name) ?? 0) <= 1) {
      return this.resolve(reference, from, pointer);
    }
    const problem = `"$dynamicAnchor": ${quote(name)} is declared more than once, and a dynamic choice is not supported`;
    throw new SchemaError("unsupported", pointer, problem);
  }

  #find(fragment: string, resource: Resource): Target | undefined {
    if (fragment === "") return { schema: resource.root, resource };
    if (fragment.startsWith("/")) return { schema: valueAt(resource.root, fragment), resource };
    return this.#anchors.get(`${resource.uri}#${fragment}`);
  }

  #identify(schema: JsonObject, id: unknown, outer: Resource, pointer: string): Resource {
    if (typeof id !== "string" || id.length > longestUri) {
      const found = typeof id === "string" ? `one of ${id.length}` : kindOf(id);
      const problem = `expected a URI of at most ${longestUri} characters, got ${found}`;
      throw new SchemaError("malformed", `${pointer}/$id`, problem);
    }
    // Draft-07 writes an anchor as an `$id` with only a fragment.
    if (id.startsWith("#")) {
      if (id.length > 1) this.#anchor(schema, id.slice(1), outer, pointer);
      return outer;
    }
    const uri = resolveUri(id.replace(/#$/, ""), outer.uri);
    if (uri === undefined) throw new SchemaError("malformed", `${pointer}/$id`, `expected a URI, got ${quote(id)}`);
    if (this.#resources.has(uri)) throw new SchemaError("malformed", `${pointer}/$id`, `${quote(id)} is used twice`);
    const resource = { uri, root: schema };
    this.#resources.set(uri, resource);
    return resource;
  }

  #anchor(schema: JsonObject, name: unknown, resource: Resource, pointer: string): void {
    const key = `${resource.uri}#${String(name)}`;
    if (typeof name !== "string" || this.#anchors.get(key)?.schema === schema) return;
    if (this.#anchors.has(key)) throw new SchemaError("malformed", pointer, `the anchor ${quote(name)} is used twice`);
    this.#anchors.set(key, { schema, resource });
  }
}

function resolveUri(reference: string, base: string): string | undefined {
  try {
    return new URL(reference, base).href;
  } catch {
    return undefined; // Not a URI: the caller reports it.
  }
}

function decodeFragment(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined; // A malformed percent-encoding: no such place.
  }
}

function quote(text: string): string {
  return JSON.stringify(shorten(text));
}
