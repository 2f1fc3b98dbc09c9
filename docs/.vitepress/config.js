import { existsSync, readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

const docs = new URL("../", import.meta.url);

/** @param {string} page @returns {string} the first heading of the page */
function titleOf(page) {
  const text = readFileSync(new URL(`${page}.md`, docs), "utf8");
  return /^# (.+)$/m.exec(text)?.[1] ?? page;
}

/**
 * A group of the sidebar. The words of an item are the title of its page, so they are stated once.
 *
 * @param {string} text
 * @param {string} folder
 * @param {readonly string[]} pages
 */
function group(text, folder, pages) {
  return {
    text,
    items: pages.map((page) => ({
      text: titleOf(`${folder}/${page}`),
      link: `/${folder}/${page === "index" ? "" : page}`,
    })),
  };
}

const repository = "https://github.com/parlance-mcp/parlance";

const start = [group("Start", "start", ["install", "create", "server", "client", "test", "look"])];

const guides = [
  group("Servers", "guides", [
    "tools",
    "structured-output",
    "paged-results",
    "schemas",
    "resources",
    "changes",
    "database",
    "prompts",
    "elicitation",
    "input-rounds",
    "sampling",
    "progress",
    "errors",
    "error-codes",
    "tasks",
    "custom-methods",
    "middleware",
  ]),
  group("Clients", "guides", [
    "client",
    "client-http",
    "authorization-client",
    "authorization-machine",
    "client-input",
    "subscriptions",
    "reconnect",
    "lenient",
  ]),
  group("HTTP", "guides", [
    "http",
    "express",
    "frameworks",
    "nextjs",
    "bun-deno",
    "workers",
    "sessions",
    "authorization",
    "authorization-providers",
    "several-users",
    "authorization-debug",
    "lists-per-caller",
    "oauth-proxy",
    "dev-auth",
    "http-errors",
    "deploy",
    "reverse-proxy",
  ]),
  group("Transports", "guides", ["transports", "stdio", "sockets", "websocket", "bridge"]),
  group("Tools and tests", "guides", [
    "testing",
    "inspector",
    "debug",
    "typescript",
    "json-rpc",
    "json-rpc-cancellation",
  ]),
];

const api = new URL("reference/api/", docs);
const apiPages = existsSync(api)
  ? readdirSync(api)
      .filter((name) => name.endsWith(".md") && name !== "README.md")
      .map((name) => name.replace(".md", ""))
  : [];

const reference = [
  group("Command", "reference", [
    "commands",
    "record",
    "check",
    "filters",
    "replay",
    "rules",
    "portability",
    "messages",
  ]),
  group("Options of commands", "reference/commands", [
    "connect",
    "call",
    "replay",
    "read",
    "check",
    "authorize",
    "serve",
    "help",
  ]),
  group("Protocol", "reference", ["error-codes", "revisions", "limits", "recording-format", "glossary"]),
  {
    text: "API",
    items: apiPages.map((name) => ({
      text: name === "mcp" || name === "wire" ? `@parlance/${name}` : `@parlance/mcp/${name}`,
      link: `/reference/api/${name}`,
    })),
  },
];

const migrate = [
  group("Migrate", "migrate", ["index", "sdk-v1", "sdk-v2", "fastmcp", "mcp-lite", "jayson", "vscode-jsonrpc"]),
];
const troubleshoot = [group("Troubleshoot", "troubleshoot", ["index", "http", "typescript", "hosts"])];
const design = [
  group("Design", "design", ["how-it-works", "performance", "security", "rough-edges", "dependencies", "versioning"]),
];

export default defineConfig({
  title: "Parlance",
  description: "A TypeScript toolkit for the Model Context Protocol and JSON-RPC 2.0",
  lang: "en",
  base: process.env.DOCS_BASE ?? "/",
  cleanUrls: true,
  lastUpdated: false,
  // The theme gives every page a main landmark but the first.
  transformHtml: (html) => html.replace('<div class="VPContent is-home"', '<div role="main" class="VPContent is-home"'),
  srcExclude: ["node_modules/**", "reference/api/README.md"],
  head: [["link", { rel: "icon", href: `${process.env.DOCS_BASE ?? "/"}icon.svg`, type: "image/svg+xml" }]],
  // Links to files of the repository beside the pages; the rule below makes them links to the repository.
  ignoreDeadLinks: [
    /^\.\/\.\.\/\.\.\/(?:test|etc|CHANGELOG|SECURITY|CONTRIBUTING|examples|bench|conformance|packages)/,
  ],
  markdown: {
    config(md) {
      const open = md.renderer.rules.link_open;
      md.renderer.rules.link_open = (tokens, index, options, env, self) => {
        const token = tokens[index];
        const [, path] = /^(?:\.\.\/){2}(.+)$/.exec(token?.attrGet("href") ?? "") ?? [];
        if (path !== undefined && token !== undefined) token.attrSet("href", `${repository}/blob/main/${path}`);
        return open === undefined ? self.renderToken(tokens, index, options) : open(tokens, index, options, env, self);
      };
    },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    logo: "/icon.svg",
    nav: [
      { text: "Start", link: "/start/server", activeMatch: "/start/" },
      { text: "Guides", link: "/guides/tools", activeMatch: "/guides/" },
      { text: "Reference", link: "/reference/commands", activeMatch: "/reference/" },
      { text: "Migrate", link: "/migrate/", activeMatch: "/migrate/" },
      { text: "Troubleshoot", link: "/troubleshoot/", activeMatch: "/troubleshoot/" },
      { text: "Design", link: "/design/how-it-works", activeMatch: "/design/" },
    ],
    sidebar: {
      "/start/": start,
      "/guides/": guides,
      "/reference/": reference,
      "/migrate/": migrate,
      "/troubleshoot/": troubleshoot,
      "/design/": design,
    },
    outline: { level: [2, 3] },
    search: { provider: "local" },
    socialLinks: [{ icon: "github", link: repository }],
    footer: { message: "MIT licence" },
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
  },
});
