import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { latest, latestHandshake, versions } from "@parlance/mcp";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { readRecording } from "@parlance/wire";
import { expect, onTestFinished, test } from "vitest";
import { inForm, isLong } from "../../../testing/forms.js";
import { fixture, jsonLines, parlance } from "../../run.js";

const tools = fixture("tools-server.js");
const misbehaving = fixture("misbehaving-server.js");

/** The parts of `--json` that these tests read. */
interface Examined {
  readonly passed: boolean;
  readonly verdicts: readonly { readonly rule: string; readonly level: string }[];
  readonly revisions: readonly {
    readonly version: string;
    readonly spoken: boolean;
    readonly probes: readonly { readonly id: string; readonly is: string; readonly says?: string }[];
  }[];
}

function examined(stdout: string): Examined {
  const [value] = jsonLines(stdout);
  return value as unknown as Examined; // Its own output, asserted on below.
}

test("a server that keeps the rules passes in every revision, on stdio", async () => {
  // The short form has two of them: over HTTP there are all.
  const checked = inForm({ long: versions.toReversed(), short: [latestHandshake.version, latest.version] });
  const chosen = isLong ? [] : checked.flatMap((version) => ["--revision", version]);
  const { code, stdout } = await parlance([
    "check",
    "--json",
    "--timeout",
    "60s",
    ...chosen,
    "--",
    process.execPath,
    tools,
  ]);
  const { passed, revisions, verdicts } = examined(stdout);
  expect(revisions.map(({ version, spoken }) => [version, spoken])).toEqual(checked.map((version) => [version, true]));
  expect(revisions.flatMap(({ probes }) => probes.filter(({ is }) => is === "failed"))).toEqual([]);
  expect(verdicts.filter(({ level }) => level === "must")).toEqual([]);
  expect([passed, code]).toEqual([true, 0]);
});

test("a server that keeps the rules passes in every revision, over HTTP, where there are more", async () => {
  const server = createServer({ name: "listening", version: "1" });
  server.tool("now", { annotations: { readOnlyHint: true } }, () => "noon");
  const http = await serveHttp(server, { port: 0 });
  try {
    const { code, stdout } = await parlance(["check", "--json", http.url]);
    const { revisions, verdicts } = examined(stdout);
    expect(revisions.flatMap(({ probes }) => probes.filter(({ is }) => is === "failed"))).toEqual([]);
    expect(revisions.at(-1)?.probes.map(({ id }) => id)).toContain("XH-7");
    // 2024-11-05 has no annotations, and the tool ran in the others.
    expect((await parlance(["check", http.url])).stdout).not.toContain("no tool ran");
    expect(verdicts.filter(({ level }) => level === "must")).toEqual([]);
    expect(code).toBe(0);
  } finally {
    await http.close();
  }
});

test("the text shows what fails the check: a note that --fail-on names, and an expectation", async () => {
  const expected = ["--expect", "count(method:ping)>=1", "--expect", "count(method:ping)>=1000000"];
  const options = ["--revision", "2025-03-26", "--timeout", "60s", "--fail-on", "must,should,may", ...expected];
  const { code, stdout } = await parlance(["check", ...options, "--", process.execPath, tools], { COLUMNS: "120" });
  expect(code).toBe(2);
  expect(stdout).toMatch(/^ {2}ℹ R-13 .*\n(?: {10}.*\n)+? {10}https/m);
  expect(stdout).not.toMatch(/frames? \d+(?:–\d+)?(?:, | {2}http)/); // No recording has them.
  expect(stdout).toMatch(/^ {2}✔ count\(method:ping\)>=1 /m);
  expect(stdout).toMatch(/^ {2}✖ count\(method:ping\)>=1000000 /m);
  expect(stdout).toMatch(
    /^✖ 1 revision · .* 0 violations in its messages · [1-9]\d* notes in its messages · 1 expectation not met\n/m,
  );
  expect(stdout).toContain("\n  --record <file> keeps the conversation that shows it\n");
});

test("the revisions that are left when a server at a URL dies are not said to be unknown to it", async () => {
  const script = `
    require("node:http").createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => (text += chunk)).on("end", () => {
        const { id, method, params } = JSON.parse(text); // Invalid JSON ends the process.
        const serverInfo = { name: "fragile", version: "1" };
        const result = method === "initialize" ? { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo } : {};
        response.writeHead(id === undefined ? 202 : 200, { "content-type": "application/json" });
        response.end(id === undefined ? "" : JSON.stringify({ jsonrpc: "2.0", id, result }));
      });
    }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  const versions = ["--revision", "2025-06-18", "--revision", "2025-11-25"];
  const { code, stdout } = await parlance(["check", ...versions, `http://127.0.0.1:${String(port).trim()}/mcp`]);
  child.kill();
  expect(stdout).toMatch(/^2025-06-18 {2}\d+ of \d+ passed/m);
  expect(stdout).toContain("2025-11-25  not examined: the server has not responded since XM-5 in 2025-06-18\n");
  expect(stdout).toContain("\n  start the server again to examine the rest\n");
  expect(code).toBe(2);
});

