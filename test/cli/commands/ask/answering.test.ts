import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { RpcError } from "@parlance/mcp/client";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { createLibrary } from "../../../fixtures/library-server.js";
import { inForm } from "../../../testing/forms.js";
import { fixture, parlance, type Ran } from "../../run.js";
import { hasTerminals, inTerminal } from "../../terminal.js";

const library = ["--", process.execPath, fixture("library-server.js")];
/** The server as the first and the last words of a command line: a module in the short form, which starts no process. */
const [target, program] = inForm<readonly (readonly string[])[]>({
  long: [[], library],
  short: [[fixture("library-server.js")], []],
}) as readonly [readonly string[], readonly string[]];
const folder = realpathSync(tmpdir());
const eras = ["2025-11-25", "2026-07-28"] as const;

/** The result that a run in a terminal has ended with. */
function lastJson(shown: string): unknown {
  return JSON.parse(shown.split("\n").findLast((line) => line.startsWith("{")) ?? "");
}

async function overHttp(...args: readonly string[]): Promise<Ran> {
  await using http = await serveHttp(createLibrary());
  const [verb = "", ...rest] = args;
  return await parlance([verb, http.url, ...rest]);
}

describe.each(eras)("--answer in %s", (revision) => {
  const call = (...args: readonly string[]): Promise<Ran> =>
    parlance(["call", "--revision", revision, ...target, ...args, ...program]);

  test.concurrent("fills in a form, and its defaults", async () => {
    const { code, stdout, stderr } = await call("--answer", '{"name":"Ada","meal":"v"}', "book");
    expect(JSON.parse(stdout)).toEqual({
      action: "accept",
      content: { name: "Ada", meal: "v", seats: 1, class: "economy" },
    });
    expect(stderr).toContain('the server asks: Who travels?\n  answered: accept {"name":"Ada","meal":"v"}\n');
    expect(code).toBe(0);
  });

  test.concurrent("that leaves out a required field fails, and shows an answer that does not", async () => {
    const [none, some] = await Promise.all([
      call("--answer", "accept", "book"),
      call("--answer", '{"meal":"v"}', "book"),
    ]);
    for (const { code, stderr } of [none, some]) {
      expect(stderr).toContain(`\n  → --answer '{"name":"…","meal":"v"}' fills in the form\n`);
      expect(stderr).toContain("/name expected string, got nothing");
      expect(code).toBe(revision === "2025-11-25" ? 5 : 1); // The tool fails; there, the client cannot repeat the call.
    }
    expect((await call("--answer", "decline", "book")).stderr).not.toContain("→");
  });

  test.concurrent("fills in a form over HTTP", async () => {
    const answer = ["--revision", revision, "--answer", '{"extras":["bag"]}'];
    const { stdout } = await overHttp("call", ...answer, "extras");
    expect(JSON.parse(stdout)).toEqual({ action: "accept", content: { extras: ["bag"] } });
  });

  test.concurrent.each(["decline", "cancel"])("can %s", async (action) => {
    expect(JSON.parse((await call("--answer", action, "book")).stdout)).toEqual({ action });
    expect(JSON.parse((await call("--answer", action, "pay")).stdout)).toEqual({ action });
  });

  test.concurrent("answers in order, and the last one goes on", async () => {
    const { stdout } = await call("--answer", '{"name":"a"}', "--answer", "decline", "both");
    expect(JSON.parse(stdout)).toEqual([{ action: "accept", content: { name: "a" } }, { action: "decline" }]);
  });

  test.concurrent("agrees to open a URL, apart from forms", async () => {
    const { stdout, stderr } = await call("--answer", "url=accept", "pay");
    expect(JSON.parse(stdout)).toEqual({ action: "accept" });
    expect(stderr).toContain("the server asks: Pay here https://pay.example/42\n  answered: accept\n");
    expect(JSON.parse((await call("--answer", '{"name":"a"}', "pay")).stdout)).toEqual({ action: "decline" });
  });

  test.concurrent("is the text of a model, or a whole result", async () => {
    expect(JSON.parse((await call("--answer", "sampling=4", "model")).stdout)).toMatchObject({
      role: "assistant",
      content: { type: "text", text: "4" },
      stopReason: "endTurn",
    });
    const whole = '{"content":{"type":"text","text":"four"},"model":"m-1"}';
    expect(JSON.parse((await call("--answer", `sampling=${whole}`, "model")).stdout)).toMatchObject({
      content: { text: "four" },
      model: "m-1",
    });
  });

  test.concurrent("names folders with --roots", async () => {
    const { stdout } = await call("--roots", folder, "where");
    expect(JSON.parse(stdout)).toEqual([{ uri: pathToFileURL(folder).href }]);
  });

  test.concurrent("is missing: the server is declined, and stderr says so", async () => {
    const [form, page, model] = await Promise.all([call("book"), call("pay"), call("model")]);
    expect(JSON.parse(form.stdout)).toEqual({ action: "decline" });
    expect(form.stderr).toContain(
      'the server asks: Who travels?\n  declined: stdin is not a terminal\n  → --answer \'{"name":"…","meal":"v"}\' answers it\n',
    );
    expect(page.stderr).toContain("  → --answer url=accept answers it\n");
    expect(model.stderr).toContain("the server asks: What is 2 + 2?\n  declined: stdin is not a terminal\n");
    expect(model.code).not.toBe(0);
  });
});

