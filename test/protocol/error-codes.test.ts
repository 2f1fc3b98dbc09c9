import { catalogueCodes, specCodes, versions } from "@parlance/mcp";
import { codes } from "@parlance/mcp/jsonrpc";
import { codeReadings, describeErrorCode, revisions, versionsWithCode } from "@parlance/mcp/protocol";
import { describe, expect, test } from "vitest";
import type { CodeReading, Vocabulary } from "../../packages/mcp/src/protocol/errors.js";
import type { CodeCircumstances } from "../../packages/mcp/src/protocol/revisions/all.js";
import { hasMethodTable, readMethodTable } from "./revisions/published.js";

const vocabularies: readonly Vocabulary[] = ["json-rpc", "specification", "catalogue", "wild"];

function inVocabulary(vocabulary: Vocabulary): readonly CodeReading[] {
  return codeReadings.filter((reading) => reading.vocabulary === vocabulary);
}

const summary = (code: number, circumstances?: CodeCircumstances): readonly string[] =>
  describeErrorCode(code, circumstances).map(({ vocabulary, name }) => `${vocabulary} ${name}`);

describe("the table of error codes", () => {
  test.each(vocabularies)("gives every code of the vocabulary %s one meaning", (vocabulary) => {
    const found = inVocabulary(vocabulary).map(({ code }) => code);
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found).size).toBe(found.length);
  });

  test("has every named constant, under its vocabulary", () => {
    const codesOf = (vocabulary: Vocabulary): readonly number[] => inVocabulary(vocabulary).map(({ code }) => code);
    expect(codesOf("specification").toSorted()).toEqual(Object.values(specCodes).toSorted());
    expect(codesOf("catalogue").toSorted()).toEqual(Object.values(catalogueCodes).toSorted());
    const { tooManyRequests, forbidden, requestCancelled, ...standard } = codes;
    expect(codesOf("json-rpc").toSorted()).toEqual(Object.values(standard).toSorted());
  });

  test("has the catalogue that tutorials teach", () => {
    expect(inVocabulary("catalogue").map(({ code, meaning }) => [code, meaning])).toEqual([
      [-32_001, "The tool does not exist"],
      [-32_002, "The tool ran and failed"],
      [-32_003, "The resource does not exist"],
      [-32_004, "The resource exists but cannot be read at the moment"],
      [-32_005, "The URI of the resource is malformed"],
      [-32_006, "The prompt does not exist"],
      [-32_007, "The caller may not do this"],
      [-32_008, "The caller calls too often"],
    ]);
  });

  test("says for every code that is not the specification's what to use instead", () => {
    const foreign = codeReadings.filter(({ vocabulary }) => vocabulary === "catalogue" || vocabulary === "wild");
    expect(foreign.filter(({ instead }) => instead === undefined)).toEqual([]);
  });

  test("has every code that a revision sends", () => {
    const named = new Set([...inVocabulary("json-rpc"), ...inVocabulary("specification")].map(({ code }) => code));
    const sent = revisions.flatMap((revision) => Object.values(revision.codes)).filter((code) => code !== undefined);
    expect(sent.filter((code) => !named.has(code))).toEqual([]);
  });
});