test("a crash a moment after a probe is a failure of that probe, with what the server said on stderr", async () => {
  const { code, stdout } = await parlance([
    "check",
    ...["--revision", latestHandshake.version, "--timeout", "10s"],
    ...["--", process.execPath, misbehaving, "rejects"],
  ]);
  expect(stdout).toMatch(/✖ XM-5 .*\n {10}afterwards ping was not answered: the server ended\n/);
  expect(stdout).toMatch(
    /✖ crash the server exited with code 1 in the middle of ping.*\n {10}its last lines on stderr:\n/,
  );
  expect(stdout).toMatch(/^ {10}SyntaxError: /m);
  expect(code).toBe(2);
});

test("a tool that is marked destructive is not called; another is, by a server that does not check arguments", async () => {
  const check = (...words: readonly string[]) =>
    parlance([
      "check",
      ...["--revision", latestHandshake.version, "--all", "--json", "--timeout", "10s"],
      ...["--", process.execPath, misbehaving, "unchecked", ...words],
    ]);
  const probesOf = ({ stdout }: { readonly stdout: string }): Map<string, string> =>
    new Map(examined(stdout).revisions[0]?.probes.map(({ id, is, says }) => [id, `${is} ${says ?? ""}`]));
  const left = probesOf(await check());
  expect(left.get("XF-7")).toMatch(/^skipped/);
  const ran = probesOf(await check("strict", "touch"));
  expect(ran.get("XF-7")).toBe('failed "touch" ran without them');
});

test("a server without ping fails the probe of that alone", async () => {
  const { stdout } = await parlance([
    "check",
    ...["--revision", latestHandshake.version, "--json", "--timeout", "10s"],
    ...["--except", "XM-5,XM-6", "--", process.execPath, misbehaving, "unchecked"],
  ]);
  const [{ probes = [] } = {}] = examined(stdout).revisions;
  expect(probes.filter(({ is }) => is === "failed").map(({ id }) => id)).toEqual(["XL-1", "XM-11", "XF-5"]);
});

test("a server that mixes up two calls at once breaks R-5", async () => {
  const { code, stdout } = await parlance([
    "check",
    ...["--revision", latestHandshake.version, "--timeout", "3s"],
    ...["--except", "XM-5,XM-6", "--", process.execPath, misbehaving, "overlaps"],
  ]);
  expect(stdout).toMatch(
    /✖ R-5 (?:.*\n)+? {10}tools\/call look, \/id: the request with the id \d+ was answered already/,
  );
  expect(code).toBe(2);
});

test("violations of a server are printed with their places, and fail the check", async () => {
  const { code, stdout } = await parlance([
    "check",
    "--revision",
    "2025-11-25",
    "--timeout",
    "10s",
    "--",
    process.execPath,
    misbehaving,
    "noisy",
  ]);
  expect(stdout).toMatch(/✖ R-5 (?:.*\n)+? {10}tools\/list, \/id: the request with the id \d+ was answered/);
  expect(stdout).toContain("✖ S-2 ");
  expect(stdout).toMatch(/^✖ 1 revision · \d+ probes · \d+ failed/m);
  expect(stdout).toContain("\n  no tool ran: check runs only tools that are marked read-only");
  expect(code).toBe(2);
});

test("rules and probes that are left out are not looked for, which is said", async () => {
  const { code, stdout, stderr } = await parlance(
    ["check", "--revision", "2025-11-25", "--timeout", "10s", "--except", "R-5,s-2", "--except", "XM-6"].concat(
      "--",
      process.execPath,
      misbehaving,
      "noisy",
    ),
  );
  expect(stdout).toMatch(/^✖ 1 revision · \d+ probes/m);
  expect(stdout).not.toMatch(/R-5|S-2|XM-6/);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("left out: R-5, S-2, XM-6\n") });
  const wrong = await parlance(["check", "--except", "XM-99", tools]);
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no rule or probe XM-99") });
});

test("JUnit and SARIF say of a server what they say of a recording", async () => {
  const words = ["--revision", "2025-11-25", "--timeout", "10s", "--", process.execPath, misbehaving, "noisy"];
  const junit = await parlance(["check", "--format", "junit", ...words]);
  expect(junit.stdout).toMatch(/<testcase classname="parlance\.rule" name="R-5 [^"]*">\s*<failure/);
  const sarif = JSON.parse((await parlance(["check", "--format", "sarif", ...words])).stdout) as {
    readonly runs: readonly { readonly results: readonly { readonly ruleId: string }[] }[];
  };
  expect(sarif.runs[0]?.results.map(({ ruleId }) => ruleId)).toContain("S-2");
});

