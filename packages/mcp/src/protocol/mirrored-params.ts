import { isObject, type JsonObject, kindOf, ownMember, pointerToken } from "../base/json.js";
import type { ParamsFault } from "../jsonrpc/errors.js";
import { ExactNumber } from "../jsonrpc/message.js";
import { excerpt } from "../jsonrpc/report.js";
import { decodeHeaderValue, encodeHeaderValue } from "./http-headers.js";
import { namedSchemas } from "./types/tools.js";

/** A schema annotation: the argument is also sent in a header, so that a proxy can route by it. */
const annotation = "x-mcp-header";

/** A tool argument that is also sent in a header. */
export interface MirroredParam {
  /** The header, e.g. `Mcp-Param-Region`. */
  readonly header: string;
  /** The member names that lead to the argument. */
  readonly path: readonly string[];
  /** The type of the argument, which decides how the header writes it. */
  readonly type: "string" | "integer" | "boolean";
}

/** The mirrored arguments of an `inputSchema`, or the faults of its annotations. */
export type MirroredParams =
  | {
      /** The arguments that are repeated in headers. */
      readonly params: readonly MirroredParam[];
    }
  | {
      /** `path` is a JSON pointer into the schema. */
      readonly faults: readonly ParamsFault[];
    };

/**
 * Reads which arguments of a tool are sent in headers.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#custom-headers-from-tool-parameters
 *
 * @example
 * readMirroredParams({ type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } });
 * // { params: [{ header: "Mcp-Param-Region", path: ["region"], type: "string" }] }
 */
export function readMirroredParams(inputSchema: unknown): MirroredParams {
  const params: MirroredParam[] = [];
  const faults: ParamsFault[] = [];
  const names = new Set<string>(); // In lower case, because header names are case-insensitive.
  for (const { schema, pointer, path } of annotated(inputSchema, "", [])) {
    const { [annotation]: name, type } = schema;
    const fault = nameFault(name, names) ?? placeFault(type, path);
    if (fault !== undefined) {
      faults.push({ path: `${pointer}/${annotation}`, message: `${annotation} ${fault}` });
    } else {
      names.add(String(name).toLowerCase());
      // `placeFault` has checked that both are present.
      params.push({ header: `Mcp-Param-${name}`, path: path ?? [], type: type as MirroredParam["type"] });
    }
  }
  return faults.length === 0 ? { params } : { faults };
}

/** Keywords with a schema or an array of schemas. */
const withSchemas: ReadonlySet<string> = new Set([
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "items", "prefixItems", "additionalItems", "contains"],
  ...["unevaluatedItems", "additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema"],
]);

interface PlacedSchema {
  readonly schema: JsonObject;
  readonly pointer: string;
  /** Undefined if the schema does not describe exactly one argument. */
  readonly path: readonly string[] | undefined;
}

/** The schemas with the annotation. Only `properties` leads to arguments. */
function* annotated(schema: unknown, pointer: string, path: PlacedSchema["path"]): Iterable<PlacedSchema> {
  if (!isObject(schema)) return;
  if (Object.hasOwn(schema, annotation)) yield { schema, pointer, path };
  for (const [keyword, value] of Object.entries(schema)) {
    const place = `${pointer}/${pointerToken(keyword)}`;
    if (namedSchemas.has(keyword) || (withSchemas.has(keyword) && Array.isArray(value))) {
      if (typeof value !== "object" || value === null) continue;
      for (const [name, each] of Object.entries(value)) {
        const inner = keyword === "properties" && path ? [...path, name] : undefined;
        yield* annotated(each, `${place}/${pointerToken(name)}`, inner);
      }
    } else if (withSchemas.has(keyword)) {
      yield* annotated(value, place, undefined);
    }
  }
}

/** The characters of a header name (RFC 9110 §5.6.2). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function nameFault(name: unknown, names: ReadonlySet<string>): string | undefined {
  if (typeof name !== "string") return `must be a string, got ${kindOf(name)}`;
  if (!token.test(name)) return `must be the name of a header, got ${excerpt(name)}`;
  return names.has(name.toLowerCase()) ? `names the header ${excerpt(name)} a second time` : undefined;
}

function placeFault(type: unknown, path: readonly string[] | undefined): string | undefined {
  if (path === undefined) return "must be on a property that only properties lead to";
  if (type === "string" || type === "integer" || type === "boolean") return undefined;
  return `must be on a string, an integer or a boolean, got ${shownType(type)}`;
}

function shownType(type: unknown): string {
  return type === undefined ? "no type" : `the type ${JSON.stringify(type)}`;
}

/** The header value for an argument; undefined if the argument is absent or not a scalar. */
export function mirrorOf({ path }: MirroredParam, args: unknown): string | undefined {
  const text = textOf(path.reduce(ownMember, args));
  return text === undefined ? undefined : encodeHeaderValue(text);
}

/**
 * Whether a header matches its argument. If there is no argument, there must be no header.
 *
 * @example
 * isMirrored({ header: "Mcp-Param-Region", path: ["region"], type: "string" }, { region: "eu" }, "eu"); // true
 */
export function isMirrored({ path, type }: MirroredParam, args: unknown, header: string | undefined): boolean {
  const argument = path.reduce(ownMember, args);
  const text = textOf(argument);
  if (text === undefined || header === undefined) return text === header;
  const told = decodeHeaderValue(header);
  if (type !== "integer" || typeof argument !== "number") return told === text;
  return told !== undefined && integer.test(told) && Number(told) === argument; // `42.0` equals 42.
}

const integer = /^-?\d+(?:\.0+)?$/;

/** Other types do not fit the argument's schema, and are rejected by its validation. */
function textOf(written: unknown): string | undefined {
  if (typeof written === "string") return written;
  const argument = written instanceof ExactNumber ? Number(written.text) : written;
  return typeof argument === "boolean" || Number.isSafeInteger(argument) ? String(argument) : undefined;
}
