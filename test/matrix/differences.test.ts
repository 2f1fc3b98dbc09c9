import { versions } from "@parlance/mcp";
import { type Revision, revisionOf } from "@parlance/mcp/protocol";
import { describe, expect, test } from "vitest";
import { type Difference, differences, of, revisions } from "./differences.js";

/** A fact of the library, and what the table says of the same thing. */
type Fact = readonly [name: string, inLibrary: (revision: Revision) => unknown, inTable: (version: string) => unknown];

const has = (name: keyof typeof differences, member: string): Fact[2] => {
  return (version) => member in (of<unknown>(differences[name], version) as object);
};
const block = (kind: string): Fact[2] => {
  return (version) => of(differences.blocks, version)[kind]?.type;
};

/** How much of structured output there is. */
function structures(version: string): string {
  if (Array.isArray(of(differences.structuredArray, version).structuredContent)) return "any";
  return has("structuredObject", "structuredContent")(version) ? "object" : "none";
}

/** The input requests to a person. */
function elicitation(version: string): string {
  if (has("page", "elicitationId")(version)) return "form, url with id";
  if (has("page", "url")(version)) return "form, url";
  return has("form", "message")(version) ? "form" : "none";
}

/** The code of a call that needs an undeclared capability; the revisions without one have only the engine's. */
function lackingCode(version: string): unknown {
  const outcome = of(differences.lacking, version)({});
  return "error" in outcome ? outcome.error.code : undefined;
}

const facts: readonly Fact[] = [
  ["era", ({ era }) => era, (version) => of(differences.era, version)],
  ["codes.resourceNotFound", ({ codes }) => codes.resourceNotFound, (v) => of(differences.resourceNotFound, v)],
  ["codes.missing…", ({ codes }) => codes.missingRequiredClientCapability ?? codes.invalidRequest, lackingCode],
  ["titles", (revision) => revision.facts.titles, has("toolWords", "title")],
  ["itemMeta", (revision) => revision.facts.itemMeta, has("toolWords", "_meta")],
  ["icons", (revision) => revision.facts.icons, has("toolWords", "icons")],
  ["toolAnnotations", (revision) => revision.facts.toolAnnotations, has("toolWords", "annotations")],
  ["audio", (revision) => (revision.facts.audio ? "audio" : "text"), block("audio")],
  ["resourceLinks", (revision) => (revision.facts.resourceLinks ? "resource_link" : "text"), block("link")],
  ["structuredContent", (revision) => revision.facts.structuredContent, structures],
  ["progressMessage", ({ facts }) => facts.progressMessage, (v) => of(differences.progressMessage, v)[0] !== undefined],
  ["completionsCapability", (revision) => revision.facts.completionsCapability, has("capabilities", "completions")],
  [
    "completionContext",
    ({ facts }) => facts.completionContext,
    (version) => of(differences.absentParams, version)["completion/complete"] === undefined,
  ],
  ["elicitation", (revision) => revision.facts.elicitation, elicitation],
  ["samplingTools", ({ facts }) => facts.samplingTools, (version) => !("error" in of(differences.agent, version))],
  [
    "batches",
    (revision) => revision.facts.batches,
    (version) => of(differences.batch, version)["raw peer"].length === 2,
  ],
];

describe("what the tests call different", () => {
  test("is about every revision that there is", () => {
    expect([...revisions].reverse()).toEqual(versions);
  });

  test.each(Object.entries<Difference<unknown>>(differences))(
    "is different, and has a page: %s",
    (_name, { by, spec }) => {
      expect(new Set(Object.values(by)).size).toBeGreaterThan(1);
      expect(revisions.some((version) => spec.includes(`/specification/${version}/`))).toBe(true);
    },
  );

  test.each(facts)("is what the library takes for different: %s", (_name, inLibrary, inTable) => {
    const byLibrary = revisions.map((version) => [version, inLibrary(revisionOf(version) as Revision)]);
    expect(byLibrary).toEqual(revisions.map((version) => [version, inTable(version)]));
  });

  test.each(revisions)("are methods that %s does not have for clients, or no server here has", (version) => {
    const requests = revisionOf(version)?.requests.client;
    const refused = Object.keys(of(differences.refusedMethods, version));
    const optional = refused.filter((method) => requests?.has(method));
    expect(
      optional.every((method) => method.startsWith("tasks/")),
      optional.join(),
    ).toBe(true);
  });
});
