import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type CodeSplittingGroup, defineConfig, type Plugin, type RolldownOptions, rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";

/** What the build reads of a `package.json`. */
interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Files of a command, by its package, that run in a thread while a host waits for its server. They share no module with the program, so each is built
 * as one file that holds what it needs of the libraries: to load the chunks of the program would take most of the time of a start.
 */
const threads: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cli: { "recorder-thread": "src/shared/recorder/recorder-thread.ts" },
};

/** Files whose exports are all kept: tests run the program as a function, and a thread imports `judge.js` of the program by its name. */
const kept: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cli: { program: "packages/cli/src/commands/program.ts", judge: "packages/cli/src/shared/recorder/judge.ts" },
};

const fileUrl = /new URL\("(\.[^"]*\.js)", import\.meta\.url\)/g;

/**
 * `new URL("./worker.js", import.meta.url)` names a file that runs in a thread or a process of its own. Each becomes an entry, and
 * the URL leads to it: all files of a package are in one folder.
 */
function fileEntries(entries: Readonly<Record<string, string>>): Plugin {
  return {
    name: "file-entries",
    async transform(code, importer) {
      const specifiers = [...code.matchAll(fileUrl)].map(([, specifier = ""]) => specifier);
      if (specifiers.length === 0) return undefined;
      for (const specifier of specifiers) {
        const resolved = await this.resolve(specifier, importer);
        if (resolved === null) this.error(`${importer}: there is no ${specifier}`);
        const fileName = basename(specifier);
        if (Object.values(threads).some((files) => Object.hasOwn(files, basename(fileName, ".js")))) continue;
        if (!Object.hasOwn(entries, basename(fileName, ".js")))
          this.emitFile({ type: "chunk", id: resolved.id, fileName });
      }
      const flat = code.replace(
        fileUrl,
        (_, specifier: string) => `new URL("./${basename(specifier)}", import.meta.url)`,
      );
      return { code: flat, map: null }; // No line moves.
    },
  };
}

/** The libraries, taken from their sources. */
function libraries(): Plugin {
  return {
    name: "libraries",
    resolveId(specifier) {
      const [, name, entry = "index"] = /^@parlance\/(\w+)(?:\/([\w-]+))?$/.exec(specifier) ?? [];
      if (name === undefined) return undefined;
      const folder = `${import.meta.dirname}/packages/${name}/src`;
      const composed = `${folder}/entries/${entry}.ts`;
      return { id: existsSync(composed) ? composed : `${folder}/${entry}.ts` };
    },
  };
}

/**
 * Takes the sources out of the source maps of what runs in Node alone: positions are enough there. Bundlers of web applications read the
 * sources of a library from its source maps.
 */
const sourcesOfWebCode: Plugin = {
  name: "sources-of-web-code",
  writeBundle({ dir = "." }, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== "chunk" || file.map === null || !file.imports.some((imported) => imported.startsWith("node:")))
        continue;
      const path = `${dir}/${file.fileName}.map`;
      const { sourcesContent: _, ...positions } = JSON.parse(readFileSync(path, "utf8"));
      writeFileSync(path, JSON.stringify(positions));
    }
  },
};

/**
 * Escapes the characters that are not in Latin-1, all of which are in texts: with a single one, V8 keeps the source of a file at two bytes per
 * character.
 */
const oneBytePerCharacter: Plugin = {
  name: "one-byte-per-character",
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== "chunk") continue;
      file.code = file.code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    }
  },
};

/** The licenses of the packages whose code is bundled: those among the `devDependencies` of a package that its sources import. */
const licenses: Plugin = {
  name: "licenses",
  generateBundle() {
    const folders = [...this.getModuleIds()].map(
      (id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0],
    );
    const texts = [...new Set(folders)].flatMap((folder) => (folder === undefined ? [] : [licenseOf(folder)]));
    if (texts.length > 0) this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: texts.join("\n\n") });
  },
};

function licenseOf(folder: string): string {
  const { name, version, license, author } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file ? `\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}` : ` by ${author.name ?? author}`;
  return `${name} ${version}, ${license}${text}\n`;
}

