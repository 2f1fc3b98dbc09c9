import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { Validator } from "@cfworker/json-schema";
import type { Entry } from "@parlance/wire";
import { SaxesParser } from "saxes";
import { expect, test } from "vitest";
import { exampleEntries, recordingText } from "../../../wire/recording/example-recording.js";
import { header, opening, recorded } from "../../../wire/recording/recorded.js";
import { talkOf } from "../../../wire/rules/talk.js";
import { recordingFiles } from "../../recording-files.js";
import { parlance } from "../../run.js";

const text = recordingText(exampleEntries);
const cleanText = recordingText([header, ...recorded(...opening("2025-11-25"))]);

test.concurrent("a recording is judged: every violation has its line, its party, its place and its page", async ({
  onTestFinished,
}) => {
  const files = await recordingFiles(onTestFinished);
  const path = await files.write("run.parlance.jsonl", text);
  const { code, stdout } = await files.run("check", "run");
  expect(stdout.replaceAll(path, "run.parlance.jsonl")).toBe(`\
✖ 2 violations (S-2 ×1, R-5 ×1) · 2 notes · ✖ 1 crash · ✖ 1 request unanswered · 11 frames · 0 lost

✖ S-2  A server writes nothing but messages to stdout
  must: “The server MUST NOT write anything to its \`stdout\` that is not a valid MCP message.”
  https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
  run.parlance.jsonl:8  frame 7, server, bytes 0–17
    it is not JSON: expected a value at byte 1, but found "d"

ℹ I-2  A number fits into a double: most parsers keep 53 bits, and reformat numbers
  may: “numbers that are integers and are in the range [-(2**53)+1, (2**53)-1] are interoperable in the sense that implementations will agree exactly on their numeric values.”
  https://www.rfc-editor.org/rfc/rfc8259#section-6
  run.parlance.jsonl:9  frame 8, server, tools/call search, /result/big, bytes 82–101
    most readers make 12345678901234567000 of 12345678901234567890
  run.parlance.jsonl:10  frame 9, server, tools/call search, /result/big, bytes 82–101
    most readers make 12345678901234567000 of 12345678901234567890

✖ R-5  A response has the id of its request, including its type, and a request has one response
  must: “… responses MUST include the same ID as the request they correspond to …”
  https://modelcontextprotocol.io/specification/2025-11-25/basic#responses
  run.parlance.jsonl:10  frame 9, server, tools/call search, /id, byte 22
    the request with the id 7 was answered already, by frame 8

Crashed
  run.parlance.jsonl:15  the server exited with code 3 in the middle of tools/call sum (frame 12)

Unanswered
  run.parlance.jsonl:13  frame 12, id 9, tools/call sum: no response: the server exited with code 3
`);
  expect(code).toBe(2);
});

test.concurrent("a clean recording is clean", async ({ onTestFinished }) => {
  const files = await recordingFiles(onTestFinished);
  await files.write("clean.parlance.jsonl", cleanText);
  const { code, stdout } = await files.run("check", "last");
  expect(stdout).toBe("✔ no violations · 3 frames · 0 lost\n");
  expect(code).toBe(0);
});

test.concurrent("what a check fails on is chosen", async ({ onTestFinished }) => {
  const files = await recordingFiles(onTestFinished);
  await files.write("run.parlance.jsonl", text);
  const codes = await Promise.all(
    ["must", "pending", "should,may", "gap,damage"].map((words) => files.run("check", "last", "--fail-on", words)),
  );
  expect(codes.map(({ code }) => code)).toEqual([2, 2, 2, 0]);
  const wrong = await files.run("check", "last", "--fail-on", "worse");
  expect(wrong.stderr).toContain("There is no worse: choose from must,should,may,pending,crash,empty,gap,damage.");
  expect(wrong.code).toBe(1);
});

