import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };

/** The templates, each with its line in the prompt and on the help page. */
export const templates = {
  server: "MCP server: tools, resources and prompts",
  service: "JSON-RPC 2.0 service (no MCP)",
  client: "MCP client for the terminal",
} as const;

/** The languages of the templates. */
export const languages = { ts: "TypeScript", js: "JavaScript" } as const;

/** The transports of a server or a service. */
export const transports = {
  stdio: "stdio: the host starts it",
  http: "HTTP: it runs on its own, at a URL",
  both: "both, in one project",
} as const;

/** A project to make. */
export interface Project {
  /** The name in package.json. */
  readonly name: string;
  readonly template: keyof typeof templates;
  readonly language: keyof typeof languages;
  /** Not used for a client, which opens both. */
  readonly transport: keyof typeof transports;
}

const folder = fileURLToPath(new URL("../templates/", import.meta.url));

/** The files of a project by their paths, with `/`, in the folder of the project. */
export function projectFiles(project: Project): ReadonlyMap<string, string> {
  const { template, transport } = project;
  const absent = template === "client" ? [] : { stdio: ["src/http."], http: ["src/stdio."], both: [] }[transport];
  const files = new Map<string, string>();
  for (const [path, text] of [...templateFiles(project), ...filesIn("shared")]) {
    if (absent.some((start) => path.startsWith(start))) continue;
    // npm leaves a file named .gitignore out of packages.
    files.set(path.replace(/^_/, "."), rename(text, project));
  }
  files.set("README.md", rename(sectionsFor(project), project));
  files.set("package.json", packageJson(files.get("package.json") ?? "", project));
  if (template === "server") for (const [path, content] of hostFiles(project)) files.set(path, json(content));
  return files;
}

/** The files of a template in a language: JavaScript is made from TypeScript, except for the files that the template has in JavaScript. */
function templateFiles({ template, language }: Project): ReadonlyMap<string, string> {
  const own = filesIn(`${template}/${language}`);
  if (language === "ts") return own;
  const sources = [...filesIn(`${template}/ts`)].filter(([path]) => path.endsWith(".ts"));
  return new Map([...sources.map(([path, text]) => [inJavaScript(path), inJavaScript(text)] as const), ...own]);
}

/**
 * The syntax that a template has only in TypeScript, and its JavaScript. A file that declares types for other files or for parameters is
 * in JavaScript, too, because there its types are JSDoc.
 */
const typeScript: readonly (readonly [syntax: RegExp, javaScript: string])[] = [
  [/\.ts\b/g, ".js"],
  [/(\[[^\]]*\]) as const/g, "/** @type {const} */ ($1)"],
  [/(import \{.*?)\btype \w+, /g, "$1"],
  [/^( *const \w+): \w+\[\] =/gm, "$1 ="],
];

/** A path or a source text of a template in JavaScript. */
function inJavaScript(text: string): string {
  return typeScript.reduce((made, [syntax, javaScript]) => made.replaceAll(syntax, javaScript), text);
}

/** The texts of the files in a folder of the templates, by their paths. */
function filesIn(source: string): ReadonlyMap<string, string> {
  const root = join(folder, source);
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .filter((path) => !/node_modules|tsbuildinfo/.test(path)); // In the templates this is a path; npm installs the published package.
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/** Replaces the name of the templates, which are real projects so that they can be compiled and tested. */
function rename(text: string, { name }: Project): string {
  return text.replaceAll("my-project", shortName(name));
}

/** The name without the scope: `notes` of `@acme/notes`. */
function shortName(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}

/** The README of the template without the sections for other projects: `<!-- only ts http --> … <!-- end -->`. */
function sectionsFor({ template, language, transport }: Project): string {
  const kinds = [
    language,
    ...{ stdio: ["stdio"], http: ["http", "httponly"], both: ["stdio", "http", "both"] }[transport],
  ];
  return readFileSync(join(folder, template, "README.md"), "utf8").replace(
    /<!-- only ([a-z ]+) -->\n(.*?)<!-- end -->\n/gs,
    (_, needed: string, section: string) => (needed.split(" ").every((kind) => kinds.includes(kind)) ? section : ""),
  );
}

/** The members of a template's package.json that depend on the project. */
interface PackageJson {
  readonly name: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function packageJson(text: string, { name, template, transport }: Project): string {
  const made: PackageJson = JSON.parse(text);
  const isFor = template === "client" ? "stdio" : transport;
  const scripts = isFor === "both" ? made.scripts : scriptsFor(isFor, made.scripts);
  const dependencies = versions(made.dependencies);
  return json({ ...made, name, scripts, dependencies, devDependencies: versions(made.devDependencies) });
}

/**
 * The scripts for a transport. A project with both transports has `start` and `start:http`; with HTTP alone, `start:http` becomes
 * `start`.
 */
function scriptsFor(transport: "stdio" | "http", scripts: PackageJson["scripts"]): PackageJson["scripts"] {
  const kept = Object.entries(scripts).filter(([script]) =>
    transport === "http" ? !(`${script}:http` in scripts) : !script.endsWith(":http"),
  );
  return Object.fromEntries(kept.map(([script, command]) => [script.replace(/:http$/, ""), command]));
}

/** The version ranges of dependencies: from the tested versions to newer compatible ones. */
function versions(dependencies: PackageJson["dependencies"]): PackageJson["dependencies"] {
  const tested: Readonly<Record<string, string>> = manifest.devDependencies;
  return Object.fromEntries(Object.keys(dependencies).map((name) => [name, `^${tested[name]}`]));
}

/**
 * The configurations of hosts that read one from the folder of a project. They start the server from its source and under the
 * recorder: a change reloads it, and `npm run traffic` shows the messages.
 */
function hostFiles({ name, language, transport }: Project): ReadonlyMap<string, object> {
  const parlance = "node_modules/@parlance/cli/bin/parlance.js";
  const args = [parlance, "tap", "--", "node", parlance, "serve", `src/server.${language}`, "--watch"];
  const entry = transport === "http" ? { url: "http://localhost:3000/mcp" } : { command: "node", args };
  const typed = { [shortName(name)]: { type: transport === "http" ? "http" : "stdio", ...entry } };
  return new Map([
    [".mcp.json", { mcpServers: typed }], // Claude Code
    [".vscode/mcp.json", { servers: typed }],
    [".cursor/mcp.json", { mcpServers: { [shortName(name)]: entry } }],
  ]);
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
