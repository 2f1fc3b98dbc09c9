import { existsSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

/** The browser of the system; undefined if it has none. Its tests are skipped then. */
export const executablePath: string | undefined = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
].find((path) => path !== undefined && existsSync(path));

let browser: Promise<Browser> | undefined;

/** A page of a real browser, and everything that went wrong in it. */
export class OpenedPage implements AsyncDisposable {
  readonly page: Page;
  /** Requests to another origin, violations of the policy, and errors of scripts. */
  readonly faults: string[] = [];

  private constructor(page: Page, url: string) {
    this.page = page;
    const { host } = new URL(url);
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("console", (message) => message.type() === "error" && this.faults.push(message.text()));
    page.on("request", (request) => {
      const at = new URL(request.url());
      if (at.protocol !== "data:" && at.host !== host) this.faults.push(`request to ${at.host}`);
    });
  }

  static async open(url: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
    browser ??= chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] });
    const context = await (await browser).newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const opened = new OpenedPage(await context.newPage(), url);
    await opened.page.goto(url);
    return opened;
  }

  /** Fails for every finding of axe on the page as it is now. */
  async expectAccessible(): Promise<void> {
    const { violations } = await new AxeBuilder({ page: this.page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }
}

/** Ends the browser, once the tests of a file are over. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}
