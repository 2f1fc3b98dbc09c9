/**
 * Checks the built site: anchors of links, what a search finds, and accessibility in a real browser.
 *
 *     npm ci --prefix docs && npm run docs:check      # builds it first
 *
 * The browser is Chromium, at `CHROMIUM` or where Debian installs it. Without one, the pages are not looked at, and it says so.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import MiniSearch from "minisearch";
import { chromium } from "playwright-core";

const site = join(import.meta.dirname, ".vitepress/dist");
const pages = readdirSync(site, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".html"));
/** @type {string[]} */
const faults = [];

checkAnchors();
await checkSearch();
await checkAccessibility();
for (const fault of faults) console.error(`✖ ${fault}`);
console.log(faults.length === 0 ? "✔ the site is clean" : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Every link within the site leads to a page, and to a heading of it. VitePress checks the pages alone. */
function checkAnchors() {
  const texts = new Map(pages.map((path) => [path, readFileSync(join(site, path), "utf8")]));
  const ids = new Map(
    [...texts].map(([path, text]) => [path, new Set(Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id))]),
  );
  const linked = new Set(["index.html", "404.html"]);
  let links = 0;
  for (const [path, text] of texts) {
    for (const [, href = ""] of text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      if (/^[a-z]+:/.test(href)) continue;
      const url = new URL(href.replaceAll("&amp;", "&"), `http://site/${path}`);
      const target = [
        `${url.pathname.slice(1)}.html`,
        `${url.pathname.slice(1)}index.html`,
        url.pathname.slice(1),
      ].find((each) => texts.has(each));
      links += 1;
      if (target !== undefined && target !== path) linked.add(target);
      if (target === undefined) {
        if (!existsSync(join(site, url.pathname))) faults.push(`${path}: ${href} leads nowhere`);
      } else if (url.hash !== "" && !ids.get(target)?.has(decodeURIComponent(url.hash.slice(1))))
        faults.push(`${path}: ${href}: the page has no such heading`);
    }
  }
  for (const path of pages.filter((each) => !linked.has(each)))
    faults.push(`${path}: no page links to it, nor the sidebar`);
  for (const [path, text] of texts)
    if (
      !path.startsWith("reference/api/") &&
      path !== "404.html" &&
      !/<meta name="description" content="[^"]{40,}"/.test(text)
    )
      faults.push(`${path}: has no description of its own in its front matter`);
  console.log(`${links} links of ${pages.length} pages`);
}

/** What users search for: each finds a page whose title has the word, with the index that the site's own search uses. */
async function checkSearch() {
  const words =
    "install quickstart server client tool resource prompt elicitation sampling transport session reconnect authorization users deploy test migrate troubleshoot".split(
      " ",
    );
  const chunks = join(site, "assets/chunks");
  const name = readdirSync(chunks).find((each) => each.startsWith("@localSearchIndexroot"));
  if (name === undefined) throw new Error("the site has no search index");
  const { default: json } = await import(join(chunks, name));
  const index = MiniSearch.loadJSON(json, { fields: ["title", "titles", "text"], storeFields: ["title", "titles"] });
  for (const word of words) {
    // The options of VitePress's search box.
    const found = index
      .search(word, { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } })
      .slice(0, 16);
    const titles = found.flatMap(({ title, titles }) => [title, ...titles].slice(-2));
    if (!titles.some((title) => new RegExp(word, "i").test(title)))
      faults.push(`search: ${word} finds ${titles.join(" · ")}`);
  }
  console.log(`${words.length} words are searched for`);
}

/** axe finds nothing on five pages, in both colour schemes. */
async function checkAccessibility() {
  const candidates = [
    process.env.CHROMIUM,
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
  ];
  const executablePath = candidates.find((path) => path !== undefined && existsSync(path));
  if (executablePath === undefined) {
    const message = "there is no Chromium: accessibility is not checked";
    if (process.env.CI === undefined) console.warn(`– ${message}`);
    else faults.push(message);
    return;
  }
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://site").pathname;
    const file = [path, `${path}.html`, `${path}index.html`]
      .map((each) => join(site, each))
      .find((each) => extname(each) !== "" && existsSync(each));
    if (file === undefined) return response.writeHead(404).end();
    const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
    response.writeHead(200, {
      "content-type": Object.entries(types).find(([end]) => file.endsWith(end))?.[1] ?? "application/octet-stream",
    });
    return response.end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
      const context = await browser.newContext({ colorScheme });
      for (const path of ["/", "/start/server", "/guides/elicitation", "/reference/rules", "/troubleshoot/"]) {
        const page = await context.newPage();
        await page.goto(`http://127.0.0.1:${port}${path}`, { waitUntil: "networkidle" });
        const { violations } = await new AxeBuilder({ page }).analyze();
        for (const { id, help, nodes } of violations)
          faults.push(
            `${path} (${colorScheme}): ${id}: ${help}: ${nodes
              .map(({ target }) => target.join(" "))
              .slice(0, 3)
              .join(" · ")}`,
          );
        const folder = process.env.SCREENSHOTS;
        if (folder !== undefined)
          await page.screenshot({ path: join(folder, `${colorScheme}${path.replaceAll("/", "-")}.png`) });
        await page.close();
      }
      await context.close();
    }
  } finally {
    await browser.close();
    server.close();
  }
  console.log("axe: five pages, light and dark");
}
