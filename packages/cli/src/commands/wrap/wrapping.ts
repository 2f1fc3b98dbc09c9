import type { Edit, Node } from "jsonc-parser";
import { type Layout, membersOf, type ServerEntry } from "../../shared/target/configuration.js";

/** A server that a host starts as a command. */
export type StartedServer = Extract<ServerEntry, { kind: "command" }>;

/** The command line with which a host starts a server. */
export function wordsOf({ command, args }: StartedServer): readonly string[] {
  return [command, ...(args?.children ?? [])].map(({ value }): string => value);
}

/** The command `parlance` in one of its forms: by name, by the file of this package, or through npx. */
const launcher =
  /^(?:.*[\\/])?parlance(?:\.cmd|\.exe|\.ps1)?$|[\\/]cli[\\/]dist[\\/](?:parlance|main)\.js$|^@parlance\/cli(?:@.*)?$/i;

/** A server that is started under `parlance tap`. */
export interface Wrapped {
  /** The command line after `parlance tap --`. */
  readonly words: readonly string[];
  /** The options of the tap. */
  readonly options: readonly string[];
}

/** The wrapped command of a server; undefined for a server that is not wrapped. */
export function wrappedIn(server: StartedServer): Wrapped | undefined {
  const words = wordsOf(server);
  const tap = words.indexOf("tap");
  const end = words.indexOf("--", tap);
  const isWrapped = tap > 0 && end > tap && end + 1 < words.length && launcher.test(words[tap - 1] ?? "");
  return isWrapped ? { words: words.slice(end + 1), options: words.slice(tap + 1, end) } : undefined;
}

/** The command line under `parlance tap --`; undefined for a server that is not wrapped. */
export function wrappedWords(server: StartedServer): readonly string[] | undefined {
  return wrappedIn(server)?.words;
}

/**
 * The edits that make the server's command run under `words`, the command line up to `parlance tap --`. Only the command and the
 * start of its arguments change, and the command keeps its spelling, so that `unwrapEdits` restores every byte.
 */
export function wrapEdits(
  text: string,
  { command, args, layout }: StartedServer,
  words: readonly string[],
): readonly Edit[] {
  const [own = "", ...before] = words;
  const moved = [...before.map((word) => JSON.stringify(word)), literalOf(text, command)];
  const renamed: Edit = { ...rangeOf(command), content: JSON.stringify(own) };
  if (args === undefined) return [{ ...renamed, content: renamed.content + newArgs(text, command, layout, moved) }];
  const [first] = args.children ?? [];
  if (first === undefined) return [renamed, insertion(args.offset + 1, moved.join(","))];
  // In the layout of the arguments: each on its own line, or all on one.
  const gap = /^\s*$/.exec(text.slice(args.offset + 1, first.offset))?.[0] ?? "";
  const space = gap.includes("\n") ? gap : " ";
  return [renamed, insertion(first.offset, moved.map((literal) => `${literal},${space}`).join(""))];
}

/** The edits that restore the original command line; empty if the server is not wrapped. */
export function unwrapEdits(text: string, server: ServerEntry): readonly Edit[] {
  if (server.kind !== "command") return [];
  const { command, args, layout } = server;
  const children = args?.children ?? [];
  const wrapped = wrappedIn(server);
  if (wrapped === undefined) return [];
  if (wrapped.options.includes(wrappedUrlOption)) return unwrapUrlEdits(text, server);
  const at = children.length - wrapped.words.length;
  const [first, original, next] = [children[0], children[at], children[at + 1]];
  if (args === undefined || first === undefined || original === undefined) return [];
  const literal = literalOf(text, original);
  const end = args.offset + args.length;
  const moved = children.slice(0, at + 1).map((child) => literalOf(text, child));
  // Remove the whole member if `wrapEdits` added it; otherwise keep its brackets.
  const added = newArgs(text, command, layout, moved);
  const after = command.offset + command.length;
  if (next === undefined && text.slice(after, end) === added)
    return [{ offset: command.offset, length: end - command.offset, content: literal }];
  const last = original.offset + original.length;
  const trailing = /^\s*,/.exec(text.slice(last, end))?.[0].length ?? 0;
  const until = next?.offset ?? last + trailing;
  return [
    { ...rangeOf(command), content: literal },
    { offset: first.offset, length: until - first.offset, content: "" },
  ];
}

/** A server that a host connects to at a URL. */
export type UrlServer = Extract<ServerEntry, { kind: "url" }>;

/** The option of a tap before a bridge with the name of the member that held the URL, so that `unwrap` can restore it. */
const wrappedUrlOption = "--wrapped-url";
/** The option with the original `type` member, in its original spelling. */
const wrappedTypeOption = "--wrapped-type";

/** Members of a server at a URL that have no equivalent for a command. */
const untranslatable = ["bearer_token_env_var", "env_http_headers", "oauth", "headersHelper", "env", "command", "args"];

/** Why a server at a URL cannot be wrapped; undefined if it can. */
export function unwrappable({ node }: UrlServer): string | undefined {
  const found = untranslatable.find((name) => membersOf(node, name).length > 0);
  return found === undefined ? undefined : `its ${found} has no equivalent for a command`;
}

/** The headers of a server at a URL, and the key of the member that holds them. */
function headersIn(node: Node, name: string): { readonly key: Node; readonly names: readonly string[] } | undefined {
  const property = (node.children ?? []).find(({ children: [key] = [] }) => key?.value === name);
  const [key, value] = property?.children ?? [];
  if (key === undefined || value === undefined) return undefined;
  return { key, names: (value.children ?? []).map(({ children: [header] = [] }) => String(header?.value)) };
}

