import { isObject } from "../json.js";
import { cut } from "./columns.js";

const widest = 80;

/** What a message asks, in one line: its method, its target, and the arguments that go with it; or the text of noise. */
export function messageText(method: string | undefined, target: string | undefined, value: unknown): string {
  if (method === undefined)
    return typeof value === "string" ? cut(JSON.stringify(value), widest) : jsonText(value, widest);
  const params = isObject(value) && isObject(value.params) ? value.params : {};
  const args = params.arguments === undefined ? "" : jsonText(params.arguments, widest);
  return cut([method, target, args].filter((part) => part !== undefined && part !== "").join(" "), widest);
}

/** A value as JSON in at most so many columns. Integers that a double cannot hold are written as they are. */
export function jsonText(value: unknown, width: number): string {
  const marked = (_: string, each: unknown): unknown => (typeof each === "bigint" ? `\u0000${each}` : each);
  const text = JSON.stringify(value, marked) as string | undefined; // There is none of undefined.
  return cut(text?.replaceAll(/"\\u0000(-?\d+)"/g, "$1") ?? "nothing", width);
}
