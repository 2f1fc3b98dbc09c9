import { type CheckReport, Conversation, type Entry, junitOf, reportOf, sarifOf, wording } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import type { PendingState } from "../../../packages/wire/src/conversation/pending.js";
import type { HttpEntry, LifeEntry } from "../../../packages/wire/src/recording/entry.js";
import { opening, recorded, type Said } from "../recording/recorded.js";

const call: Said = '→ {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"work","arguments":{}}}';
const greeted = opening("2025-11-25", { server: { tools: {} } });
const stateless = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };

function reportOn(...entries: readonly Entry[]): CheckReport {
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  return reportOf({ source: "test", conversation });
}

function life(n: number, ev: LifeEntry["ev"], more: Partial<LifeEntry> = {}): LifeEntry {
  return { k: "l", n, t: n, s: "1", ev, ...more };
}

const end: Entry = { k: "end", t: 99, frames: 4, bytes: 1, sha256: "" };
const clientLeft = life(20, "stdin-end", { d: "c2s" });
const exited = (code: number | null, sig: string | null = null): LifeEntry => life(22, "exit", { code, sig });

function cancelled(reason: string, requestId = 7): Said {
  const params = JSON.stringify({ requestId, reason });
  return `→ {"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`;
}

/** Frames after a handshake, later entries, and the resulting state of the request without a response. */
const rows: readonly (readonly [what: string, said: readonly Said[], after: readonly Entry[], state: PendingState])[] =
  [
    ["the recording breaks off", [call], [], "unknown"],
    ["the recording is brought to its end", [call], [end], "unanswered"],
    ["the server ends", [call], [exited(0)], "unanswered"],
    ["the client leaves", [call], [clientLeft, exited(0), end], "unanswered"],
    ["it was cancelled", [call, cancelled("the person closed the dialog")], [clientLeft, end], "not due"],
    ["it was cancelled without a reason", [call, cancelled("")], [clientLeft, end], "not due"],
    ["it was given up after its time", [call, cancelled("Request timed out")], [clientLeft, end], "unanswered"],
    ["it was given up at once after its time", [call, cancelled("timeout")], [], "unanswered"],
    ["lines are missing behind it", [call], [{ k: "gap", t: 9, from: 8, to: 9, lost: 2, why: "full" }, end], "unknown"],
    [
      "a frame behind it was cut",
      [call],
      [{ k: "f", n: 10, s: "1", t: 10, d: "s2c", ch: "stdout", len: 9, kept: 1, nl: "\n", raw: "{" }, end],
      "unknown",
    ],
  ];

test.each(rows)("of a request without an answer, where %s, it is known what that means", (_, said, after, state) => {
  const { pending } = reportOn(...recorded(...greeted, ...said), ...after);
  expect(pending.map((each) => each.pending.state)).toEqual([state]);
});

test("a server that speaks the handshake era may be silent when it is asked for the other one, or exit", () => {
  const discover: Said = `→ ${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: stateless } })}`;
  const silent = reportOn(...recorded(discover, ...greeted), clientLeft, end);
  expect(silent).toMatchObject({ pending: [{ pending: { state: "not due" } }], crashes: [] });
  const gone = reportOn(...recorded(discover), exited(1), end);
  expect(gone).toMatchObject({ pending: [{ pending: { state: "not due" } }], crashes: [] });
});

test("initialize cannot be cancelled, so an answer is due", () => {
  const [initialize] = greeted;
  const report = reportOn(...recorded(initialize ?? call, cancelled("no more", 0)), clientLeft, end);
  expect(report.pending[0]?.pending.state).toBe("unanswered");
});

test("an unanswered request with the id 0 says why a server may have ignored it", () => {
  const [initialize = call] = greeted;
  const given = reportOn(...recorded(initialize, cancelled("Request timed out", 0)), clientLeft, end);
  expect(given.pending[0]?.pending.reason).toBe(
    "no response: it was cancelled by frame 2 (Request timed out) (its id is 0: is that no id to the server?)",
  );
  const crashed = reportOn(...recorded(initialize), exited(1));
  expect(crashed.pending[0]?.pending.reason).toBe("no response: the server exited with code 1");
});

test("a subscription lasts until its client leaves", () => {
  const listen: Said = `→ ${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: { _meta: stateless } })}`;
  const report = reportOn(...recorded(listen), clientLeft, exited(0), end);
  expect(report.pending[0]?.pending.state).toBe("not due");
});

