import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openConnection } from "@parlance/mcp/jsonrpc";
import { nodeWebSocketChannel } from "@parlance/mcp/websocket";
import { afterAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { fixture, start, toolsServer } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedPage, ServedRun } from "./served-page.js";

const inBrowser = describe.skipIf(executablePath === undefined);

afterAll(closeBrowser);

const actingServer = ["--", process.execPath, fixture("acting-server.js")];

const inRevision = (revision: string): readonly string[] => ["--revision", revision];

inBrowser("the page acts", () => {
  test("calls a tool with a form, and leads to the frames of the call", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(toolsServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByRole("button", { name: /^add/ }).click();
    const [a, b] = [page.getByLabel("a", { exact: true }), page.getByLabel("b", { exact: true })];
    await page
      .getByText(/expected .*, got nothing/)
      .first()
      .waitFor();
    await a.fill("two");
    await page.getByText("not a number").waitFor();
    await a.fill("2");
    await b.fill("3");
    await page.getByText(`parlance call add a=2 b=3 -- ${process.execPath}`).waitFor();
    await b.press("Enter");
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("sum").first().waitFor();
    expect(await result.textContent()).toContain('"sum": 5');
    expect(await result.textContent()).not.toContain('{"sum":5}'); // The text that repeats it.
    await result.getByRole("button", { name: /^request/ }).click();
    await page.getByRole("heading", { name: /^req \d+/ }).waitFor();
    expect(await page.locator(".detail .json").textContent()).toContain('"name": "add"');
    await result.getByRole("button", { name: /^response/ }).click();
    await page.getByRole("heading", { name: /^res \d+/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test("shows failures as they are, and no control character of a result", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(toolsServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    const result = page.getByRole("region", { name: "Result" });
    const call = async (tool: string): Promise<void> => {
      await page.keyboard.press("t");
      await page.locator("#sought:focus").waitFor();
      await page.keyboard.type(tool);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Call", exact: true }).press("Enter");
      await page.locator(".result[aria-busy=false]").waitFor();
    };
    await page.getByRole("button", { name: /^fail/ }).waitFor();
    await page.getByRole("grid").focus();
    await call("fail");
    expect(await result.textContent()).toMatch(/^isError.*the disk is full/s);
    await page.keyboard.press("Escape");
    await call("crash");
    expect(await result.textContent()).toMatch(/^error response.*-32603/s);
    await page.keyboard.press("Escape");
    await call("escape");
    expect(await result.textContent()).toContain("\\u{1b}[31mred");
    expect(faults).toEqual([]);
  });

  test("sends numbers as they are typed: in fields, as JSON, and in an edited request", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(actingServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    const request = page.getByRole("region", { name: "Result" }).getByRole("button", { name: /^request/ });
    const sent = page.locator(".detail .json");
    await page.getByRole("button", { name: /^everything/ }).click();
    const part = page.getByLabel("part", { exact: true });
    await part.pressSequentially("1.05");
    expect(await part.inputValue()).toBe("1.05");
    await part.fill("12345678901234567890.5");
    const count = page.getByLabel("count", { exact: true });
    await count.fill("1.5");
    await page.getByText("not a whole number").waitFor();
    await count.fill("9007199254740993");
    await page.getByText("expected at most 50").waitFor();
    await page.getByLabel("text", { exact: true }).fill("9007199254740993");
    await page.getByLabel("room").fill("A");
    await page.getByLabel("anything").fill("[1.0, 12345678901234567890]");
    await page
      .getByText(/count=9007199254740993 part:=12345678901234567890.5 .*'anything:=\[1.0,12345678901234567890\]'/)
      .waitFor();
    await page.getByRole("button", { name: "Call anyway" }).click();
    await request.click();
    await sent.getByText("12345678901234567890.5").waitFor();
    for (const text of ['"count": 9007199254740993', '"text": "9007199254740993"', "12345678901234567890.5", "1.0"])
      expect(await sent.textContent()).toContain(text);

    await page.getByRole("button", { name: "as JSON" }).click();
    const json = page.getByRole("textbox", { name: "arguments" });
    expect(await json.inputValue()).toContain('"count": 9007199254740993');
    await json.fill('{"text": "x", "shelf": {"room": "A", "level": 12345678901234567891}}');
    await page.getByRole("button", { name: /^Call/ }).click();
    // Until the new result is there, the button leads to the request of the one before.
    const shown = async (): Promise<string | null> => {
      await request.click();
      return sent.textContent();
    };
    await expect.poll(shown, { timeout: 30_000 }).toContain("12345678901234567891");

    await page.getByRole("grid").focus();
    await page.keyboard.press("e");
    await page.locator("#edited:focus").waitFor();
    const editor = page.getByRole("textbox", { name: "Message" });
    expect(await editor.inputValue()).toContain('"level": 12345678901234567891');
    await editor.fill((await editor.inputValue()).replace("67891", "67892"));
    await editor.press("Control+Enter");
    await expect.poll(shown, { timeout: 30_000 }).toContain("12345678901234567892");
    expect(faults).toEqual([]);
  });

  test("completes JSON by the schema, and leads from each fault to its line", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(actingServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    const { keyboard } = page;
    await page.getByRole("button", { name: /^everything/ }).click();
    await page.getByRole("button", { name: "as JSON" }).click();
    const json = page.getByRole("textbox", { name: "arguments" });
    const options = page.getByRole("listbox", { name: "Suggestions" }).getByRole("option");
    await json.fill("");
    await json.pressSequentially('{\n  "te');
    await expect.poll(() => options.allTextContents()).toEqual(['"text": ']);
    await opened.expectAccessible();
    await keyboard.press("ArrowDown");
    await keyboard.press("Enter");
    await keyboard.type('"a",\n  "lan');
    await keyboard.press("ArrowDown");
    await keyboard.press("Tab");
    await keyboard.press("Control+Space");
    await expect.poll(() => options.allTextContents()).toEqual(['"en"', '"de"']);
    await options.last().click();
    await keyboard.type(',\n  "shelf": { "ro');
    await expect.poll(() => options.allTextContents()).toEqual(['"room": ']);
    await keyboard.press("Escape");
    await expect.poll(() => options.count()).toBe(0);
    await keyboard.type('om": 5 }\n}');
    expect(await json.inputValue()).toBe('{\n  "text": "a",\n  "language": "de",\n  "shelf": { "room": 5 }\n}');
    const fault = page.locator(".fault", { hasText: "/shelf/room" });
    await fault.getByRole("button", { name: "line 4" }).click();
    const chosen = (): Promise<string> =>
      json.evaluate((element) => {
        const { value, selectionStart, selectionEnd } = element as HTMLTextAreaElement;
        return value.slice(selectionStart, selectionEnd);
      });
    expect(await chosen()).toBe("5");
    await keyboard.type('"A"');
    await fault.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("region", { name: "Result" }).getByText('"language":"de"').waitFor();
    expect(faults).toEqual([]);
  });

  test("checks an edited request by the schema of its tool", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(actingServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByRole("button", { name: /^everything/ }).click();
    await page.getByRole("button", { name: "as JSON" }).click();
    await page.getByRole("textbox", { name: "arguments" }).fill('{"text": "x", "shelf": {"room": "A"}}');
    await page.getByRole("button", { name: /^Call/ }).click();
    await page
      .getByRole("region", { name: "Result" })
      .getByRole("button", { name: /^request/ })
      .click();
    await page.getByRole("heading", { level: 2, name: /^req/ }).waitFor();
    await page.getByRole("button", { name: /^edit & resend/ }).click();
    const message = page.getByRole("textbox", { name: "Message" });
    await message.fill((await message.inputValue()).replace('"A"', "7"));
    await page
      .locator(".fault", { hasText: "/params/arguments/shelf/room" })
      .getByRole("button", { name: /^line/ })
      .waitFor();
    await opened.expectAccessible();
    expect(faults).toEqual([]);
  });

  test("saves a request as a file, opens it again, and replaces it at a second press alone", async () => {
    using folder = new Scratch();
    const requests = folder.at("requests");
    mkdirSync(requests);
    writeFileSync(join(requests, "rules.json"), '{"method":"resources/read","params":{"uri":"library:rules"}}');
    writeFileSync(join(requests, "anything.json"), '{"method":"example/any","description":"<b>any</b>\u202e"}');
    writeFileSync(join(requests, "broken.json"), "{");
    await using run = await ServedRun.open(["--requests", requests, ...actingServer], folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByText("broken.json:1:2: ").waitFor();
    await page.getByRole("button", { name: /^everything/ }).click();
    await page.getByLabel("text", { exact: true }).fill("first");
    await page.getByLabel("room").fill("A");
    await page.getByLabel("count", { exact: true }).fill("9007199254740993");
    await page.getByText("Save this request").click();
    const name = page.getByLabel("Name of its file");
    expect(await name.inputValue()).toBe("everything");
    const [save, replace] = ["Save", "Replace"].map((each) => page.getByRole("button", { name: each, exact: true }));
    await name.fill("../everything");
    await save?.click();
    await page.locator(".fault", { hasText: "path separator" }).waitFor();
    await name.fill("mine");
    await name.press("Enter");
    await page
      .getByText(/^Saved to .*mine\.json$/)
      .first()
      .waitFor();
    const path = join(requests, "mine.json");
    const first = readFileSync(path, "utf8");
    expect(first).toContain('"count": 9007199254740993');
    expect(readdirSync(folder.path)).not.toContain("everything.json");

    await page.getByLabel("text", { exact: true }).fill("second");
    await save?.click();
    await replace?.waitFor();
    expect(readFileSync(path, "utf8")).toBe(first);
    await opened.expectAccessible();
    await replace?.click();
    await expect.poll(() => readFileSync(path, "utf8")).toContain("second");
    expect(readdirSync(requests)).toHaveLength(4);

    await page.reload();
    await page.getByRole("button", { name: /^@mine/ }).click();
    await page.getByLabel("text", { exact: true }).waitFor();
    expect(await page.getByLabel("text", { exact: true }).inputValue()).toBe("second");
    expect(await page.getByLabel("count", { exact: true }).inputValue()).toBe("9007199254740993");
    await page.getByRole("button", { name: "all", exact: true }).click();
    await page.getByRole("button", { name: /^@rules/ }).click();
    await page.getByRole("button", { name: "Read", exact: true }).click();
    await page.getByRole("region", { name: "Result" }).getByText("Be quiet.").waitFor();
    await page.getByRole("button", { name: "all", exact: true }).click();
    await opened.expectAccessible();
    expect(await page.getByRole("button", { name: /^@anything/ }).textContent()).toContain("<b>any</b>\\u{202e}");
    await page.getByRole("button", { name: /^@anything/ }).click();
    await page.getByRole("textbox", { name: "Message" }).press("Control+Enter");
    await page
      .getByRole("row", { name: /example\/any/ })
      .first()
      .waitFor();
    expect(faults).toEqual([]);
  });

  test("shows the progress of a call, and cancels it", async () => {
    using folder = new Scratch();
    // It runs until it is cancelled.
    await using run = await ServedRun.open(["--timeout", "60m", ...actingServer], folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByRole("button", { name: /^endless/ }).click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("3 of 10").waitFor();
    await page.getByText("shelf 3").first().waitFor();
    await opened.expectAccessible();
    expect(await page.getByRole("progressbar").getAttribute("value")).toBe("3");
    await page.reload();
    await page.getByText("3 of 10").waitFor();
    await page.getByRole("button", { name: "cancel" }).click();
    await page.getByRole("row", { name: /notifications\/cancelled/ }).waitFor();
    await expect.poll(() => page.getByRole("progressbar").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("sends a request again: edited, with a new id, and as it is written", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open([...inRevision("2025-11-25"), ...toolsServer], folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /tools\/call hello/ }).click();
    await page.keyboard.press("e");
    const editor = page.getByRole("textbox", { name: "Message" });
    await page.locator("#edited:focus").waitFor();
    expect(JSON.parse(await editor.inputValue())).toEqual({
      method: "tools/call",
      params: { name: "hello", arguments: {} },
    });
    await editor.fill("{");
    await page.getByText(/^not JSON: /).waitFor();
    expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
    await editor.fill('{"method": "tools/call", "params": {"name": "nothing"}}');
    await editor.press("Control+Enter");
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("error response").waitFor();
    expect(await result.textContent()).toContain("-32602");

    await page.getByLabel("as it is written").check();
    await editor.fill('{"jsonrpc":"2.0","id":"mine","method":"ping"}');
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page
      .getByRole("row", { name: /"mine"/ })
      .nth(1)
      .waitFor();
    await editor.fill("{not JSON");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("row", { name: /-32700/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test("sends a body as it is written over HTTP, with the headers that repeat it", async () => {
    using folder = new Scratch();
    const serving = start(["serve", fixture("tools-server.js"), "--http", "0"]);
    await serving.until("/mcp");
    const url = /http:\/\/\S+?\/mcp/.exec(await serving.firstLine)?.[0] ?? "";
    {
      await using run = await ServedRun.open([...inRevision("2026-07-28"), url], folder);
      await using opened = await OpenedPage.open(run.url);
      const { page, faults } = opened;
      await page.getByRole("row", { name: /tools\/call hello/ }).click();
      await page.keyboard.press("e");
      await page.locator("#edited:focus").waitFor();
      await page.getByLabel("as it is written").check();
      const editor = page.getByRole("textbox", { name: "Message" });
      await editor.fill((await editor.inputValue()).replace('"hello"', '"fail"'));
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByRole("row", { name: /tools\/call: fail isError/ }).waitFor();
      expect(faults).toEqual([]);
    }
    serving.interrupt();
    await serving.ended;
  });

  test("answers what the server asks for", async () => {
    using folder = new Scratch();
    for (const revision of ["2025-11-25", "2026-07-28"]) {
      await using run = await ServedRun.open([...inRevision(revision), ...actingServer], folder);
      await using opened = await OpenedPage.open(run.url);
      const { page, faults } = opened;
      const result = page.getByRole("region", { name: "Result" });
      await page.getByRole("button", { name: /^borrow/ }).click();
      await page.getByRole("button", { name: "Call", exact: true }).click();
      const form = page.getByRole("form", { name: /fill in a form/ });
      await form.getByText("Which card?").waitFor();
      await form.getByLabel("card").fill("A");
      await form.getByRole("button", { name: "Send" }).click();
      await page.getByRole("alert").getByText("/card").waitFor();
      await form.getByLabel("card").fill("A-113");
      const mark = form.getByLabel("mark");
      await mark.fill("9007199254740993");
      await form.getByRole("button", { name: "Send" }).click();
      await page.getByRole("alert").getByText("beyond 2^53").waitFor();
      await mark.fill("3.0");
      await form.getByRole("button", { name: "Send" }).click();
      await result.getByText(/"card":"A-113","mark":3/).waitFor();

      await page.keyboard.press("Escape");
      await page.keyboard.press("t");
      await page.getByRole("button", { name: /^summarise/ }).click();
      await page.getByRole("button", { name: "Call", exact: true }).click();
      const sampling = page.getByRole("form", { name: /sampling/ });
      await sampling.getByLabel("The text of the model").fill("A whale.");
      await sampling.getByRole("button", { name: "Send" }).click();
      await result.getByText(/A whale\./).waitFor();
      expect(faults).toEqual([]);
    }
  });

  test("subscribes to a resource, and completes an argument of a prompt", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(actingServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByRole("button", { name: /^library:shelves/ }).click();
    await page.getByRole("button", { name: "subscribe", exact: true }).click();
    await page.getByText("0 updates").waitFor();
    await page.getByRole("button", { name: "all", exact: true }).click();
    await page.getByRole("button", { name: /^build/ }).click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("row", { name: /resources\/updated/ }).waitFor();
    await page.getByRole("button", { name: "all", exact: true }).click();
    await page
      .getByRole("button", { name: /^library:shelves/ })
      .first()
      .click();
    await page.getByText("1 update", { exact: true }).waitFor();
    await page.getByRole("button", { name: "all", exact: true }).click();
    await page.getByRole("button", { name: /^review/ }).click();
    await page.getByLabel("tone").fill("fr");
    await expect
      .poll(() => page.locator("datalist option").evaluateAll((all) => all.map((each) => each.getAttribute("value"))))
      .toEqual(expect.arrayContaining(["friendly", "frank"]));
    await page.getByLabel("book").fill("Moby-Dick");
    await page.getByRole("button", { name: "Get", exact: true }).click();
    await page.getByRole("region", { name: "Result" }).getByText("user: Review Moby-Dick.").waitFor();
    expect(faults).toEqual([]);
  });

  test("shows the whole URL that a server asks to open, its host apart, and opens it only for a person", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(actingServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    const form = page.getByRole("form", { name: /open a URL/ });
    const call = async (tool: string): Promise<void> => {
      await page
        .getByRole("button", { name: new RegExp(`^${tool}\\b`) })
        .first()
        .click();
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await form.waitFor();
    };
    await call("pay");
    const link = form.getByRole("link");
    expect(await link.textContent()).toBe("https://library.example/fines/4711?due=2");
    expect(await link.evaluate(({ rel, target }: HTMLAnchorElement) => [rel, target])).toEqual([
      "noreferrer",
      "_blank",
    ]);
    await form.getByText("It is a page of library.example").waitFor();
    expect(page.context().pages()).toHaveLength(1);
    await form.getByRole("button", { name: "I have opened it" }).click();
    await page.getByRole("region", { name: "Result" }).getByText('"action":"accept"').waitFor();
    await page.getByRole("button", { name: "all", exact: true }).click();
    await call("pay_elsewhere");
    await form.getByText("It is a page of xn--lbrary-pvf.example:8443").waitFor();
    await form.getByText(/letters that look like others/).waitFor();
    await form.getByRole("button", { name: "decline" }).click();
    await page.getByRole("region", { name: "Result" }).getByText('"action":"decline"').waitFor();
    expect(faults).toEqual([]);
  });

  test("has no finding of axe in every look: the lists, and a form", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(actingServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByRole("button", { name: /^Server/ }).waitFor();
    await page.keyboard.press("t");
    await page.getByText(/^Roots: /).click();
    // The second is a call that an earlier page has made.
    const everything = page.getByRole("button", { name: /^everything/ }).first();
    await everything.waitFor();
    await opened.expectAccessible();
    await everything.click();
    for (const name of ["add", "add one"])
      for (const button of await page.getByRole("button", { name, exact: true }).all()) await button.click();
    await opened.expectAccessible();
    expect(faults).toEqual([]);
  });

  test("has no finding of axe in every look: a result, and an edited request", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(actingServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page
      .getByRole("button", { name: /^everything/ })
      .first()
      .click();
    await page.getByRole("button", { name: "as JSON" }).click();
    await page.getByRole("textbox", { name: "arguments" }).fill('{"text": "x", "shelf": {"room": "A"}}');
    await page.getByRole("button", { name: /^Call/ }).click();
    const result = page.getByRole("region", { name: "Result" });
    await result.getByRole("button", { name: /^response/ }).waitFor();
    await opened.expectAccessible();
    await result.getByRole("button", { name: /^request/ }).click();
    await page.getByRole("heading", { level: 2, name: /^req/ }).waitFor();
    await page.getByRole("grid").focus();
    await page.keyboard.press("e");
    await page.locator("#edited:focus").waitFor();
    await opened.expectAccessible();
    expect(faults).toEqual([]);
  });

  test.each([
    ["borrow", /fill in a form/],
    ["pay", /open a URL/],
    ["summarise", /sampling/],
  ])("has no finding of axe in every look: a call of %s that asks for input", async (tool, title) => {
    using folder = new Scratch();
    await using run = await ServedRun.open(actingServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page
      .getByRole("button", { name: new RegExp(`^${tool}`) })
      .first()
      .click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("form", { name: title }).waitFor();
    await opened.expectAccessible();
    await page.getByRole("button", { name: "decline" }).click();
    expect(faults).toEqual([]);
  });
});

test("a page that shows a recording cannot make requests", async () => {
  using folder = new Scratch();
  const path = folder.at("run.parlance.jsonl");
  expect(await start(["run", "--once", "--record", path, ...toolsServer]).ended).toMatchObject({ code: 0 });
  await using served = await ServedPage.open(path);
  const protocols = ["parlance-page", new URL(served.url).hash.replace("#token=", "parlance-token.")];
  const socket = new WebSocket(`${served.origin.replace("http", "ws")}/connection`, protocols);
  const connection = openConnection(nodeWebSocketChannel(socket));
  expect(await connection.call("acting", {})).toBeNull();
  await expect(connection.call("request", { method: "tools/list", params: {} })).rejects.toThrow("only recordings");
  await connection.close();
});
