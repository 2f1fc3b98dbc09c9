import { describe, expect, test } from "vitest";
import { codes } from "../packages/mcp/src/jsonrpc/errors.js";
import {
  type CodeReading,
  catalogueCodes,
  codeReadings,
  explainMcpCode,
  specCodes,
  type Vocabulary,
} from "../packages/mcp/src/protocol/errors.js";
import { revisions, versions, versionsWithCode } from "../packages/mcp/src/revisions/all.js";
import { hasMethodTable, readMethodTable } from "./revisions/published.js";

const vocabularies: readonly Vocabulary[] = ["json-rpc", "specification", "catalogue", "wild"];

function inVocabulary(vocabulary: Vocabulary): readonly CodeReading[] {
  return codeReadings.filter((reading) => reading.vocabulary === vocabulary);
}

const summary = (code: number): readonly string[] =>
  explainMcpCode(code).map(({ vocabulary, name }) => `${vocabulary} ${name}`);

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
    const { tooManyRequests, ...standard } = codes;
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
    [42_900, ["json-rpc Too many requests"]],
    [Number.NaN, ["json-rpc Application error"]],
  ])("%d reads as %j", (code, readings) => {
    expect(summary(code)).toEqual(readings);
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
    expect(explainMcpCode(code)[0]?.name).toBe(name);
    expect(versionsWithCode(code).toReversed()).toEqual(having);
  }
});
