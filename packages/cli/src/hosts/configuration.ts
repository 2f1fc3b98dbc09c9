import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { ServersKey } from "./host-table.js";

/** A host's configuration: its text, and the servers in it, with the places of what may be changed. */
export interface Configuration {
  readonly text: string;
  readonly servers: readonly ServerEntry[];
}

/** A server, as a configuration tells a host to reach it. */
export type ServerEntry =
  | { readonly kind: "command"; readonly name: string; readonly command: Node; readonly args: Node | undefined }
  | { readonly kind: "url"; readonly name: string; readonly url: string }
  | { readonly kind: "unusable"; readonly name: string; readonly why: string };

/** Why a text is no configuration, and where. */
export interface ConfigurationProblem {
  readonly problem: string;
}

/** The servers of a JSON text, which may have comments and trailing commas: VS Code's has. */
export function parseConfiguration(text: string, keys: readonly ServersKey[]): Configuration | ConfigurationProblem {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined || root === undefined) return { problem: errorText(text, error) };
  if (root.type !== "object") return { problem: `${placeOf(text, root.offset)}: expected an object, got ${root.type}` };
  const found = keys.flatMap((key) => membersOf(root, key));
  const [servers, twin] = found;
  if (servers === undefined) return { text, servers: [] };
  if (twin !== undefined) return { problem: `${placeOf(text, twin.offset)}: the servers are written twice` };
  if (servers.type !== "object")
    return { problem: `${placeOf(text, servers.offset)}: expected an object of servers, got ${servers.type}` };
  return { text, servers: (servers.children ?? []).map(entryOf) };
}

/** `line 3, column 14`, counted from 1 as editors do. */
export function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}

const longestExcerpt = 20;

function errorText(text: string, error: ParseError | undefined): string {
  if (error === undefined) return "it is empty";
  const what = printParseErrorCode(error.error)
    .replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();
  const found = text.slice(error.offset).split(/\s/, 1)[0]?.slice(0, longestExcerpt);
  return `${placeOf(text, error.offset)}: ${what}, got ${found ? JSON.stringify(found) : "the end"}`;
}

/** Every value of a member: JSON allows a name twice, and who edits must not guess which one a host reads. */
function membersOf(object: Node, name: string): readonly Node[] {
  return (object.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key?.value === name && value !== undefined ? [value] : [],
  );
}

function entryOf({ children: [key, value] = [] }: Node, _: number, all: readonly Node[]): ServerEntry {
  const name = String(key?.value);
  const unusable = (why: string): ServerEntry => ({ kind: "unusable", name, why });
  if (all.filter(({ children: [other] = [] }) => other?.value === name).length > 1)
    return unusable("its name is written twice");
  if (value?.type !== "object") return unusable(`it is no object, but ${value?.type ?? "nothing"}`);
  const [[command, twin], [args, otherArgs], [url]] = [
    membersOf(value, "command"),
    membersOf(value, "args"),
    membersOf(value, "url"),
  ];
  if (twin !== undefined) return unusable("its command is written twice");
  if (otherArgs !== undefined) return unusable("its args are written twice");
  if (command === undefined && url?.type === "string") return { kind: "url", name, url: url.value };
  if (command === undefined) return unusable("it has neither command nor url");
  if (command.type !== "string") return unusable(`its command is no string, but ${command.type}`);
  const isArgument = ({ type }: Node): boolean => type === "string";
  if (args !== undefined && (args.type !== "array" || !(args.children ?? []).every(isArgument)))
    return unusable("its args are no array of strings");
  return { kind: "command", name, command, args };
}
