import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type CodeSplittingGroup, defineConfig, type Plugin, type RolldownOptions } from "rolldown";
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
 * as one file that holds what it needs of the libraries: to load the whole libraries would take most of the time of a start.
 */
const threads: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cli: { "recorder-thread": "src/shared/recorder/recorder-thread.ts" },
};

/** Files whose exports are all kept: tests run the program as a function. */
const kept: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cli: { program: "packages/cli/src/commands/program.ts" },
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

/** What a thread imports is taken from the sources of the libraries; what it imports later is left to the installed ones. */
function libraries(): Plugin {
  return {
    name: "libraries",
    resolveId(specifier, _importer, { kind }) {
      const [, name, entry = "index"] = /^@parlance\/(\w+)(?:\/(\w+))?$/.exec(specifier) ?? [];
      if (name === undefined) return undefined;
      if (kind === "dynamic-import") return { id: specifier, external: true };
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
      if (file.type !== "chunk" || !file.imports.some((imported) => imported.startsWith("node:"))) continue;
      const path = `${dir}/${file.fileName}.map`;
      const { sourcesContent: _, ...positions } = JSON.parse(readFileSync(path, "utf8"));
      writeFileSync(path, JSON.stringify(positions));
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
  const text = existsSync(`${folder}/LICENSE`)
    ? `\n\n${readFileSync(`${folder}/LICENSE`, "utf8").trim()}`
    : ` by ${author}`;
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

/** A chunk of the modules that a file imports statically, directly or through others. */
function reachedFrom(file: string, group: CodeSplittingGroup & { readonly name: string }): CodeSplittingGroup {
  const reached = new Set([resolve(file)]);
  let isComplete = false;
  return {
    ...group,
    name(id, context) {
      // The loop goes on to the ids that it adds.
      if (!isComplete)
        for (const each of reached)
          for (const imported of context.getModuleInfo(each)?.importedIds ?? []) reached.add(imported);
      isComplete = true;
      return reached.has(id) ? group.name : null;
    },
  };
}

/**
 * The chunks of a package. To load a file costs a program about as much CPU as to load 20 KB of code, so these are few, and each holds
 * modules that the same programs need.
 */
const groups: Readonly<Record<string, CodeSplittingGroup[]>> = {
  mcp: [
    // Every entry needs the engine, and most need the facts of the protocol; a program that uses JSON-RPC alone loads the first only.
    reachedFrom("packages/mcp/src/entries/jsonrpc.ts", { name: "engine", minShareCount: 3, priority: 3 }),
    reachedFrom("packages/mcp/src/entries/protocol.ts", { name: "facts", minShareCount: 3, priority: 2 }),
    { name: "shared", minShareCount: 4 },
  ],
  cli: [
    // `--version` and `tap` load nothing but the first.
    reachedFrom("packages/cli/src/parlance.ts", { name: "start", minShareCount: 2, priority: 3 }),
    reachedFrom("packages/cli/src/commands/program.ts", { name: "command-line", minShareCount: 2, priority: 2 }),
    reachedFrom("packages/cli/src/commands/ask/call.ts", { name: "conversation", minShareCount: 3, priority: 1 }),
  ],
};

/** The JavaScript of a package, and the declarations of a library. Neither needs the types of the other packages. */
function buildsOf(name: string): readonly RolldownOptions[] {
  const folder = `packages/${name}`;
  const manifest: Manifest = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
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
      ...Object.keys({ ...dependencies, ...peerDependencies }).map((used) => new RegExp(`^${used}(/|$)`)),
    ],
    resolve: { extensionAlias: { ".js": [".ts"] } },
    // `sideEffects: false` of the manifest is for users: this module stops the program on a runtime that is too old.
    treeshake: { moduleSideEffects: [{ test: /[\\/]base[\\/]runtime\.ts$/, sideEffects: true }] },
  };
  const code: RolldownOptions = {
    ...common,
    plugins: [fileEntries(input), sourcesOfWebCode, licenses],
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
      codeSplitting: { groups: groups[name] ?? [] },
    },
  };
  if (manifest.bin !== undefined) {
    const files = Object.entries(threads[name] ?? {}).map(
      ([thread, path]): RolldownOptions => ({
        ...common,
        input: { [thread]: `${folder}/${path}` },
        external: /^node:/,
        plugins: [libraries()],
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

export default defineConfig([
  ...readdirSync("packages")
    .filter((name) => name !== "web" && existsSync(`packages/${name}/package.json`))
    .flatMap(buildsOf),
  page,
]);