test.concurrent("an expectation that does not hold fails, and says what was found", async ({ onTestFinished }) => {
  const files = await recordingFiles(onTestFinished);
  await files.write("clean.parlance.jsonl", cleanText);
  const args = ["check", "last", "--expect", "count(kind:ntf)=1", "--expect", "count(tool:search)>=1"];
  const { code, stdout } = await files.run(...args);
  expect(stdout).toMatch(
    /\nExpected\n {2}✔ count\(kind:ntf\)=1 {2}found 1\n {2}✖ count\(tool:search\)>=1 {2}found 0\n$/,
  );
  expect(code).toBe(2);
  const wrong = await files.run("check", "last", "--expect", "count(colour:red)>=1");
  expect(wrong.stderr).toMatch(/no field "colour".*\n {2}│ count\(colour:red\)>=1\n {2}│ {7}\^\n/);
  expect(wrong.code).toBe(1);
});

test.concurrent("a recording is read from stdin, and from a file that gzip has made smaller", async ({
  onTestFinished,
}) => {
  const files = await recordingFiles(onTestFinished);
  await files.write("run.parlance.jsonl.gz", gzipSync(text));
  const packed = await files.run("check", "run", "--json");
  expect(JSON.parse(packed.stdout)).toMatchObject({ passed: false, frames: 11, damages: [] });
  const piped = files.start(["check", "-"], text);
  expect((await piped.ended).stdout).toMatch(/^ {2}stdin:8 {2}frame 7, server/m);
  const empty = await files.run("check", "-");
  expect(empty.stderr).toMatch(/^✖ stdin has no line of a recording\n/);
  expect(empty.code).toBe(6);
});

test.concurrent("a recording whose path has a space is no command line", async ({ onTestFinished }) => {
  const files = await recordingFiles(onTestFinished);
  const path = await files.write("my run.parlance.jsonl", text);
  expect(JSON.parse((await files.run("check", path, "--json")).stdout)).toMatchObject({ frames: 11, damages: [] });
});

test.concurrent("JSON has everything", async ({ onTestFinished }) => {
  const files = await recordingFiles(onTestFinished);
  await files.write("run.parlance.jsonl", text);
  const { stdout } = await files.run("check", "last", "--json", "--fail-on", "pending");
  expect(JSON.parse(stdout)).toMatchObject({
    passed: false,
    failedFor: ["pending"],
    frames: 11,
    unjudged: 0,
    lost: 0,
    verdicts: [
      {
        ...{ line: 8, rule: "S-2", level: "must", party: "server", n: 7, range: [0, 18] },
        sentence: "The server MUST NOT write anything to its `stdout` that is not a valid MCP message.",
        spec: "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio",
      },
      { line: 9, rule: "I-2", level: "may", pointer: "/result/big" },
      { line: 10, rule: "I-2" },
      { line: 10, rule: "R-5", party: "server", n: 9, pointer: "/id", range: [22, 23], version: "2025-11-25" },
    ],
    pending: [{ line: 13, n: 12, id: "9", method: "tools/call", over: true, state: "unanswered" }],
    crashes: [{ line: 15, n: 14, how: "exited with code 3", during: [12] }],
    damages: [],
  });
});

test.concurrent("SARIF is valid, and names the line and the rule", async ({ onTestFinished }) => {
  const schemaFile = new URL("../../../fixtures/sarif-schema-2.1.0.json", import.meta.url);
  const schema = JSON.parse(await readFile(schemaFile, "utf8")) as object;
  const files = await recordingFiles(onTestFinished);
  const gap: Entry = { k: "gap", t: 9, from: 8, to: 9, lost: 3, why: "the disk is full" };
  await files.write("run.parlance.jsonl", `${recordingText([...exampleEntries, gap])}broken\n`);
  const { stdout } = await files.run("check", "last", "--format", "sarif", "--expect", "count(nobody)>9");
  const log = JSON.parse(stdout) as {
    readonly runs: readonly [{ readonly results: readonly object[]; readonly tool: object }];
  };
  const validator = new Validator(schema, "4", false);
  expect(validator.validate(log).errors).toEqual([]);
  expect(validator.validate({ ...log, version: "2.0.0" }).valid).toBe(false);
  expect(log.runs[0].tool).toMatchObject({
    driver: {
      rules: [
        {
          id: "S-2",
          fullDescription: {
            text: "The server MUST NOT write anything to its `stdout` that is not a valid MCP message.",
          },
          helpUri: "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio",
        },
        { id: "I-2" },
        { id: "R-5" },
        { id: "pending" },
        { id: "crash" },
        { id: "gap" },
        { id: "damage" },
        { id: "expect" },
      ],
    },
  });
  expect(log.runs[0].results).toMatchObject([
    {
      ruleId: "S-2",
      level: "error",
      locations: [{ physicalLocation: { region: { startLine: 8 } } }],
      properties: { level: "must", sentence: expect.stringContaining("MUST NOT write anything") as unknown },
    },
    { ruleId: "I-2", level: "note" },
    { ruleId: "I-2" },
    { ruleId: "R-5", locations: [{ logicalLocations: [{ fullyQualifiedName: "/id" }] }] },
    { ruleId: "pending", level: "error" },
    { ruleId: "crash", level: "error", locations: [{ physicalLocation: { region: { startLine: 15 } } }] },
    {
      ruleId: "gap",
      level: "note",
      message: { text: "3 lines are missing between 0.008 s and 0.009 s: the disk is full" },
    },
    { ruleId: "damage", level: "error" },
    { ruleId: "expect", level: "error" },
  ]);
});

