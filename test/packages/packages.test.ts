import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

interface PackageJson {
  readonly private?: boolean;
  readonly name: string;
  readonly version: string;
  readonly repository?: { readonly url: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

async function readPackage(folder: string): Promise<PackageJson> {
  return JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
}

const entries = await readdir(join(root, "packages"), { withFileTypes: true });
const all = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `packages/${name}`);
const manifests = await Promise.all(all.map(readPackage));
/** The page is published as a part of the command. */
const folders = all.filter((_, index) => manifests[index]?.private !== true);
const url = (await readPackage(".")).repository?.url ?? "";
/** Where the repository is, for people: package.json of the repository says it once. */
const home = url.replace(/^git\+(?<address>.*)\.git$/, "$<address>");

describe.each(folders)("%s", (folder) => {
  test("names the repository, its page, and where to report problems", async () => {
    expect(await readPackage(folder)).toMatchObject({
      license: "MIT",
      repository: { type: "git", url, directory: folder },
      homepage: `${home}/tree/main/${folder}#readme`,
      bugs: { url: `${home}/issues` },
      description: expect.stringMatching(/^.{20,120}$/),
      keywords: expect.arrayContaining(["mcp", "model-context-protocol", "json-rpc"]),
      engines: { node: ">=20.19" },
    });
  });

  test("has a README whose links work on npm: they are absolute, and name files of the repository that exist", async () => {
    const links = linksOf(await readFile(join(root, folder, "README.md"), "utf8"));
    expect(links).toContain(`${home}/tree/main/docs`);
    expect(links).toContain(`${home}/blob/main/CHANGELOG.md`);
    expect(links.filter((link) => !link.startsWith("https://"))).toEqual([]);
    expect(links.filter((link) => link.startsWith(home)).filter((link) => !existsSync(fileOf(link)))).toEqual([]);
    const others = links.filter((link) => link.startsWith("https://github.com/") && !link.startsWith(home));
    expect(others).toEqual([]);
  });

  test("packs its license, its README and what its entries name, and no sources", async () => {
    const { files } = await packed(join(root, folder));
    const paths = files.map(({ path }) => path);
    const { bin = {}, exports = {} } = await readPackage(folder);
    const targets = Object.values(exports).flatMap((target) =>
      typeof target === "string" ? target : Object.values(target),
    );
    const needed = [...Object.values(bin), ...targets];
    expect(paths).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    for (const path of needed) expect(paths).toContain(path.replace(/^\.\//, ""));
    expect(
      paths.filter((path) => /^(?:src|test|node_modules)\/|tsbuildinfo|^(?!templates\/).*\.test\./.test(path)),
    ).toEqual([]);
  });
});

test("the command takes at most 8 MB when it is installed, with everything that it depends on", async () => {
  const sizes = new Map<string, number>();
  const add = async (folder: string): Promise<void> => {
    const { name, dependencies = {} } = await readPackage(folder);
    if (sizes.has(name)) return;
    sizes.set(name, await installedBytes(folder));
    for (const dependency of Object.keys(dependencies)) await add(`node_modules/${dependency}`);
  };
  await add("packages/cli");
  expect([...sizes.keys()]).toEqual(expect.arrayContaining(["@parlance/cli", "ws"]));
  expect([...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(8e6);
});

/** Bytes of a package on the disk of its user. Packages of this repository are links: of these it is what is packed. */
async function installedBytes(folder: string): Promise<number> {
  const path = await realpath(join(root, folder));
  if (path.startsWith(join(root, "packages"))) {
    return (await packed(path)).unpackedSize;
  }
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => stat(join(parentPath, name)));
  return (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0);
}

interface Packed {
  readonly files: readonly { readonly path: string }[];
  readonly unpackedSize: number;
}

const packs = new Map<string, Promise<Packed>>();

/** What npm packs of a folder. npm is started once for each. */
function packed(path: string): Promise<Packed> {
  const pack = packs.get(path) ?? packAnew(path);
  packs.set(path, pack);
  return pack;
}

async function packAnew(path: string): Promise<Packed> {
  const { stdout } = await run("npm", ["pack", "--dry-run", "--json"], { cwd: path });
  const [pack] = JSON.parse(stdout) as readonly [Packed];
  return pack;
}

test("every file of the repository that names its address names the same one", async () => {
  for (const file of ["README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md"]) {
    const text = await readFile(join(root, file), "utf8");
    const addresses = [...text.matchAll(/https:\/\/github\.com\/parlance[\w-]*\/[\w-]+/g)].map(([address]) => address);
    expect(addresses.filter((address) => address !== home)).toEqual([]);
  }
});

test("no text runs the package named parlance, which is a different project: the command is @parlance/cli", async () => {
  const { stdout } = await run("git", ["ls-files", "*.md", "*.ts", "*.js", "*.json", "*.yml"], { cwd: root });
  const files = stdout.split("\n").filter((file) => /^(?:docs|examples|packages|\.github|[A-Z]+\.md)/.test(file));
  const broken: string[] = [];
  for (const file of files) {
    // A file that was deleted, and is not committed.
    const text = file === "CHANGELOG.md" ? "" : await readFile(join(root, file), "utf8").catch(() => "");
    const runs = /\b(?:npx|bunx|pnpm dlx|npm exec|npm install|npm i)(?: -[\w-]+)* parlance\b|"npx"[^\]]*"parlance"/;
    if (runs.test(text)) broken.push(file);
  }
  expect(broken).toEqual([]);
});

function linksOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/\]\((?<link>[^)\s]+)\)/g)].map(({ groups }) => groups?.link ?? "");
}

/** The file that a link into the repository shows. */
function fileOf(link: string): string {
  const path = link.slice(home.length).replace(/^\/(?:blob|tree)\/main\//, "");
  return path.startsWith("/") ? root : join(root, path.replace(/#.*/, ""));
}
