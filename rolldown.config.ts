import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { defineConfig, type Plugin, type RolldownOptions } from "rolldown";
import { dts } from "rolldown-plugin-dts";

/** What the build reads of a `package.json`. */
interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

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

/** The JavaScript of a package, and the declarations of a library. Neither needs the types of the other packages. */
function buildsOf(name: string): readonly RolldownOptions[] {
  const folder = `packages/${name}`;
  const manifest: Manifest = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const { dependencies, peerDependencies } = manifest;
  const input = entriesOf(folder, manifest);
  const dir = `${folder}/dist`;
  const common: RolldownOptions = {
    input,
    platform: "neutral",
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
    plugins: [fileEntries(input)],
    output: {
      dir,
      cleanDir: true,
      sourcemap: true,
      // A chunk is named after its module; the modules of the commands are all called `command`, and so take the name of their folder.
      chunkFileNames: ({ name, facadeModuleId }) =>
        name === "command" && facadeModuleId ? `${basename(dirname(facadeModuleId))}.js` : "[name].js",
      comments: { jsdoc: false },
      minifyInternalExports: false,
      // Most programs import two or three entries of the library: one file for what most entries need costs them less to load than
      // thirty small ones. The command starts faster without: each of its commands needs a part of its own.
      ...(manifest.bin === undefined && { codeSplitting: { groups: [{ name: "shared", minShareCount: 4 }] } }),
    },
  };
  if (manifest.bin !== undefined) return [code];
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

export default defineConfig(
  readdirSync("packages")
    .filter((name) => existsSync(`packages/${name}/package.json`))
    .flatMap(buildsOf),
);
