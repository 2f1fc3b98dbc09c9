import { serveHttp } from "@parlance/mcp/node";
import { serveWebSocket } from "@parlance/mcp/websocket";
import { expect, test } from "vitest";
import { deferred } from "../../../../packages/mcp/src/base/deferred.js";
import { createLibrary } from "../../../fixtures/library-server.js";
import { isLong } from "../../../testing/forms.js";
import { fixture, jsonLines, parlance, startInForm, toolsServer } from "../../run.js";

const library = ["--", process.execPath, fixture("library-server.js")];

const short = ["stdio in 2025-11-25", "HTTP+SSE in 2024-11-05", "HTTP in 2026-07-28", "WebSocket in 2025-11-25"];

/** Every revision, and every transport that a server of it may have; in the short form, every transport. */
const conversations = (
  [
    ["2024-11-05", "stdio"],
    ["2025-03-26", "stdio"],
    ["2025-06-18", "stdio"],
    ["2025-11-25", "stdio"],
    ["2026-07-28", "stdio"],
    ["2024-11-05", "HTTP+SSE"],
    ["2025-03-26", "HTTP"],
    ["2025-06-18", "HTTP"],
    ["2025-11-25", "HTTP"],
    ["2026-07-28", "HTTP"],
    ["2025-11-25", "WebSocket"],
    ["2026-07-28", "WebSocket"],
  ] as const
).filter(([revision, transport]) => isLong || short.includes(`${transport} in ${revision}`));

/** Runs a verb against the library, in one revision over one transport. */
async function ask(revision: string, transport: string, verb: string, ...words: readonly string[]) {
  const args = [verb, "--revision", revision];
  if (transport === "stdio") return parlance([...args, ...words, ...library]);
  if (transport === "WebSocket") {
    await using socket = await serveWebSocket(createLibrary());
    return await parlance([...args, socket.url, ...words]);
  }
  await using http = await serveHttp(createLibrary(), { legacySse: transport === "HTTP+SSE" });
  return await parlance([...args, http.url, ...words]);
}

test.concurrent.each(conversations)("read, prompt and complete work in %s over %s", async (revision, transport) => {
  const [read, prompt, complete] = await Promise.all([
    ask(revision, transport, "read", "notes:/today"),
    ask(revision, transport, "prompt", "review", '{"language":"php"}'),
    ask(revision, transport, "complete", "review", "language=p"),
  ]);
  expect(read.stderr).toMatch(/(?:^|\n)\d+\.?\d* m?s · \d+ B · ok\n$/);
  expect(read).toMatchObject({ code: 0, stdout: "first line\nsecond line\n\n" });
  expect(prompt.stdout).toBe("user:\nReview this php, framework none\n\nassistant:\nShow it to me\n");
  expect(prompt.stderr).toMatch(/(?:^|\n)Review code\n.* · ok\n$/);
  expect(complete).toMatchObject({ code: 0, stdout: "perl\nphp\npython\n" });
});

test.concurrent.each(conversations)("subscribe prints updates in %s over %s", async (revision, transport) => {
  const { code, stdout, stderr } = await ask(revision, transport, "subscribe", "--count", "2", "notes:/clock");
  expect(stderr).toContain("subscribed to notes:/clock; Ctrl-C ends it\n");
  expect(stdout).toMatch(/^(\d\d:\d\d:\d\d updated notes:\/clock\n){2}$/);
  expect(code).toBe(0);
});

test.concurrent("subscribe goes on until Ctrl-C, which ends it in order", async () => {
  const running = startInForm(["subscribe", "--json", "notes:/clock", ...library]);
  await running.firstLine;
  running.interrupt();
  const { code, stdout, stderr } = await running.ended;
  expect(jsonLines(stdout)[0]).toEqual({ time: expect.any(String), kind: "resource", uri: "notes:/clock" });
  expect(stderr).toBe("subscribed to notes:/clock; Ctrl-C ends it\n");
  expect(code).toBe(0);
});

test.concurrent("subscribe fails when the server ends the subscription", async () => {
  const http = await serveHttp(createLibrary());
  const running = startInForm(["subscribe", "--revision", "2026-07-28", "--json", http.url, "notes:/clock"]);
  await running.firstLine;
  await http.drain(1_000);
  const { code, stderr } = await running.ended;
  expect(stderr).toContain("✖ the subscription is over: the server ended it\n");
  expect(code).toBe(3);
});