test("what was said to a server can be kept, and read again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parlance-check-"));
  try {
    const file = join(folder, "run.parlance.jsonl");
    await parlance(["check", "--revision", "2026-07-28", "--record", file, "--", process.execPath, tools]);
    const { entries, damages } = readRecording(readFileSync(file));
    expect(damages).toEqual([]);
    expect(entries[0]).toMatchObject({ k: "hdr", mode: "launch", server: { cmd: process.execPath } });
    expect(entries.filter(({ k }) => k === "f").length).toBeGreaterThan(40);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a server that cannot be spoken to is no server that breaks rules, and its last lines on stderr are shown once", async () => {
  const { code, stderr } = await parlance(["check", "--", process.execPath, misbehaving, "dies"]);
  expect(stderr).toContain("speaks none of the revisions");
  expect(stderr).toContain(
    "  │ 2024-11-05 to 2025-11-25: initialize was not answered: the server ended\n" +
      "  │ 2026-07-28: server/discover was not answered: the server ended\n" +
      "  │ its last lines on stderr:\n" +
      "  │ cannot read config.json\n" +
      "  │ \\u{1b}[2Jcheck the path\n" +
      "  → ",
  );
  expect(stderr).toContain("parlance doctor");
  expect(code).toBe(3);
});

test("a finding that several revisions share is printed once, with the revisions", async () => {
  const revisions = ["--revision", "2025-06-18", "--revision", "2025-11-25", "--revision", "2026-07-28"];
  const folder = mkdtempSync(join(tmpdir(), "parlance-check-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const record = ["--record", join(folder, "check.parlance.jsonl")];
  const words = ["check", ...revisions, ...record, "--timeout", "10s", "--", process.execPath, misbehaving, "noisy"];
  const { stdout } = await parlance(words, { COLUMNS: "120" });
  const [summary = "", findings = ""] = stdout.split(/(?<=2026-07-28 .*\n)/);
  expect(summary.split("\n").map((line) => line.slice(0, 12))).toEqual([
    "2025-06-18  ",
    "2025-11-25  ",
    "2026-07-28  ",
    "",
  ]);
  const ids = [...findings.matchAll(/^ {2}[✖!ℹ] (X[A-Z]-\d+)/gm)].map(([, id]) => id);
  expect(ids.length).toBeGreaterThan(0);
  expect(ids).toEqual([...new Set(ids)]);
  expect(findings).toMatch(
    / {2}✖ XM-6 .*\n {10}in 2025-06-18 to 2025-11-25\n(?: {10}.*\n)+? {10}frames \d+–\d+, \d+–\d+ {2}https/,
  );
});

test("a file that is neither a recording nor a server is named, with what to write instead", async () => {
  const { code, stderr } = await parlance(["check", "package.json"]);
  expect(stderr).toContain("package.json is no recording");
  expect(stderr).toContain("parlance check -- package.json");
  expect(code).toBe(1);
});

/** Keeps the id of a call where the next one finds it. */
const sharing = `
  const inputSchema = { type: "object", properties: { days: { type: "integer" } }, required: ["days"] };
  const results = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "shared", version: "1" } },
    "tools/list": { tools: [{ name: "forecast", inputSchema }] },
    ping: {},
  };
  const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
  let current;
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    if (method in results) return send({ id, result: results[method] });
    if (method !== "tools/call") return send({ id, error: { code: -32601, message: "Method not found" } });
    if (!Number.isInteger(params.arguments?.days)) return send({ id, result: { isError: true, content: [] } });
    current = id;
    setImmediate(() => send({ id: current, result: { content: [{ type: "text", text: "sun" }] } }));
  });`;

test("--call finds ids that calls share, which a call without arguments does not reach", async () => {
  const rest = [
    "--revision",
    "2025-11-25",
    "--timeout",
    "2s",
    "--except",
    "XM-5,XM-6",
    "--",
    process.execPath,
    "-e",
    sharing,
  ];
  const found = async (...calls: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await parlance(["check", "--json", ...calls, ...rest]);
    return examined(stdout)
      .verdicts.filter(({ level }) => level === "must")
      .map(({ rule }) => rule);
  };
  expect(await found()).not.toContain("R-5");
  expect(await found("--call", "forecast days=3")).toContain("R-5");
});

test("--call of a tool that the server does not have names the nearest, and ends the server", async () => {
  const { code, stderr } = await parlance(["check", "--call", "forcast days=3", "--", process.execPath, "-e", sharing]);
  expect(stderr).toContain("✖ the server has no tool forcast: it offers forecast\n  → did you mean forecast?\n");
  expect(code).toBe(1);
});