test.concurrent("the answer to copy is one word of a shell, whatever the server calls its fields", async () => {
  const server = createServer({ name: "hostile", version: "1" });
  const field = "x'; touch pwned #";
  const requestedSchema = { type: "object", properties: { [field]: { type: "boolean" } }, required: [field] } as const;
  server.tool("ask", {}, async (_args, { elicit }) => JSON.stringify(await elicit("Sure?", requestedSchema)));
  await using http = await serveHttp(server);
  for (const answer of [[], ["--answer", "accept"]]) {
    const { stderr } = await parlance(["call", http.url, "ask", ...answer]);
    const [, option] = /→ (--answer .*) (?:answers it|fills in the form)$/m.exec(stderr) ?? [];
    const words = execFileSync("sh", ["-c", `printf '%s\\n' ${option}`], { encoding: "utf8" });
    expect(words).toBe(`--answer\n${JSON.stringify({ [field]: true })}\n`);
  }
});

test.concurrent("talk and run answer, too, where an answer is given", async () => {
  const options = ["--once", "--json", "--revision", "2025-11-25", "--call", "book"];
  const talk = (...more: readonly string[]): Promise<Ran> => parlance(["talk", ...options, ...more, ...library]);
  expect((await talk("--answer", "decline")).stdout).toContain('{\\"action\\":\\"decline\\"}');
  expect((await talk()).stdout).not.toContain("elicitation/create");
  const recording = join(mkdtempSync(join(folder, "parlance-answering-")), "run.parlance.jsonl");
  const run = await parlance(["run", ...options, "--answer", "decline", "--record", recording, ...library]);
  expect(run.code).toBe(0);
  expect(readFileSync(recording, "utf8")).toContain('{\\"action\\":\\"decline\\"}');
});

const sdk = fixture("../interop/node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/");