test.concurrent("without a URI, subscribe is about the lists", async () => {
  const server = createLibrary();
  await using http = await serveHttp(server);
  const running = startInForm(["subscribe", "--count", "1", "--json", http.url]);
  const adding = setInterval(() => server.tool(`tool-${Date.now()}`, {}, () => ""), 50);
  const { code, stdout } = await running.ended;
  clearInterval(adding);
  expect(jsonLines(stdout)).toEqual([{ time: expect.any(String), kind: "list", list: "tools" }]);
  expect(code).toBe(0);
});

test.concurrent("--json prints results as they came", async () => {
  const [read, prompt, complete] = await Promise.all([
    parlance(["read", "--json", "--revision", "2025-11-25", "notes:/logo", ...library]),
    parlance(["prompt", "--json", "--revision", "2025-11-25", "review", "language=c", ...library]),
    parlance(["complete", "--json", "review", "language=py", ...library]),
  ]);
  expect(jsonLines(read.stdout)).toEqual([
    { contents: [{ uri: "notes:/logo", mimeType: "image/png", blob: "AAAAAAAA" }] },
  ]);
  expect(jsonLines(prompt.stdout)[0]).toMatchObject({ description: "Review code", messages: [{ role: "user" }, {}] });
  expect(jsonLines(complete.stdout)).toEqual([{ values: ["python"], total: 1, hasMore: false }]);
});

test.concurrent("several contents have their URIs, and a blob is described", async () => {
  const { stdout } = await parlance(["read", "notes:/both", ...library]);
  expect(stdout).toBe("[notes:/a]\nalpha\n[resource notes:/b, 3 B]\n");
  expect((await parlance(["read", "notes:/logo", ...library])).stdout).toBe("[resource notes:/logo image/png, 6 B]\n");
});

test.concurrent("a variable of a template is completed, and settled arguments count", async () => {
  expect((await parlance(["complete", "notes:/{day}", "day=t", ...library])).stdout).toBe("tuesday\n");
  const settled = ["complete", "review", "framework=", "language=python", ...library];
  expect((await parlance(settled)).stdout).toBe("flask\ndjango\n");
});

test.concurrent.each([
  [["review", "langage=p"], "✖ the prompt review has no argument langage: it has language, framework", "language"],
  [["reveiw", "language=p"], "✖ the server has no prompt reveiw: it offers ", "review"],
  [["notes:/{day}", "dya=t"], "✖ the template notes:/{day} has no argument dya: it has day", "day"],
])("complete with an unknown argument, %j, is a wrong command line", async (words, message, nearest) => {
  const { code, stderr } = await parlance(["complete", ...words, ...library]);
  expect(stderr).toContain(message);
  expect(stderr).toContain(`\n  → did you mean ${nearest}?`);
  expect(code).toBe(1);
});

test.concurrent("a resource that does not exist gives 5, with the error of the server", async () => {
  const { code, stdout, stderr } = await parlance(["read", "notes:/friday", ...library]);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^✖ the server answered with error -32602/);
  expect(code).toBe(5);
});

test.concurrent.each([
  [["prompt", "reviw", ...library], "the server has no prompt reviw: it offers review\n  → did you mean review?"],
  [["prompt", "review", ...library], "the prompt review requires language\n  → language=…"],
  [["prompt", "review", "language:=1", ...library], "language is text here, and not JSON"],
  [["prompt", ...library], "there is no prompt to get"],
  [["read", ...library], "there is no resource to read"],
  [["read", "a:/b", "c:/d", ...library], "unexpected argument: c:/d"],
  [["complete", "review", ...library], "there is no argument to complete"],
  [
    ["read", "a:/b", ...toolsServer],
    "resources/read: the server has not advertised the capability resources\n  → --force sends it anyway",
  ],
  [["subscribe", "a:/b", ...toolsServer], "the server has not advertised the capability resources.subscribe"],
  [["complete", "review", "a=", ...toolsServer], "the server has not advertised the capability completions"],
  [["subscribe", "--count", "0", "node x"], "Write a whole number from 1 on."],
])("the command line %j is refused", async (args, words) => {
  const { code, stdout, stderr } = await parlance(args);
  expect(stderr).toContain(words);
  expect(stdout).toBe("");
  expect(code).toBe(1);
});

test.concurrent("a verb without an answer in time gives 4", async () => {
  const server = createLibrary();
  const over = deferred<string>();
  server.resource("notes:/never", { name: "never" }, () => over.promise);
  await using http = await serveHttp(server);
  const { code, stderr } = await parlance(["read", "--timeout", "300ms", http.url, "notes:/never"]);
  over.resolve("late");
  expect(stderr).toContain("no response or notification for 300 ms");
  expect(code).toBe(4);
});