test.concurrent("JUnit is well-formed whatever a peer has sent, and a broken rule is a failed test", async ({
  onTestFinished,
}) => {
  const files = await recordingFiles(onTestFinished);
  const hostile = recorded(
    ...opening("2025-11-25"),
    '→ {"jsonrpc":"2.0","id":1,"method":"]]>\\u0000\\ud800<&\\"\\ufffe"}',
    "← ]]><!--&amp;\u0001",
  );
  await files.write("run.parlance.jsonl", recordingText([header, ...hostile]));
  const { stdout } = await files.run("check", "last", "--format", "junit", "--fail-on", "must,pending");
  const failed: string[] = [];
  let name = "";
  let tests = 0;
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name: tag, attributes }) => {
    if (tag === "testcase") {
      tests += 1;
      name = attributes.name ?? "";
    } else if (tag === "failure") failed.push(name);
    else if (tag === "testsuite") expect(Number(attributes.tests)).toBeGreaterThan(5);
  });
  parser.write(stdout).close();
  expect(failed).toEqual(["S-2 A server writes nothing but messages to stdout", "every request has an answer"]);
  expect(stdout).toContain(`tests="${tests}" failures="2"`);
  expect(stdout).toContain(
    "must: “The server MUST NOT write anything to its `stdout` that is not a valid MCP message.”",
  );
});

test.concurrent("for a word that is not a recording, the recordings are listed", async ({ onTestFinished }) => {
  const files = await recordingFiles(onTestFinished);
  await files.write("morning.parlance.jsonl", text);
  const { code, stderr } = await files.run("check", "mornign");
  expect(stderr).toMatch(
    /^✖ there is no file mornign, and no recording whose name begins so in .*\n {2}→ did you mean morning\?\n$/,
  );
  expect(code).toBe(1);
  const other = await parlance(["check", "package.json"]);
  expect(other.stderr).toMatch(/^✖ package.json is no recording/);
  expect(other.code).toBe(1);
});

test.concurrent("what model providers refuse in a definition is said where it is asked for, and fails nothing by itself", async ({
  onTestFinished,
}) => {
  const files = await recordingFiles(onTestFinished);
  const inputSchema = { type: "object", anyOf: [{ required: ["q"] }] };
  const talk = talkOf("2025-11-25");
  const said = [...talk.opening(), talk.list(1), talk.listed(1, [{ name: "search", inputSchema }])];
  await files.write("tools.parlance.jsonl", recordingText([header, ...recorded(...said)]));
  expect((await files.run("check", "tools")).stdout).not.toContain("K-2");
  const { code, stdout } = await files.run("check", "tools", "--portability");
  expect(stdout).toContain('Anthropic refuses anyOf at the top level, in the tool "search"');
  expect(stdout).toContain("/result/tools/0/inputSchema/anyOf");
  expect(code).toBe(0);
  expect((await files.run("check", "tools", "--portability", "--fail-on", "may")).code).toBe(2);
});
