import type { SchemaNode } from "./schema-node.js";
import { definitionsOf } from "./schemas.js";

/**
 * A node of the schema of a version without references, without `allOf`, and with nothing beside `anyOf`. The nodes in
 * it may have them.
 */
export function plainNode(version: string, node: SchemaNode): SchemaNode {
  const { $ref, allOf, anyOf, ...rest } = node;
  const named = $ref === undefined ? [] : [definitionsOf(version)[$ref.split("/").at(-1) ?? ""] ?? {}];
  const parts = [...named, ...(allOf ?? [])].map((part) => plainNode(version, part));
  const whole = parts.reduce(both, rest);
  if (anyOf === undefined) return whole;
  return { anyOf: anyOf.map((choice) => both(whole, plainNode(version, choice))) };
}

/** Two plain nodes as one, as far as these schemas need it. */
function both(one: SchemaNode, other: SchemaNode): SchemaNode {
  if (other.anyOf !== undefined) return { anyOf: other.anyOf.map((choice) => both(one, choice)) };
  if (one.anyOf !== undefined) return { anyOf: one.anyOf.map((choice) => both(choice, other)) };
  const members = { ...one.properties, ...other.properties };
  for (const [name, member] of Object.entries(one.properties ?? {})) {
    const second = other.properties?.[name];
    if (second !== undefined) members[name] = { allOf: [member, second] };
  }
  const required = [...(one.required ?? []), ...(other.required ?? [])];
  return {
    ...one,
    ...other,
    ...(Object.keys(members).length > 0 && { properties: members }),
    ...(required.length > 0 && { required }),
  };
}
