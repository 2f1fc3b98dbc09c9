import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Scratch } from "../cli/scratch.js";
import { hasTerminals, inTerminal } from "../cli/terminal.js";
import { inForm } from "../testing/forms.js";
import { create, createParlance, filesIn, run } from "./made-project.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest; // Ours, of a shape that npm checks.
}

const kinds = ["server", "service", "client"].flatMap((template) =>
  ["ts", "js"].flatMap((language) =>
    (template === "client" ? ["stdio"] : ["stdio", "http", "both"]).map((transport) => ({
      template,
      language,
      transport,
    })),
  ),
);

test.each(kinds)(
  "a $template in $language over $transport has every file that it names, and no other",
  async (kind) => {
    const { template, language, transport } = kind;
    using scratch = new Scratch();
    const folder = scratch.at("my-notes");
    mkdirSync(folder);
    const made = await create(folder, "--template", template, "--language", language, "--transport", transport);
    expect(made).toMatchObject({ code: 0, output: expect.stringContaining("✔ my-notes is ready") });
    const files = filesIn(folder);
    expect(files).toContain(".gitignore");
    expect(files.filter((path) => /\.[jt]s$/.test(path) && !path.endsWith(`.${language}`))).toEqual([]);

    const { name, scripts } = readManifest(folder);
    expect(name).toBe("my-notes");
    const named = Object.values(scripts).flatMap((script) => script.match(/(?:src|dist|example)\/[\w.]+/g) ?? []);
    const sources = named.map((path) => path.replace(/^dist\/(.*)\.js$/, "src/$1.ts"));
    expect(sources.filter((path) => !files.includes(path))).toEqual([]);

    const readme = readFileSync(join(folder, "README.md"), "utf8");
    const inReadme = [...readme.matchAll(/`((?:src|test|example|\.vscode|\.cursor)\/[\w./]+|\.mcp\.json)`/g)];
    expect(inReadme.map(([, path = ""]) => path).filter((path) => !files.includes(path))).toEqual([]);
    const inSteps = [...readme.matchAll(/`npm (?:run )?([\w:]+)`/g)].map(([, script = ""]) => script);
    expect(inSteps.filter((script) => script !== "install" && !(script in scripts))).toEqual([]);
    const explained = Object.keys(scripts).filter((script) => !readme.includes(`| \`npm run ${script}\` |`));
    expect(explained.filter((script) => script !== "start" && script !== "test")).toEqual([]);
    for (const path of files) expect(readFileSync(join(folder, path), "utf8")).not.toMatch(/my-project|<!--/);
  },
);

test.each(["server", "service", "client"])(
  "a %s in JavaScript has correct types, and no syntax of TypeScript",
  async (template) => {
    using scratch = new Scratch();
    await create(scratch.path, "--template", template, "--language", "js", "--transport", "both");
    symlinkSync(join(root, "node_modules"), scratch.at("node_modules"));
    const checked = await run("npx", ["tsc", "-p", "jsconfig.json"], scratch.path);
    expect(checked, checked.output).toMatchObject({ code: 0 });
  },
);

test.each(inForm({ long: ["ts", "js"], short: ["js"] }))("the tests of a server in %s pass", async (language) => {
  using scratch = new Scratch();
  await create(scratch.path, "--language", language);
  symlinkSync(join(root, "node_modules"), scratch.at("node_modules"));
  const ran = await run("npm", ["test"], scratch.path);
  expect(ran, ran.output).toMatchObject({ code: 0, output: expect.stringMatching(/pass 5\n/) });
});

test.each([
  { typed: "y\nAda\nyes\n", printed: "A table for 2 by the window is booked for Ada." },
  { typed: "y\n", printed: "Nothing was booked." },
  { typed: "", printed: "Nothing was booked." },
])("a made client fills in a form from its input, $typed, without a terminal", async ({ typed, printed }) => {
  using scratch = new Scratch();
  await create(scratch.path, "--template", "client", "--language", "js");
  symlinkSync(join(root, "node_modules"), scratch.at("node_modules"));
  const args = ["run", "--silent", "dev", "--", "book", '{"seats":2}'];
  const ran = await run("npm", args, scratch.path, { PARLANCE_RECORDINGS: scratch.at("recordings") }, typed);
  expect(ran.output).toContain(printed);
});

