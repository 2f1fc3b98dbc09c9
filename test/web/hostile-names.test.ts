import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedRun } from "./served-page.js";

const inBrowser = describe.skipIf(executablePath === undefined);

afterAll(closeBrowser);

/** Names as no server should have them. */
const names = {
  markup: "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`{{x}}",
  bidi: "\u202egnp.exe\u2066 \u200f",
  controls: "a\u0000\u0007\u001b[31m\u009b31m\nb",
  surrogate: "\ud800",
  proto: "__proto__",
  long: "long".repeat(2_500),
};

/** A server that has them in every place of its lists, and repeats the arguments of a call as text. */
const hostile = `import { createInterface } from "node:readline";
const names = ${JSON.stringify(names)};
const each = (make) => Object.values(names).map(make);
const own = (entries) => Object.fromEntries(entries);
const tool = (name) => ({
  name, title: name, description: name,
  annotations: { title: name },
  icons: [{ src: "https://example.com/x.png" }, { src: "javascript:alert(3)" }],
  inputSchema: {
    type: "object",
    properties: own(each((property) => [property, {
      type: "string", description: property, format: property, examples: [property],
      ...(property === names.proto ? {} : { enum: Object.values(names), enumNames: Object.values(names) }),
    }])),
    required: [names.proto],
  },
});
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {}, prompts: {}, resources: {} }, serverInfo: { name: names.markup, version: names.bidi },
  }),
  "tools/list": () => ({ tools: each(tool) }),
  "prompts/list": () => ({ prompts: each((name) => ({ name, title: name, description: name, arguments: each((name) => ({ name, description: name })) })) }),
  "resources/list": () => ({ resources: each((name) => ({ uri: "x:" + name, name, title: name, description: name, mimeType: name })) }),
  "resources/templates/list": () => ({ resourceTemplates: each((name) => ({ uriTemplate: "x:" + name + "{" + name + "}", name })) }),
  "tools/call": ({ arguments: args }) => ({ content: [{ type: "text", text: JSON.stringify(Object.entries(args)) }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params);
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error: { code: -32601, message: names.bidi } } : { result }) }));
});
`;

/** Characters that move the text around them, or do not show. */
const hidden = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

inBrowser("names that a server chose", () => {
  test.each([1440, 320])("execute nothing, and leave the layout as it is, at %i pixels", async (width) => {
    using folder = new Scratch();
    writeFileSync(folder.at("server.mjs"), hostile);
    await using run = await ServedRun.open(
      ["--revision", "2025-11-25", "--", process.execPath, folder.at("server.mjs")],
      folder,
    );
    await using opened = await OpenedPage.open(run.url, { viewport: { width, height: 900 } });
    const { page, faults } = opened;
    page.on("dialog", (dialog) => faults.push(`dialog ${dialog.message()}`));
    const panel = page.locator(".act");
    const expectHarmless = async (): Promise<void> => {
      expect(await panel.locator("img, script").count()).toBe(0);
      expect((await panel.textContent())?.match(hidden)).toBeNull();
      const widest = await page.evaluate(() => [
        document.documentElement.scrollWidth - document.documentElement.clientWidth,
        ...[...document.querySelectorAll(".act, .act *:not(textarea, input, select, option, pre)")].map(
          (each) => each.getBoundingClientRect().right - (each.closest(".act")?.getBoundingClientRect().right ?? 0),
        ),
      ]);
      expect(Math.max(...widest)).toBeLessThanOrEqual(0);
    };
    await page.getByRole("button", { name: /^Server/ }).waitFor();
    if (width < 1_000) await page.getByRole("button", { name: /^Server/ }).click();
    const offers = panel.locator(".offer");
    const count = 4 * Object.keys(names).length;
    await expect.poll(() => offers.count()).toBe(count);
    await expectHarmless();
    expect((await panel.textContent())?.length).toBeLessThan(40_000);
    // Every tool, and some of the others.
    for (const place of [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 18, 19]) {
      await offers.nth(place).click();
      await panel.getByRole("heading", { level: 2 }).waitFor();
      await expectHarmless();
      await page.getByRole("button", { name: "all", exact: true }).click();
    }
    const proto = panel.getByRole("button", { name: "__proto__ __proto__ __proto__" }).first();
    await proto.click();
    // Each reference leads to the element that it names.
    expect(
      await panel.locator("[aria-describedby], [list]").evaluateAll((all) =>
        all.flatMap((each) => {
          const ids = `${each.getAttribute("aria-describedby") ?? ""} ${each.getAttribute("list") ?? ""}`;
          return ids.split(" ").filter((id) => id !== "" && document.getElementById(id) === null);
        }),
      ),
    ).toEqual([]);
    await panel.getByLabel("__proto__", { exact: true }).fill("own");
    await panel.getByRole("button", { name: /^Call/ }).click();
    await panel.getByText('[["__proto__","own"]]').waitFor();
    await expectHarmless();
    await opened.expectAccessible();
    expect(faults).toEqual([]);
  });
});
