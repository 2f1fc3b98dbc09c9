import { existsSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { inForm } from "../testing/forms.js";

/** The browser of the system; undefined if it has none. Its tests are skipped then. */
export const executablePath: string | undefined = [
  process.env.CHROMIUM,
  "/usr/bin/chromium-headless-shell", // Takes less time than the whole browser.
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
].find((path) => path !== undefined && existsSync(path));

let browser: Promise<Browser> | undefined;

type Media = Parameters<Page["emulateMedia"]>[0];

/** The looks beside the light one: the media features of each, and its width. */
const looks: readonly (readonly [name: string, media: Media, width?: number])[] = [
  ["dark", { colorScheme: "dark" }],
  ["forced colours", { forcedColors: "active" }],
  ["narrow", {}, 320],
];

/** The rules of axe whose findings depend on colours or on what a narrow page hides. */
const rulesOfLook = [
  "color-contrast",
  "link-in-text-block",
  "scrollable-region-focusable",
  "aria-hidden-focus",
  "nested-interactive",
  "region",
  "bypass",
];

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

  /** Loads the page again, through a connection on which the messages of the command can be held. */
  async holdable(): Promise<Held> {
    const held = new Held(this.page);
    await this.page.routeWebSocket(/\/connection$/, (toPage) => {
      toPage.connectToServer().onMessage((message) => held.take(() => toPage.send(message)));
    });
    await this.page.reload();
    return held;
  }

  /** Fails for every finding of axe on the page as it is now; in the long form in every look, for the rules that depend on it. */
  async expectAccessible(): Promise<void> {
    await this.#expectNoFindings("light", axe(this.page));
    for (const [look, media, width] of inForm({ long: looks, short: [] })) {
      const size = this.page.viewportSize();
      await this.page.emulateMedia(media);
      if (width !== undefined) await this.page.setViewportSize({ width, height: 800 });
      await this.#expectNoFindings(look, axe(this.page).withRules([...rulesOfLook]));
      // A narrow page scrolls one way only: https://www.w3.org/TR/WCAG22/#reflow
      const tooWide = await this.page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(`${look}: ${tooWide} pixels too wide`).toBe(`${look}: 0 pixels too wide`);
      await this.page.emulateMedia({ colorScheme: null, forcedColors: null });
      if (size !== null) await this.page.setViewportSize(size);
    }
  }

  async #expectNoFindings(look: string, builder: AxeBuilder): Promise<void> {
    const { violations } = await builder.analyze();
    expect(violations.map(({ id, nodes }) => `${look}: ${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }
}

/** Axe for a page without frames, for which it need not open a second page; describes violations only. */
function axe(page: Page): AxeBuilder {
  return new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
}

/** Messages of the command to a page, which are held for a time. */
class Held {
  readonly #page: Page;
  #waiting: (() => void)[] | undefined;

  constructor(page: Page) {
    this.#page = page;
  }

  take(send: () => void): void {
    if (this.#waiting === undefined) send();
    else this.#waiting.push(send);
  }

  /** Holds every message while something is done: a command that is slow to answer. */
  async while(act: () => Promise<void>): Promise<void> {
    this.#waiting = [];
    await act();
    // The page takes in each before the next one, as it does from a socket.
    for (let send = this.#waiting.shift(); send !== undefined; send = this.#waiting.shift()) {
      send();
      await this.#page.evaluate(() => undefined);
    }
    this.#waiting = undefined;
  }
}

/** Presses Tab until the focus is on an element with these words; before them stand those of its row, or its paragraph. */
export async function tabTo(page: Page, words: RegExp): Promise<void> {
  for (let pressed = 0; pressed < 100; pressed += 1) {
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      return `${element?.closest("tr, li, p")?.textContent} ${element?.tagName} ${element?.textContent}`;
    });
    if (words.test(focused)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${words}`);
}

/** Ends the browser, once the tests of a file are over. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}
