import { posix } from "node:path";
import {
  type MethodDefinition,
  type Node,
  type PropertyDefinition,
  parseSync,
  type TSMethodSignature,
  type TSPropertySignature,
} from "oxc-parser";
import { readText } from "./source.js";

/** One exported name, as a user of the package sees it. */
interface PublicName {
  readonly name: string;
  /** The entry that lists it first; other entries only repeat it. */
  readonly home: string;
  /** Its declarations without comments. */
  readonly signature: string;
  /** The text of its doc comments, `""` without one. */
  readonly doc: string;
  readonly isFunction: boolean;
  /** Its members, and those of the declarations that it names and no entry exports, that have no sentence. */
  readonly undocumented: readonly string[];
}

/** A public entry with its names in the order of the alphabet. */
export interface Entry {
  readonly specifier: string;
  readonly names: readonly PublicName[];
}

interface Declaration {
  readonly text: string;
  readonly doc: string;
  readonly isFunction: boolean;
  /** Members without a doc comment, and options whose comment names no default, by their path: `Report.frame`. */
  readonly undocumented: readonly string[];
  /** Local names of the types that it names. */
  readonly references: ReadonlySet<string>;
}

interface Binding {
  readonly specifier: string;
  readonly name: string;
}

/** Where a name is declared. */
interface Place {
  readonly module: Module;
  readonly local: string;
}

/** A built declaration file. */
interface Module {
  readonly path: string;
  readonly declarations: ReadonlyMap<string, readonly Declaration[]>;
  readonly imports: ReadonlyMap<string, Binding>;
  /** Local names by the names that they are exported as. */
  readonly exports: ReadonlyMap<string, string>;
}

const libraries = ["packages/mcp", "packages/wire"];

/** Reads the built declarations of the libraries: every entry, and every name that it exports. */
export function readSurface(root: string): readonly Entry[] {
  const modules = new Map<string, Module>();
  const open = (path: string): Module => {
    const known = modules.get(path) ?? parseModule(path, readText(root, path));
    modules.set(path, known);
    return known;
  };
  const entries = libraries.flatMap((folder) => entriesOf(root, folder));
  const files = new Map(entries.map(({ specifier, path }) => [specifier, path]));
  const homes = new Map<string, string>();
  return entries.map(({ specifier, path }) => {
    const names = [...open(path).exports.keys()].sort(byAlphabet).map((name) => {
      const { module, local } = resolve(path, name, open, files);
      const key = keyOf({ module, local });
      const home = homes.get(key) ?? specifier;
      homes.set(key, home);
      const declarations = module.declarations.get(local) ?? [];
      const named = home === specifier ? reachableFrom({ module, local }, open, files) : [];
      return {
        name,
        home,
        signature: declarations.map(({ text }) => text).join("\n"),
        doc: declarations
          .map(({ doc }) => doc)
          .join("\n")
          .trim(),
        isFunction: declarations.some(({ isFunction }) => isFunction),
        undocumented: named.flatMap(({ undocumented }) => undocumented),
      };
    });
    return { specifier, names };
  });
}

/** The declarations of a name, and of all names that these mention, directly or through one another. */
function reachableFrom(
  start: Place,
  open: (path: string) => Module,
  entries: ReadonlyMap<string, string>,
): readonly Declaration[] {
  const places = new Map([[keyOf(start), start]]);
  for (const { module, local } of places.values()) {
    const declarations = module.declarations.get(local) ?? [];
    for (const name of declarations.flatMap(({ references }) => [...references])) {
      const place = resolveLocal(module, name, open, entries);
      places.set(keyOf(place), places.get(keyOf(place)) ?? place);
    }
  }
  return [...places.values()].flatMap(({ module, local }) => module.declarations.get(local) ?? []);
}

function keyOf({ module, local }: Place): string {
  return `${module.path}#${local}`;
}