test("dependencies have the versions of this repository", async () => {
  using scratch = new Scratch();
  await create(scratch.path, "--template", "client");
  const { dependencies, devDependencies } = readManifest(scratch.path);
  const installed = Object.keys({ ...dependencies, ...devDependencies }).map((name) => {
    const { version } = readManifest(join(root, "node_modules", name));
    return [name, `^${version}`];
  });
  expect({ ...dependencies, ...devDependencies }).toEqual(Object.fromEntries(installed));
});

test("a folder that is not empty is left alone without --force", async () => {
  using scratch = new Scratch();
  writeFileSync(scratch.at("README.md"), "mine");
  const refused = await create(scratch.path);
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("--force") });
  expect(filesIn(scratch.path)).toEqual(["README.md"]);
  expect((await create(scratch.path, "--force")).code).toBe(0);
  expect(readFileSync(scratch.at("README.md"), "utf8")).not.toBe("mine");
});

test("a new repository counts as an empty folder", async () => {
  using scratch = new Scratch();
  mkdirSync(scratch.at(".git"));
  expect((await create(scratch.path)).code).toBe(0);
});

test("a name that npm does not accept is refused, and a folder gives one that it does", async () => {
  using scratch = new Scratch();
  const refused = await create(scratch.path, "--name", "My Notes");
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("lower-case letters") });
  const folder = scratch.at("My Notes (2)");
  mkdirSync(folder);
  await create(folder);
  expect(readManifest(folder).name).toBe("my-notes-2");
  await create(folder, "--force", "--name", "@acme/notes");
  expect(readManifest(folder).name).toBe("@acme/notes");
  expect(readFileSync(join(folder, "src/server.ts"), "utf8")).toContain('name: "notes"');
});

test("a wrong command line is refused, and writes nothing", async () => {
  using scratch = new Scratch();
  expect(await create(scratch.path, "--template", "x")).toMatchObject({
    code: 1,
    output: expect.stringContaining("server, service, client"),
  });
  expect((await create(scratch.path, "--ts", "--js")).code).toBe(1);
  expect((await create(scratch.path, "second-folder")).code).toBe(1);
  expect((await create(scratch.path, "--unknown")).code).toBe(1);
  expect(filesIn(scratch.path)).toEqual([]);
});

test("the closing lines name the package manager that runs the command", async () => {
  using scratch = new Scratch();
  const npm_config_user_agent = "pnpm/10.4.1 npm/? node/v22.0.0 linux x64";
  const { output } = await run(process.execPath, [createParlance, "notes"], scratch.path, { npm_config_user_agent });
  expect(output).toContain("  cd notes\n  pnpm install\n  pnpm dev ");
});

test("--help names every option, and --version the version", async () => {
  const help = await run(process.execPath, [createParlance, "--help"], root);
  expect(help).toMatchObject({ code: 0, output: expect.stringContaining("--transport <name>") });
  expect(help.output.split("\n").filter((line) => line.length > 80)).toEqual([]);
  const { version } = readManifest(join(root, "packages/create-parlance"));
  expect((await run(process.execPath, [createParlance, "--version"], root)).output).toBe(`${version}\n`);
});

test.skipIf(!hasTerminals)("in a terminal, what the command line leaves out is asked", async () => {
  using scratch = new Scratch();
  const terminal = inTerminal([scratch.at("tasks"), "--no-install"], {}, createParlance);
  await terminal.type("What do you build?", "\u001b[B\r");
  await terminal.type("In which language?", "\u001b[B\r");
  await terminal.type("Over which transport?", "\r");
  const { code, stdout } = await terminal.ended;
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("tasks is ready") });
  expect(filesIn(scratch.at("tasks"))).toContain("src/http.js");
});

test.skipIf(!hasTerminals)("in a terminal, Ctrl-C writes nothing", async () => {
  using scratch = new Scratch();
  const terminal = inTerminal([scratch.at("tasks")], {}, createParlance);
  await terminal.type("What do you build?", "\u0003");
  expect((await terminal.ended).code).toBe(130);
  expect(existsSync(scratch.at("tasks"))).toBe(false);
});
