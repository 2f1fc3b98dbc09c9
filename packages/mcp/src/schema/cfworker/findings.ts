import type { OutputUnit, Schema } from "@cfworker/json-schema";
import { isObject } from "../../base/json.js";
import { keywords } from "../keywords.js";

/** A schema as the library has it, with what its references name. */
export interface Evaluated {
  readonly root: Schema;
  readonly lookup: Record<string, Schema | boolean>;
}

/** One thing that the library found wrong, with what it is about. */
export interface Finding {
  /** The keyword that failed, its argument, and the schema that it stands in. */
  readonly keyword: string;
  readonly argument: unknown;
  readonly schema: Schema;
  /** The keywords on the way to it. */
  readonly within: readonly string[];
  /** Where it stands in the schema, in the library's notation. */
  readonly location: string;
  /** Where in the value, and what is there. */
  readonly path: readonly string[];
  readonly value: unknown;
  /** What the library says about it. */
  readonly text: string;
}

/** Looks up what one unit of the library's output is about. */
export function findingOf(unit: OutputUnit, root: unknown, evaluated: Evaluated): Finding {
  const { keyword, keywordLocation: location, error: text } = unit;
  const { schema, within } = walk(tokensOf(location), evaluated);
  const path = tokensOf(unit.instanceLocation);
  // A rule for names is about the last token of the path, not about what stands there.
  const value = within.includes("propertyNames") ? path.at(-1) : valueAt(root, path);
  return { keyword, argument: schema[keyword], schema, within, location, path, value, text };
}

/** The tokens of a JSON pointer that is a URI fragment. */
function tokensOf(fragment: string): readonly string[] {
  const tokens = decodeURIComponent(fragment).split("/").slice(1);
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Follows a location down to the schema of its last token, which is a keyword. */
function walk(
  tokens: readonly string[],
  { root, lookup }: Evaluated,
): { readonly schema: Schema; readonly within: readonly string[] } {
  const within: string[] = [];
  let schema = root;
  for (let index = 0; index < tokens.length - 1; index += 1) {
    const keyword = tokens[index] ?? "";
    const form = keywords.get(keyword);
    const branches = form === "schemas" || form === "schema-map";
    if (branches) index += 1;
    const argument: unknown = keyword === "$ref" ? lookup[schema.$ref ?? ""] : schema[keyword];
    const next = branches ? member(argument, tokens[index]) : argument;
    schema = isObject(next) ? next : {};
    within.push(keyword);
  }
  return { schema, within };
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce(member, root);
}

/** A member of an object, or an item of an array by its index in text. */
function member(holder: unknown, key: string | undefined): unknown {
  if (typeof holder !== "object" || holder === null || key === undefined || !Object.hasOwn(holder, key))
    return undefined;
  return (holder as Record<string, unknown>)[key];
}