/** The pin of an entry: what it declares, and the names that it repeats. */
export function describeEntry({ specifier, names }: Entry): string {
  const own = names.filter(({ home }) => home === specifier);
  const repeated = names.filter(({ home }) => home !== specifier);
  const list = repeated.map(({ name, home }) => `- \`${name}\` of \`${home}\`\n`).join("");
  return [
    `# ${specifier}\n\nWritten by \`npm run api\` from the built declarations.\n`,
    ...(list === "" ? [] : [`## Names of other entries\n\n${list}`]),
    ...own.map(({ name, signature }) => `## ${name}\n\n\`\`\`ts\n${signature}\n\`\`\`\n`),
  ].join("\n");
}

function entriesOf(root: string, folder: string): readonly { specifier: string; path: string }[] {
  // Our own manifests, of a shape that npm checks.
  const manifest = JSON.parse(readText(root, `${folder}/package.json`)) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  return Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === "string"
      ? []
      : [{ specifier: manifest.name + subpath.slice(1), path: posix.join(folder, target.types) }],
  );
}

function resolve(
  path: string,
  exported: string,
  open: (path: string) => Module,
  entries: ReadonlyMap<string, string>,
): Place {
  const module = open(path);
  return resolveLocal(module, module.exports.get(exported) ?? exported, open, entries);
}

/** Follows the imports of a local name to its declaration. */
function resolveLocal(
  module: Module,
  local: string,
  open: (path: string) => Module,
  entries: ReadonlyMap<string, string>,
): Place {
  const imported = module.imports.get(local);
  if (imported === undefined) return { module, local };
  const { specifier, name } = imported;
  const target = specifier.startsWith(".")
    ? posix.join(posix.dirname(module.path), specifier.replace(/\.js$/, ".d.ts"))
    : entries.get(specifier);
  return target === undefined ? { module, local } : resolve(target, name, open, entries);
}

function parseModule(path: string, text: string): Module {
  const { program, comments, errors } = parseSync(path, text, { lang: "dts" });
  const [first] = errors;
  if (first !== undefined) throw new Error(`${path} does not parse: ${first.message}`);
  const declarations = new Map<string, readonly Declaration[]>();
  const imports = new Map<string, Binding>();
  const exports = new Map<string, string>();
  for (const node of program.body) {
    if (node.type === "ImportDeclaration") {
      for (const each of node.specifiers) {
        const name = each.type === "ImportSpecifier" ? nameOf(each.imported) : "*";
        imports.set(each.local.name, { specifier: node.source.value, name });
      }
      continue;
    }
    const isExport = node.type === "ExportNamedDeclaration";
    for (const each of isExport ? node.specifiers : []) {
      const [local, exported] = [nameOf(each.local), nameOf(each.exported)];
      exports.set(exported, local);
      if (isExport && node.source) imports.set(local, { specifier: node.source.value, name: local });
    }
    const declared = isExport ? node.declaration : node;
    if (declared === null) continue;
    for (const [name, isFunction] of declaredBy(declared)) {
      if (isExport) exports.set(name, name);
      const doc = comments.findLast(({ end }) => end <= node.start && text.slice(end, node.start).trim() === "");
      declarations.set(name, [
        ...(declarations.get(name) ?? []),
        {
          isFunction,
          text: withoutComments(text, declared, comments),
          doc: doc?.value ?? "",
          undocumented: membersOf(declared, name, (member) => isDescribed(name, member, docOf(text, member, comments))),
          references: referencesOf(declared),
        },
      ]);
    }
  }
  return { path, declarations, imports, exports };
}

type Member = TSPropertySignature | TSMethodSignature | PropertyDefinition | MethodDefinition;

const memberTypes: ReadonlySet<string> = new Set([
  "TSPropertySignature",
  "TSMethodSignature",
  "PropertyDefinition",
  "MethodDefinition",
]);

function isMember(node: Node): node is Member {
  return memberTypes.has(node.type);
}

/** Types that compute others: the object types in them are patterns. */
const computed: ReadonlySet<string> = new Set(["TSConditionalType", "TSTypeParameterInstantiation"]);

/** Methods by their name in the specification, which describes them. */
const methodTables: ReadonlySet<string> = new Set(["ParamsByMethod", "ResultByMethod", "ParamsByNotification"]);

/**
 * The members of a declaration that are not described, also of object types inside of it. A constructor is described by its
 * class, a setter by its getter, a computed key (`[Symbol.asyncDispose]`) by the language, and a tag (`kind: "closed"`,
 * `left?: undefined`) by its type.
 */