/** The entries of a package by the names of their files: those that it exports, and its command. */
function entriesOf(folder: string, { exports, bin = {} }: Manifest): Readonly<Record<string, string>> {
  const files = [...Object.values(exports), ...Object.values(bin)]
    .map((target) => (typeof target === "string" ? target : target.default))
    .filter((file) => file.endsWith(".js"));
  const names = files.map((file) => basename(file, ".js"));
  return Object.fromEntries(
    names.map((name) => {
      const composed = `${folder}/src/entries/${name}.ts`;
      return [name, existsSync(composed) ? composed : `${folder}/src/${name}.ts`];
    }),
  );
}

/** Entries of the libraries. They only re-export; one that is in no chunk becomes an empty file, which a program loads for nothing. */
const libraryEntry = /[\\/]src[\\/](?:entries[\\/][\w-]+|index)\.ts$/;

/** The modules that a file needs: what it imports, directly or through others, and tree shaking keeps. */
async function modulesNeededBy(file: string, options: RolldownOptions): Promise<ReadonlySet<string>> {
  const bundle = await rolldown({ ...options, input: file });
  const { output } = await bundle.generate();
  await bundle.close();
  const [entry, ...others] = output;
  const needed = new Set([entry]);
  for (const { imports } of needed)
    for (const chunk of others) if (chunk.type === "chunk" && imports.includes(chunk.fileName)) needed.add(chunk);
  return new Set(
    [...needed].flatMap(({ modules }) =>
      Object.keys(modules).filter((id) => libraryEntry.test(id) || (modules[id]?.renderedLength ?? 0) > 0),
    ),
  );
}

/** A chunk of the modules that `file` and other entries need, `minShareCount` in all. */
interface Chunk extends Pick<CodeSplittingGroup, "minShareCount"> {
  readonly name: string;
  readonly file?: string;
}

/**
 * The chunks of a package; a module is in the first that takes it. To load a file costs a program about as much CPU as to load 20 KB of
 * code, so these are few, and each holds modules that the same programs need.
 */
const chunks: Readonly<Record<string, readonly Chunk[]>> = {
  mcp: [
    // Every entry needs the engine, and most need the facts of the protocol; a program that uses JSON-RPC alone loads the first only.
    { name: "engine", file: "entries/jsonrpc.ts", minShareCount: 3 },
    { name: "facts", file: "entries/protocol.ts", minShareCount: 3 },
    { name: "shared", minShareCount: 4 },
  ],
  cli: [
    // `--version` loads nothing but the first. A host waits for `tap`, which loads nothing but the second beside it.
    { name: "start", file: "parlance.ts", minShareCount: 2 },
    { name: "recording", file: "commands/tap/run-tap.ts", minShareCount: 2 },
    { name: "command-line", file: "commands/program.ts", minShareCount: 2 },
    { name: "conversation", file: "commands/ask/call.ts", minShareCount: 2 },
  ],
};

/** The chunks of a package for the bundler. */
async function groupsOf(name: string, isProgram: boolean, options: RolldownOptions): Promise<CodeSplittingGroup[]> {
  const groups = (chunks[name] ?? []).map(async ({ file, ...group }, index, { length }) => {
    const needed = file && (await modulesNeededBy(`packages/${name}/src/${file}`, options));
    return {
      ...group,
      priority: length - index,
      // What an entry of a library merely re-exports stays out of the chunks of a program.
      includeDependenciesRecursively: !isProgram,
      ...(needed && { test: (id: string) => needed.has(id) }),
    };
  });
  return Promise.all(groups);
}