describe("over HTTP", () => {
  const asked = (raw: string): readonly Entry[] => [
    { k: "h", n: 1, t: 1, s: "0", x: 1, ph: "req", method: "POST", url: "/mcp" },
    { k: "f", n: 2, t: 2, s: "0", d: "c2s", ch: "http", len: raw.length, nl: "", req: 1, raw },
  ];
  const http = (n: number, more: Pick<HttpEntry, "ph"> & Partial<HttpEntry>): HttpEntry => ({
    k: "h",
    n,
    t: n,
    s: "0",
    x: 1,
    ...more,
  });
  const old = call.slice(2);
  const modern = JSON.stringify({
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: { name: "work", arguments: {}, _meta: stateless },
  });
  const refused = (status: number): readonly Entry[] => [http(3, { ph: "res", status }), http(4, { ph: "end" }), end];
  const ended = [http(3, { ph: "res", status: 200 }), http(4, { ph: "end" }), end];
  const broken = (by: NonNullable<HttpEntry["by"]>): readonly Entry[] => [
    http(3, { ph: "abort", why: "gone", by }),
    end,
  ];
  const exchanges: readonly (readonly [what: string, raw: string, after: readonly Entry[], state: PendingState])[] = [
    ["HTTP refuses it", old, refused(400), "not due"],
    ["the server fails", old, refused(502), "unanswered"],
    ["the response ends without it", old, ended, "unanswered"],
    ["the server breaks off", old, broken("server"), "unanswered"],
    ["the client breaks off", old, broken("client"), "unanswered"],
    ["the client closes the stream, which cancels", modern, broken("client"), "not due"],
    ["the proxy is stopped", old, broken("recorder"), "unknown"],
    ["the recording breaks off", old, [], "unknown"],
  ];

  test.each(exchanges)("where %s, it is known what that means", (_, raw, after, state) => {
    expect(reportOn(...asked(raw), ...after).pending.map((each) => each.pending.state)).toEqual([state]);
  });

  test("a request that its client makes again with credentials waits for nothing", () => {
    expect(reportOn(...asked(old), ...refused(401)).pending).toEqual([]);
  });
});

/** Entries after a handshake and a call, and the words for the end of the server. */
const ends: readonly (readonly [what: string, after: readonly Entry[], crash: string | undefined])[] = [
  ["exits with a code", [exited(3)], "the server exited with code 3 in the middle of tools/call work (frame 4)"],
  [
    "closes its output and exits",
    [life(20, "close", { d: "s2c" }), clientLeft, exited(3)],
    "the server exited with code 3 in",
  ],
  ["is ended by a signal", [exited(null, "SIGSEGV")], "the server was ended by SIGSEGV in the middle of"],
  ["exits with code 0", [exited(0)], undefined],
  ["exits after its client has left", [clientLeft, exited(1)], undefined],
  ["exits after its host has sent a signal", [life(20, "signal", { sig: "SIGTERM" }), exited(143)], undefined],
  ["runs", [], undefined],
];

test.each(ends)("a server that %s is reported as such", (_, after, crash) => {
  const { crashes } = reportOn(...recorded(...greeted, call), ...after, end);
  expect(crashes.map((each) => wording.crash(each.crash))).toEqual(
    crash === undefined ? [] : [expect.stringContaining(crash)],
  );
});

test("a server that could not be started has crashed, and its recording holds no frame", () => {
  const report = reportOn(life(1, "exit", { code: null, why: "spawn nod ENOENT" }), end);
  expect(report.crashes.map(({ crash }) => wording.crash(crash))).toEqual([
    "the server could not be started: spawn nod ENOENT",
  ]);
  expect(report.failedFor).toEqual(["crash", "empty"]);
});

test("JUnit and SARIF name a crash, a request without an answer, and a recording with no frame", () => {
  const crashed = reportOn(...recorded(...greeted, call), exited(3), end);
  const junit = junitOf(crashed);
  expect(junit).toMatch(/name="the server does not crash">\n {6}<failure message=".*in the middle of tools\/call work/);
  expect(junit).toMatch(/name="every request has an answer">\n {6}<failure/);
  expect(junit).toContain('name="something was recorded"/>');
  expect(junitOf(reportOn(end))).toMatch(/name="something was recorded">\n {6}<failure message="no frame was recorded/);
  const sarif = (report: CheckReport): unknown => {
    const { runs } = sarifOf(report, { uri: "a", tool: { name: "test", version: "1" } });
    return (runs[0] as { readonly results: unknown }).results;
  };
  expect(sarif(crashed)).toMatchObject([
    { ruleId: "pending", level: "error" },
    { ruleId: "crash", level: "error" },
  ]);
  expect(sarif(reportOn(end))).toMatchObject([{ ruleId: "empty", level: "error" }]);
  expect(sarif(reportOn(...recorded(...greeted, call)))).toMatchObject([{ ruleId: "pending", level: "note" }]);
});

test("a report names what a message is about, and cuts a name of any length", () => {
  const asked = (name: string): Said =>
    `→ {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"${name}","arguments":{}}}`;
  const about = (name: string) =>
    reportOn(
      ...recorded(...greeted, asked(name), '← {"jsonrpc":"2.0","id":7,"result":{"content":"none"}}'),
    ).verdicts.map((each) => [each.verdict.rule.id, each.about]);
  expect(about("work")).toContainEqual(["M-6", "tools/call work"]);
  expect(about("x".repeat(1_000_000))).toContainEqual(["M-6", `tools/call ${"x".repeat(200)}…`]);
});