function membersOf(node: Node, path: string, isDocumented: (member: Member) => boolean): readonly string[] {
  if (computed.has(node.type) || methodTables.has(path)) return [];
  if (!isMember(node)) return childrenOf(node).flatMap((child) => membersOf(child, path, isDocumented));
  if (node.key.type === "PrivateIdentifier" || isConstructor(node) || isSetter(node) || node.computed) return [];
  const name = `${path}.${nameOf(node.key)}`;
  const own = isTag(node) || isDocumented(node) ? [] : [name];
  return [...own, ...childrenOf(node).flatMap((child) => membersOf(child, name, isDocumented))];
}

const tagTypes: ReadonlySet<string> = new Set(["TSLiteralType", "TSUndefinedKeyword", "TSNeverKeyword"]);

function isTag(member: Member): boolean {
  if (member.type === "PropertyDefinition" && member.value?.type === "Literal") return true;
  return "typeAnnotation" in member && tagTypes.has(member.typeAnnotation?.typeAnnotation.type ?? "");
}

function isConstructor(node: Node): boolean {
  return node.type === "MethodDefinition" && node.kind === "constructor";
}

function isSetter(node: Node): boolean {
  return node.type === "MethodDefinition" && node.kind === "set";
}

/** The names of types that a declaration mentions, also those that it extends, but not those of a constructor. */
function referencesOf(node: Node): ReadonlySet<string> {
  if (isConstructor(node)) return new Set();
  const own = node.type === "Identifier" ? [node.name] : [];
  return new Set([...own, ...childrenOf(node).flatMap((child) => [...referencesOf(child)])]);
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flat().filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

/** Whether a member has a sentence; that of an option says what holds without it. */
function isDescribed(declaration: string, member: Member, doc: string): boolean {
  const isOption = /(?:Options|Hooks)$/.test(declaration) && "optional" in member && member.optional === true;
  return isOption ? /default|undefined|without/i.test(doc) : doc !== "";
}

/** The doc comment right before a node, `""` without one. */
function docOf(text: string, { start }: Node, comments: readonly { value: string; end: number }[]): string {
  const last = comments.findLast(({ end }) => end <= start);
  return last?.value.startsWith("*") === true && text.slice(last.end, start).trim() === "" ? last.value : "";
}

/** Names, and whether they can be called. */
function declaredBy(node: Node): readonly (readonly [string, boolean])[] {
  switch (node.type) {
    case "TSDeclareFunction":
    case "FunctionDeclaration":
      return node.id === null ? [] : [[node.id.name, true]];
    case "ClassDeclaration":
      return node.id === null ? [] : [[node.id.name, false]];
    case "TSInterfaceDeclaration":
      return [[node.id.name, false]];
    case "TSTypeAliasDeclaration":
      return [[node.id.name, false]];
    case "TSModuleDeclaration":
      return node.id.type === "Identifier" ? [[node.id.name, false]] : [];
    case "VariableDeclaration":
      return node.declarations.flatMap(({ id }) => {
        if (id.type !== "Identifier") return [];
        return [[id.name, id.typeAnnotation?.typeAnnotation.type === "TSFunctionType"]] as const;
      });
    default:
      return [];
  }
}

function nameOf(node: Node): string {
  if (node.type === "Identifier") return node.name;
  return node.type === "Literal" ? String(node.value) : "";
}

/** The text of a declaration without comments, and without the suffixes by which the bundler tells equal names apart. */
function withoutComments(
  text: string,
  { start, end }: Node,
  comments: readonly { start: number; end: number }[],
): string {
  const inside = comments.filter((comment) => comment.start >= start && comment.end <= end);
  const ends = [start, ...inside.map((comment) => comment.end)];
  const starts = [...inside.map((comment) => comment.start), end];
  return ends
    .map((from, index) => text.slice(from, starts[index]))
    .join("")
    .replace(/^declare /, "")
    .replace(/\b([A-Za-z]\w*)\$\d+\b/g, "$1")
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{2,}/g, "\n");
}

function byAlphabet(a: string, b: string): number {
  return a.localeCompare(b, "en");
}