describe.skipIf(!existsSync(sdk))("--answer to the official SDK, installed by npm ci --prefix test/interop,", () => {
  const signIn = ["balance", "--", process.execPath, fixture("../interop/programs/sdk-v1-sign-in.js")];

  test.concurrent("is the text of a model for a tool that samples", async () => {
    const summarize = ["summarize", "text=hello", "--", process.execPath, join(sdk, "toolWithSampleServer.js")];
    const { code, stdout, stderr } = await parlance(["call", "--answer", "sampling=A greeting", ...summarize]);
    expect(stdout).toBe("A greeting\n");
    expect(stderr).toContain("Please summarize the following text concisely:\n\nhello\n  answered:");
    expect(code).toBe(0);
    const declined = await parlance(["call", "--answer", "sampling=decline", ...summarize]);
    expect(declined.stdout).toContain("User rejected sampling request");
    expect(declined.code).toBe(5);
  });

  test.concurrent("accepts the URL that a call requires, and the call is repeated after its completion", async () => {
    const { code, stdout, stderr } = await parlance(["call", "--answer", "url=accept", ...signIn]);
    expect(stdout).toBe("42\n");
    expect(stderr).toContain("the server asks: Sign in https://bank.example/in\n  answered: accept\n");
    expect(code).toBe(0);
  });

  test.concurrent("declines the URL that a call requires: the call fails with the server's error", async () => {
    const { code, stdout, stderr } = await parlance(["call", "--answer", "url=decline", ...signIn]);
    expect(stdout).toBe("");
    expect(stderr).toContain("-32042");
    expect(code).toBe(5);
  });
});

test.concurrent("content that the form forbids is not sent, and the field is named", async () => {
  const { code, stderr } = await parlance(["call", "--answer", '{"name":"A","meal":"v"}', "book", ...library]);
  expect(stderr).toContain("/name");
  expect(code).not.toBe(0);
});

test.concurrent.each([
  [["--answer", "{"], "Write a JSON object with the fields of the form"],
  [["--answer", "url=maybe"], "Write url=accept, url=decline or url=cancel."],
  [["--roots", "/no/such/folder"], "There is no folder /no/such/folder."],
])("the option %j is refused", async (options, words) => {
  const { code, stderr } = await parlance(["call", ...options, "book", ...library]);
  expect(stderr).toContain(words);
  expect(code).toBe(1);
});