describe("a code explained", () => {
  test.each([
    [-32_002, ["specification ResourceNotFound", "catalogue ToolExecutionFailed"]],
    [-32_001, ["catalogue ToolNotFound", "wild SessionNotFound"]],
    [-32_003, ["catalogue ResourceNotFound", "wild MissingRequiredClientCapability"]],
    [-32_004, ["catalogue ResourceUnavailable", "wild UnsupportedProtocolVersion"]],
    [-32_005, ["catalogue InvalidResourceURI"]],
    [-32_000, ["wild ServerError"]],
    [-32_601, ["json-rpc MethodNotFound"]],
    [-32_022, ["specification UnsupportedProtocolVersion"]],
    [-32_042, ["specification URLElicitationRequired"]],
    [-1, ["specification UserRejected"]],
    [-32_019, ["specification Server error"]],
    [-32_020, ["specification HeaderMismatch"]],
    [-32_023, ["specification Reserved"]],
    [-32_099, ["specification Reserved"]],
    [-32_100, ["json-rpc Reserved"]],
    [-32_768, ["json-rpc Reserved"]],
    [-32_769, ["json-rpc Application error"]],
    [0, ["json-rpc Application error"]],
    [42_900, ["parlance Too many requests"]],
    [Number.NaN, ["json-rpc Application error"]],
  ])("%d reads as %j", (code, readings) => {
    expect(summary(code)).toEqual(readings);
  });

  // Tutorials teach the first column; deployed programs and drafts have made it mean the rest.
  test.each<[number, CodeCircumstances, readonly string[]]>([
    [-32_001, { method: "tools/call" }, ["catalogue ToolNotFound", "wild SessionNotFound"]],
    [-32_001, { method: "tools/list" }, ["wild SessionNotFound", "catalogue ToolNotFound"]],
    [-32_002, { method: "tools/call" }, ["catalogue ToolExecutionFailed", "specification ResourceNotFound"]],
    [-32_002, { method: "resources/read" }, ["specification ResourceNotFound", "catalogue ToolExecutionFailed"]],
    [
      -32_002,
      { method: "tools/call", data: { uri: "a:b" } },
      ["specification ResourceNotFound", "catalogue ToolExecutionFailed"],
    ],
    [-32_003, { revision: "2025-11-25" }, ["catalogue ResourceNotFound", "wild MissingRequiredClientCapability"]],
    [-32_003, { revision: "2026-07-28" }, ["wild MissingRequiredClientCapability", "catalogue ResourceNotFound"]],
    [-32_003, { method: "tools/call" }, ["wild MissingRequiredClientCapability", "catalogue ResourceNotFound"]],
    [
      -32_003,
      { data: { requiredCapabilities: {} } },
      ["wild MissingRequiredClientCapability", "catalogue ResourceNotFound"],
    ],
    [-32_004, { data: { supported: [] } }, ["wild UnsupportedProtocolVersion", "catalogue ResourceUnavailable"]],
    [
      -32_004,
      { data: Object.create({ supported: [] }) },
      ["catalogue ResourceUnavailable", "wild UnsupportedProtocolVersion"],
    ],
    [-32_004, { data: "supported" }, ["catalogue ResourceUnavailable", "wild UnsupportedProtocolVersion"]],
    [-32_004, { revision: "nonsense" }, ["catalogue ResourceUnavailable", "wild UnsupportedProtocolVersion"]],
  ])("%d with %j reads as %j", (code, circumstances, readings) => {
    expect(summary(code, circumstances)).toEqual(readings);
  });

  test("has no reading that circumstances leave out", () => {
    for (const { code } of codeReadings) {
      for (const revision of versions) {
        expect(summary(code, { revision, method: "tools/call" }).toSorted()).toEqual(summary(code).toSorted());
      }
    }
  });

  test("names the revisions of a reading, and none where it is not the specification's", () => {
    const told = describeErrorCode(-32_002).map(({ vocabulary, revisions: having }) => [vocabulary, having]);
    expect(told).toEqual([
      ["specification", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]],
      ["catalogue", []],
    ]);
  });

  test("names the status of HTTP and the members of data", () => {
    expect(describeErrorCode(-32_601)[0]).toMatchObject({ httpStatus: 404 });
    expect(describeErrorCode(-32_022)[0]).toMatchObject({ httpStatus: 400, data: ["supported", "requested"] });
    expect(describeErrorCode(-32_002)[0]).toMatchObject({ data: ["uri"] });
    expect(describeErrorCode(-32_002)[0]).not.toHaveProperty("httpStatus");
  });

  test("names the revisions that send it", () => {
    expect(versionsWithCode(-32_002)).toEqual(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    expect(versionsWithCode(-32_042)).toEqual(["2025-11-25"]);
    expect(versionsWithCode(-32_022)).toEqual(["2026-07-28"]);
    expect(versionsWithCode(-32_602)).toEqual(versions);
    expect(versionsWithCode(-32_008)).toEqual([]);
  });
});

test.skipIf(!hasMethodTable)("the codes of every revision are those of ../shared/reference, where it is there", () => {
  for (const { code, name, revisions: having } of readMethodTable().errors) {
    expect(describeErrorCode(code)[0]).toMatchObject({ name, revisions: having.toReversed() });
    expect(versionsWithCode(code).toReversed()).toEqual(having);
  }
});
