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

/** A value as JSON in at most so many columns. */
export function jsonText(value: unknown, width: number): string {
  const exact = (_: string, each: unknown): unknown => (typeof each === "bigint" ? String(each) : each);
  return cut(JSON.stringify(value, exact) ?? "nothing", width);
}
