import type { Edit, Node } from "jsonc-parser";
import type { ServerEntry } from "./configuration.js";

/** A server that a host starts as a command. */
export type StartedServer = Extract<ServerEntry, { kind: "command" }>;

/** The words that a host starts a server with. */
export function wordsOf({ command, args }: StartedServer): readonly string[] {
  return [command, ...(args?.children ?? [])].map(({ value }): string => value);
}

/** The command `parlance` in one of its forms: by name, by the file of this package, or through npx. */
const launcher =
  /^(?:.*[\\/])?parlance(?:\.cmd|\.exe|\.ps1)?$|[\\/]cli[\\/]dist[\\/](?:parlance|main)\.js$|^@parlance\/cli(?:@.*)?$/i;

/** The words that run under `parlance tap --`; undefined for a server that does not. */
export function wrappedWords(server: StartedServer): readonly string[] | undefined {
  const words = wordsOf(server);
  const tap = words.indexOf("tap");
  const end = words.indexOf("--", tap);
  return tap > 0 && end > tap && end + 1 < words.length && launcher.test(words[tap - 1] ?? "")
    ? words.slice(end + 1)
    : undefined;
}

/**
 * What to change so that the server's command runs under `words`, which start `parlance tap --`. Nothing but the command and the beginning
 * of its arguments is touched, and the command moves as it is spelt, so that `unwrapEdits` gives back every byte.
 */
export function wrapEdits(text: string, { command, args }: StartedServer, words: readonly string[]): readonly Edit[] {
  const [own = "", ...before] = words;
  const moved = [...before.map((word) => JSON.stringify(word)), literalOf(text, command)];
  const renamed: Edit = { ...rangeOf(command), content: JSON.stringify(own) };
  if (args === undefined) return [{ ...renamed, content: renamed.content + newArgs(leadOf(text, command), moved) }];
  const [first] = args.children ?? [];
  if (first === undefined) return [renamed, insertion(args.offset + 1, moved.join(","))];
  // As the arguments are laid out: each on a line of its own, or all on one.
  const gap = /^\s*$/.exec(text.slice(args.offset + 1, first.offset))?.[0] ?? "";
  const space = gap.includes("\n") ? gap : " ";
  return [renamed, insertion(first.offset, moved.map((literal) => `${literal},${space}`).join(""))];
}

/** What to change so that the server is started as before `wrapEdits`: nothing, if it is not wrapped. */
export function unwrapEdits(text: string, server: StartedServer): readonly Edit[] {
  const { command, args } = server;
  const children = args?.children ?? [];
  const words = wrappedWords(server);
  if (words === undefined) return [];
  const at = children.length - words.length;
  const [first, original, next] = [children[0], children[at], children[at + 1]];
  if (args === undefined || first === undefined || original === undefined) return [];
  const literal = literalOf(text, original);
  const end = args.offset + args.length;
  const moved = children.slice(0, at + 1).map((child) => literalOf(text, child));
  // Arguments that `wrapEdits` has added as a whole go as a whole; brackets that were there stay.
  const added = newArgs(leadOf(text, command), moved);
  const behind = command.offset + command.length;
  if (next === undefined && text.slice(behind, end) === added)
    return [{ offset: command.offset, length: end - command.offset, content: literal }];
  const last = original.offset + original.length;
  const trailing = /^\s*,/.exec(text.slice(last, end))?.[0].length ?? 0;
  const until = next?.offset ?? last + trailing;
  return [
    { ...rangeOf(command), content: literal },
    { offset: first.offset, length: until - first.offset, content: "" },
  ];
}

/** Arguments for a server that had none, in the line of its command or in one of their own, as the members stand. */
function newArgs(lead: string, literals: readonly string[]): string {
  return `,${lead}"args": [${literals.join(", ")}]`;
}

/** What stands before the member that this is the value of: a space, or a new line and how far it is indented. */
function leadOf(text: string, value: Node): string {
  const start = value.parent?.offset ?? value.offset;
  return /\r?\n[ \t]*$/.exec(text.slice(0, start))?.[0] ?? " ";
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