/**
 * The edits that make a host start `parlance tap -- parlance bridge <url>` instead of connecting to the URL itself. The member
 * with the URL becomes the arguments. The headers become environment variables of the same names, which the bridge sends as
 * headers: the host expands variables in them, and they are not on a command line.
 */
export function wrapUrlEdits(
  text: string,
  { node, url, layout }: UrlServer,
  words: readonly string[],
): { readonly edits: readonly Edit[]; readonly words: readonly string[] } {
  const [key] = url.parent?.children ?? [];
  const [type] = membersOf(node, "type");
  const headers = headersIn(node, headersKey(layout));
  if (key === undefined) throw new Error("a URL without a key"); // The parser never yields this.
  const [own = "", ...launch] = words;
  const typeWords = type === undefined ? [] : [JSON.stringify(wrappedTypeOption), literalOf(text, type)];
  const headerWords = (headers?.names ?? []).flatMap((name) => ["--header-env", name]);
  const moved = [
    ...[...launch, "tap", wrappedUrlOption, String(key.value)].map((word) => JSON.stringify(word)),
    ...typeWords,
    ...["--", ...words, "bridge", ...headerWords].map((word) => JSON.stringify(word)),
    literalOf(text, url),
  ];
  return {
    edits: [
      insertion(url.parent?.offset ?? key.offset, newCommand(text, url, layout, own)),
      { ...rangeOf(key), content: keyLiteral(layout, "args") },
      { ...rangeOf(url), content: `[${moved.join(", ")}]` },
      ...(type === undefined ? [] : [{ ...rangeOf(type), content: JSON.stringify("stdio") }]),
      ...(headers === undefined ? [] : [{ ...rangeOf(headers.key), content: keyLiteral(layout, "env") }]),
    ],
    words: [own, ...moved.map((literal) => plain(literal))],
  };
}

function plain(literal: string): string {
  return literal.startsWith('"') ? String(JSON.parse(literal)) : literal.slice(1, -1);
}

function unwrapUrlEdits(text: string, { node, command, args, layout }: StartedServer): readonly Edit[] {
  const children = args?.children ?? [];
  const url = children.at(-1);
  const [key] = args?.parent?.children ?? [];
  const [from, to] = [command.parent?.offset, args?.parent?.offset];
  const keptBy = (option: string): Node | undefined =>
    children[children.findIndex(({ value }) => value === option) + 1];
  if (args === undefined || url === undefined || key === undefined) return [];
  if (from === undefined || to === undefined) return [];
  const [type] = membersOf(node, "type");
  const hadType = children.some(({ value }) => value === wrappedTypeOption);
  const written = hadType ? keptBy(wrappedTypeOption) : undefined;
  const env = headersIn(node, "env");
  return [
    { offset: from, length: to - from, content: "" },
    { ...rangeOf(key), content: keyLiteral(layout, String(keptBy(wrappedUrlOption)?.value)) },
    { ...rangeOf(args), content: literalOf(text, url) },
    ...(type === undefined || written === undefined ? [] : [{ ...rangeOf(type), content: literalOf(text, written) }]),
    ...(env === undefined ? [] : [{ ...rangeOf(env.key), content: keyLiteral(layout, headersKey(layout)) }]),
  ];
}

function headersKey(layout: Layout): string {
  return layout === "json" ? "headers" : "http_headers";
}

function keyLiteral(layout: Layout, name: string): string {
  return layout === "json" ? JSON.stringify(name) : name;
}

/** The edit that adds the member `command` before the member with this value. */
function newCommand(text: string, before: Node, layout: Layout, word: string): string {
  const lead = leadOf(text, before, layout);
  if (layout === "json") return `"command": ${JSON.stringify(word)},${lead}`;
  const separator = layout === "toml-inline" ? ", " : lead;
  return `${tableOf(text, before)}command = ${JSON.stringify(word)}${separator}`;
}

/** The edit that adds arguments to a server without any, on the line of its command or on their own, as the layout is. */
function newArgs(text: string, command: Node, layout: Layout, literals: readonly string[]): string {
  const lead = leadOf(text, command, layout);
  const array = `[${literals.join(", ")}]`;
  if (layout === "json") return `,${lead}"args": ${array}`;
  return `${layout === "toml-inline" ? ", " : lead}${tableOf(text, command)}args = ${array}`;
}

/** The keys before the last one of a dotted key in TOML, with their dots. */
function tableOf(text: string, { parent }: Node): string {
  const [key] = parent?.children ?? [];
  return parent === undefined || key === undefined ? "" : text.slice(parent.offset, key.offset);
}

/** The white space before the member of this value: a space, or a new line with its indentation. */
function leadOf(text: string, value: Node, layout: Layout): string {
  const start = value.parent?.offset ?? value.offset;
  return /\r?\n[ \t]*$/.exec(text.slice(0, start))?.[0] ?? (layout === "toml-table" ? "\n" : " ");
}

function literalOf(text: string, { offset, length }: Node): string {
  return text.slice(offset, offset + length);
}

function rangeOf({ offset, length }: Node): { readonly offset: number; readonly length: number } {
  return { offset, length };
}

function insertion(offset: number, content: string): Edit {
  return { offset, length: 0, content };
}
