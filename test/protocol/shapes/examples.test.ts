import { readdirSync, readFileSync } from "node:fs";
import { latest } from "@parlance/mcp";
import { checkShape } from "@parlance/mcp/protocol";
import { describe, expect, test } from "vitest";
import { faultsOf, ShapeCompiler } from "../../../packages/mcp/src/protocol/shapes/checker.js";
import { map, ref, type Shape } from "../../../packages/mcp/src/protocol/shapes/shape.js";
import { hasSchemas } from "../revisions/published.js";
import { isObject } from "./mutation.js";
import { assertOfficial } from "./official.js";
import { definitionsOf } from "./schemas.js";

// The examples that are published with the newest schema: folders named after definitions, a JSON file for each.

const folder = new URL(`../../../../shared/schemas/${latest.version}/examples/`, import.meta.url);
const names = hasSchemas ? readdirSync(folder) : [];
const files = names.flatMap((name) => readdirSync(new URL(`${name}/`, folder)).map((file) => ({ name, file })));
const compiler = new ShapeCompiler(latest.shapes.types);

/** An example that its schema only takes because nothing in a result that asks is required. */
const stale = "read-resource-result-response.json";

/** Types that have another name with us, or none. */
const otherwise: ReadonlyMap<string, Shape> = new Map([
  ["InputRequests", map(ref("InputRequest"))],
  ["InputResponses", map(ref("InputResponse"))],
  ["UntitledSingleSelectEnumSchema", ref("StringSchema")],
  ["TitledSingleSelectEnumSchema", ref("StringSchema")],
  ["UntitledMultiSelectEnumSchema", ref("MultiSelectEnumSchema")],
  ["TitledMultiSelectEnumSchema", ref("MultiSelectEnumSchema")],
]);

describe.skipIf(!hasSchemas)("the published examples", () => {
  test("hold one that has no ttlMs and no cacheScope, which it needs", () => {
    const name = "ReadResourceResultResponse";
    expect(() => assertMessage(name, read(name, stale))).toThrow("/ttlMs: expected an integer ≥ 0, got nothing");
  });

  test.each(files.filter(({ file }) => file !== stale))("$name/$file", ({ name, file }) => {
    const value = read(name, file);
    if ("jsonrpc" in value) return assertMessage(name, value);
    if ("code" in value) return expect(checkShape(latest, { of: "error" }, value)).toEqual([]);
    const checker = compiler.compile(otherwise.get(name) ?? ref(name));
    expect(faultsOf(checker, value).found).toEqual([]);
  });
});

function read(name: string, file: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(readFileSync(new URL(`${name}/${file}`, folder), "utf8"));
  if (!isObject(value)) throw new Error(`${name}/${file} holds no object`);
  return value;
}

function assertMessage(name: string, message: Readonly<Record<string, unknown>>): void {
  const sender =
    name.endsWith("Response") || name.endsWith("Error") || isOfServer(message.method) ? "server" : "client";
  const answered = expectedMethod(name.replace(/ResultResponse$/, "Request"));
  assertOfficial(latest.version, sender, message, answered);
}

function isOfServer(method: unknown): boolean {
  return typeof method === "string" && !latest.requests.client.has(method) && latest.notifications.server.has(method);
}

/** The method of the request of that name. */
function expectedMethod(name: string): string {
  const method = definitionsOf(latest.version)[name]?.properties?.method?.const;
  return typeof method === "string" ? method : name;
}