/** The JavaScript of a package, and the declarations of a library. Neither needs the types of the other packages. */
async function buildsOf(name: string): Promise<readonly RolldownOptions[]> {
  const folder = `packages/${name}`;
  const manifest: Manifest = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const isProgram = manifest.bin !== undefined;
  const { dependencies, peerDependencies } = manifest;
  const input = { ...entriesOf(folder, manifest), ...kept[name] };
  const dir = `${folder}/dist`;
  const sourcemapExcludeSources = name !== "mcp"; // The other packages run in Node alone.
  const common: RolldownOptions = {
    input,
    platform: manifest.bin === undefined ? "neutral" : "node",
    logLevel: "warn",
    checks: { pluginTimings: false },
    external: [
      /^node:/,
      "@napi-rs/keyring", // No command uses the keychain.
      ...Object.keys({ ...dependencies, ...peerDependencies }).map((used) => new RegExp(`^${used}(/|$)`)),
    ],
    resolve: { extensionAlias: { ".js": [".ts"] } },
    // Only this module has side effects: it throws on a runtime that is too old. `sideEffects: false` of the manifest is for users.
    treeshake: { moduleSideEffects: (id) => /[\\/]base[\\/]runtime\.ts$/.test(id) },
    plugins: isProgram ? [libraries()] : [],
  };
  const code: RolldownOptions = {
    ...common,
    ...(isProgram && { preserveEntrySignatures: "allow-extension" }), // Nobody imports the files of a program.
    plugins: [common.plugins, fileEntries(input), oneBytePerCharacter, sourcesOfWebCode, licenses],
    output: {
      dir,
      cleanDir: true,
      sourcemap: true,
      sourcemapExcludeSources,
      // A chunk is named after its module; the modules of the commands are all called `command`, and so take the name of their folder.
      chunkFileNames: ({ name, facadeModuleId }) =>
        name === "command" && facadeModuleId ? `${basename(dirname(facadeModuleId))}.js` : "[name].js",
      comments: { jsdoc: false },
      minifyInternalExports: false,
      codeSplitting: { groups: await groupsOf(name, isProgram, common) },
    },
  };
  if (manifest.bin !== undefined) {
    const files = Object.entries(threads[name] ?? {}).map(
      ([thread, path]): RolldownOptions => ({
        ...common,
        input: { [thread]: `${folder}/${path}` },
        external: [/^node:/, "./judge.js"],
        output: {
          dir,
          sourcemap: true,
          sourcemapExcludeSources,
          chunkFileNames: `${thread}-[name].js`,
          comments: { jsdoc: false },
        },
      }),
    );
    return [code, ...files];
  }
  // Explicit types on every export (`isolatedDeclarations`) let the bundler write declarations without the type checker.
  return [
    code,
    {
      ...common,
      plugins: [dts({ oxc: true, emitDtsOnly: true, tsconfig: false })],
      output: { dir, minifyInternalExports: false },
    },
  ];
}

/** The files of the page as they are; its styles are one file. */
const pageFiles: Plugin = {
  name: "page-files",
  generateBundle() {
    const css = ["page.css", "act/act.css", "panels/timeline.css", "panels/intercept.css"];
    const files = { "index.html": ["index.html"], "page.css": css };
    for (const [fileName, parts] of Object.entries(files)) {
      const source = parts.map((part) => readFileSync(`packages/web/src/${part}`, "utf8")).join("\n");
      this.emitFile({ type: "asset", fileName, source });
    }
  },
};

/**
 * The page, which the command serves: a script, one that it loads only for a server that it acts on, and one for the panels that it does
 * not show first. It is built after the command, which empties its folder.
 */
const page: RolldownOptions = {
  input: { page: "packages/web/src/page.tsx" },
  platform: "browser",
  logLevel: "warn",
  checks: { pluginTimings: false },
  resolve: { extensionAlias: { ".js": [".tsx", ".ts", ".js"] } },
  transform: { jsx: { runtime: "automatic", importSource: "preact" }, target: "es2022" },
  plugins: [libraries(), pageFiles, licenses],
  preserveEntrySignatures: false,
  output: {
    dir: "packages/cli/dist/page",
    format: "esm",
    minify: true,
    comments: { legal: false },
    chunkFileNames: "[name].js",
  },
};

const packages = readdirSync("packages").filter(
  (name) => name !== "web" && existsSync(`packages/${name}/package.json`),
);

export default defineConfig([...(await Promise.all(packages.map(buildsOf))).flat(), page]);