describe.runIf(hasTerminals)("at a terminal", () => {
  test.concurrent.each(eras)("a form is asked field by field, in %s", async (revision) => {
    const run = inTerminal(["call", "--revision", revision, ...target, "book", ...program]);
    await run.answer("asks you to fill in a form: Who travels?", "");
    await run.answer("Name (at least 2 characters, required): ", "A");
    await run.answer("at least 2 characters", "");
    await run.answer("this field is required", "Ada");
    await run.answer("  2  Meat", "1");
    await run.answer("seats (integer, at least 1, at most 4, default 1): ", "five");
    await run.answer("seats (", "9");
    await run.answer("seats (", "3");
    await run.answer("A window seat", "y");
    await run.answer("  2  business", "business");
    await run.answer("Send it? [Y]es, [e]dit, [d]ecline, [c]ancel: ", "y");
    const { code, stdout } = await run.ended;
    expect(lastJson(stdout)).toEqual({
      action: "accept",
      content: { name: "Ada", meal: "v", seats: 3, window: true, class: "business" },
    });
    expect(code).toBe(0);
  });

  test.concurrent("several of a list are chosen by their numbers, and a form can be edited", async () => {
    const run = inTerminal(["call", ...target, "extras", ...program]);
    await run.answer("[c]ancel: ", "y");
    await run.answer("extras (numbers, separated by commas, at most 2 of them, required): ", "1, 2, 3");
    await run.answer("extras (", "1");
    await run.answer("Send it?", "e");
    await run.answer("extras (", "2, bike");
    await run.answer("Send it?", "");
    expect((await run.ended).stdout).toContain('{"action":"accept","content":{"extras":["wifi","bike"]}}');
  });

  test.concurrent("a form without fields is one question", async () => {
    const run = inTerminal(["call", ...target, "close", ...program]);
    await run.answer("Accept? [y]es, [d]ecline, [c]ancel: ", ""); // Enter alone decides nothing.
    await run.answer("Accept? [y]es, [d]ecline, [c]ancel: ", "y");
    const { stdout } = await run.ended;
    expect(stdout).toContain("answer y, d or c");
    expect(stdout).toContain("asks you to agree: Close it?");
    expect(stdout).toContain('{"action":"accept","content":{}}');
    const scripted = await parlance(["call", "close", ...library]);
    expect(scripted.stderr).toContain("  → --answer accept answers it\n");
  });

  test.concurrent("a form is declined, and Ctrl-D cancels it", async () => {
    const declined = inTerminal(["call", ...target, "book", ...program]);
    await declined.answer("[c]ancel: ", "d");
    expect((await declined.ended).stdout).toContain('{"action":"decline"}');
    const cancelled = inTerminal(["call", ...target, "book", ...program]);
    await cancelled.type("[c]ancel: ", "\u0004");
    expect((await cancelled.ended).stdout).toContain('{"action":"cancel"}');
  });

  test.concurrent("Ctrl-C ends the command", async () => {
    const run = inTerminal(["call", ...target, "book", ...program]);
    await run.type("[c]ancel: ", "\u0003");
    expect((await run.ended).code).toBe(130);
  });

  test.concurrent("a page is shown whole, with its host, before anybody agrees", async () => {
    const run = inTerminal(["call", ...target, "pay", ...program]);
    await run.answer("https://pay.example/42\n  on the host pay.example\nOpen it in your browser", "");
    expect((await run.ended).stdout).toContain('{"action":"accept"}');
  });

  test.concurrent("a person answers in the place of a model", async () => {
    const run = inTerminal(["call", ...target, "model", ...program]);
    await run.answer("system: Be brief\nuser: What is 2 + 2?", "It is");
    await run.answer("> It is", "four");
    await run.answer("> four", "");
    expect((await run.ended).stdout).toContain('"text":"It is\\nfour"');
  });

  test.concurrent("the answer in the place of a model may be any word, also that for the end of the input", async () => {
    const run = inTerminal(["call", ...target, "model", ...program]);
    await run.answer("user: What is 2 + 2?", "ended");
    await run.answer("> ended", "");
    expect((await run.ended).stdout).toContain('"text":"ended"');
  });

  test.concurrent("folders are asked for, and must be there", async () => {
    const run = inTerminal(["call", ...target, "where", ...program]);
    await run.answer("Folders, separated by commas (none: press Enter): ", "/no/such");
    await run.answer("there is no folder /no/such", folder);
    expect((await run.ended).stdout).toContain(pathToFileURL(folder).href);
  });

  test.concurrent("a call does not time out while the person answers", async () => {
    await using http = await serveHttp(createLibrary());
    const run = inTerminal(["call", "--timeout", "4s", "--revision", "2025-11-25", http.url, "extras"]);
    await run.answer("[c]ancel: ", "y");
    await new Promise((resolve) => setTimeout(resolve, 5_000)); // Longer than the call may take.
    await run.answer("extras (", "bag");
    await run.answer("Send it?", "y");
    const { code, stdout } = await run.ended;
    expect(lastJson(stdout)).toEqual({ action: "accept", content: { extras: ["bag"] } });
    expect(code).toBe(0);
  });

  test.concurrent("a call that needs a page first is made again when the person is done", async () => {
    const server = createServer({ name: "bank", version: "1.0.0" });
    let calls = 0;
    server.tool("balance", {}, () => {
      calls += 1;
      if (calls > 1) return "42";
      const elicitations = [{ mode: "url", message: "Sign in", url: "https://bank.example/in", elicitationId: "1" }];
      throw new RpcError(-32_042, "URL elicitation required", { elicitations });
    });
    await using http = await serveHttp(server);
    const run = inTerminal(["call", "--revision", "2025-11-25", http.url, "balance"]);
    await run.answer("asks you to open a URL: Sign in", "");
    const { code, stdout } = await run.ended;
    expect(stdout).toContain("42\n");
    expect(code).toBe(0);
  });
});
