import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { type Breach, eachSource, type Rule } from "./findings.js";
import { mayBuildOn, mayImport, mayUse } from "./import-table.js";
import { areaOf, libraryOf, type Source, type Tree } from "./source.js";

/** Folders of `@parlance/mcp` import by the table; everything else imports public entries, as any user does; tests as they like. */
export const imports: Rule = eachSource((source, { published }) => {
  const { path, area } = source;
  if (libraryOf(source) === "mcp" && !mayImport.has(area)) {
    return [{ path, line: 1, what: area, message: `${area} has no row in the import table: give it one` }];
  }
  return source.imports.flatMap(({ specifier, line }) => {
    const message = importProblem(source, specifier, published);
    return message === undefined ? [] : [{ path, line, what: specifier ?? "a computed import", message }];
  });
});

function importProblem(
  source: Source,
  specifier: string | undefined,
  published: Tree["published"],
): string | undefined {
  const library = libraryOf(source);
  if (specifier === undefined) {
    return library !== undefined ? "a computed import cannot be checked: name the module" : undefined;
  }
  if (isBuiltin(specifier)) return undefined;
  if (specifier.startsWith("@parlance/") && !published.has(specifier)) return `${specifier} is not a public entry`;
  const path = relativeTarget(source, specifier);
  if (library !== undefined && path === undefined) {
    const problem = packageProblem(source, library, specifier);
    if (problem !== undefined || library !== "mcp" || !specifier.startsWith("@parlance/")) return problem;
  }
  if (library === "mcp") return folderProblem(source, path);
  if (path === undefined || source.area === "test" || areaOf(path) === source.area) return undefined;
  return `${source.area} uses the public entries of the packages, and no file outside its own folder`;
}

function packageProblem({ area }: Source, library: string, specifier: string): string | undefined {
  const name = specifier.split("/", 2).join("/");
  const isOurs = name.startsWith("@parlance/");
  const open = (isOurs ? mayBuildOn.get(library) : mayUse.get(area)) ?? [];
  return open.includes(isOurs ? name : specifier) ? undefined : `${area} may not use the package ${specifier}`;
}

/** `target` is undefined for a public entry of the library itself. */
function folderProblem({ area, path }: Source, target: string | undefined): string | undefined {
  const folder = target === undefined ? "entries" : areaOf(target);
  if (folder === area) return undefined;
  const module = target === undefined ? folder : target.replace(/^packages\/mcp\/src\//, "").replace(/\.js$/, "");
  const isOpen = openTo(path).some((each) => module === each || module.startsWith(`${each}/`));
  return isOpen ? undefined : `${area} may not import ${module}`;
}

/** The imports that a source may have: the rows of all folders around it. */
function openTo(path: string): readonly string[] {
  const inside = path.replace(/^packages\/mcp\/src\//, "");
  return [...mayImport].flatMap(([folder, row]) => (inside.startsWith(`${folder}/`) ? row : []));
}

/** Where a relative specifier leads, as a path from the root; undefined for a package. */
function relativeTarget({ path }: Source, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined;
}

/**
 * No two files import each other, directly or around a corner. Imports of types count: they break nothing at run
 * time, but files that need each other's types are one unit to a reader, who should find it in one place.
 */
export const cycles: Rule = ({ sources }) => {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const found: Breach[] = [];
  const visit = (source: Source, trail: readonly Source[]): void => {
    const start = trail.indexOf(source);
    if (start >= 0) found.push(cycleBreach(trail.slice(start)));
    if (start >= 0 || done.has(source.path)) return;
    for (const target of importedBy(source, byPath)) visit(target, [...trail, source]);
    done.add(source.path);
  };
  for (const source of sources) visit(source, []);
  return found;
};

function importedBy(source: Source, byPath: ReadonlyMap<string, Source>): readonly Source[] {
  return source.imports.flatMap(({ specifier = "" }) => {
    const written = relativeTarget(source, specifier);
    if (written === undefined) return [];
    const target = byPath.get(written) ?? byPath.get(written.replace(/js(x?)$/, "ts$1"));
    return target === undefined ? [] : [target];
  });
}

function cycleBreach(cycle: readonly Source[]): Breach {
  const paths = cycle.map(({ path }) => path);
  // The same cycle has the same name wherever the walk entered it.
  const first = paths.indexOf([...paths].sort()[0] ?? "");
  const [path = "", ...others] = [...paths.slice(first), ...paths.slice(0, first)];
  const what = [...others, path].join(" → ");
  return { path, line: 1, what, message: `imports itself by way of ${what}: move what they share to a third file` };
}
