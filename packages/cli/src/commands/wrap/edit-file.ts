import { isDeepStrictEqual } from "node:util";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { isObject } from "@parlance/mcp/protocol";
import { structuredPatch } from "diff";
import { applyEdits, type Edit, getNodeValue } from "jsonc-parser";
import type { Style } from "../../shared/output/style.js";
import { treeOf } from "../../shared/target/configuration.js";
import { ChangedMeanwhile, fileFailure, type LoadedFile, replaceFile } from "../../shared/target/configuration-file.js";
import { unwrapEdits } from "./wrapping.js";

/** The text of a configuration in which only the start of one server differs. @throws Error if more would differ */
export function edited(
  { configuration }: Pick<LoadedFile, "configuration">,
  name: string,
  edits: readonly Edit[],
): string {
  const { text, format } = configuration;
  const result = applyEdits(text, [...edits]);
  const value = (of: string): unknown => {
    const tree = treeOf(of, format);
    return "problem" in tree ? tree : withoutStart(getNodeValue(tree), name);
  };
  // A safeguard against wrong offsets: the user must keep a working file.
  if (!isDeepStrictEqual(value(result), value(text)))
    throw new Error(`the edit of ${name} would change more than how it is started`);
  return result;
}

/** A configuration without the commands of the servers with one name, for comparison. */
function withoutStart(value: unknown, name: string): unknown {
  if (!isObject(value)) return value;
  return Object.entries(value).map(([key, member]) => {
    if (key !== name || !isObject(member)) return [key, withoutStart(member, name)];
    const { command: _command, args: _args, url: _url, serverUrl: _serverUrl, type: _type, ...rest } = member;
    const { env, headers, http_headers, ...others } = rest;
    return [key, [others, [env, headers, http_headers].filter((given) => given !== undefined)]];
  });
}

/** Writes a new text of a configuration. Returns the path of the backup. @throws Failure */
export async function write({ path, file, mark, configuration }: LoadedFile, text: string): Promise<string> {
  try {
    // Unwrapping restores every byte, so one backup of the unwrapped file is enough for all wrapped ones.
    const original = applyEdits(
      configuration.text,
      configuration.servers.flatMap((server) => [...unwrapEdits(configuration.text, server)]),
    );
    return await replaceFile(file, Buffer.from(mark + text), Buffer.from(mark + original));
  } catch (error) {
    if (error instanceof ChangedMeanwhile)
      throw fileFailure(`${path} was changed by another program in the meantime: it is left as it is`, error);
    throw fileFailure(`${path} cannot be written: ${error instanceof Error ? error.message : error}`, error);
  }
}

/** The changes between two texts, as `diff -u` prints them. */
export function unifiedDiff(path: string, before: string, after: string): readonly string[] {
  const { hunks } = structuredPatch(path, path, before, after, undefined, undefined, { context: 2 });
  return [
    `--- ${path}`,
    `+++ ${path}`,
    ...hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines,
    ]),
  ];
}

/** The lines of a diff, safe to print and in colours. */
export function diffLines(diff: readonly string[], style: Style): readonly string[] {
  return diff.map((line, index) => {
    const shown = escapeControls(line);
    if (index < 2) return style.bold(shown);
    return (paints.get(line[0] ?? "")?.(style) ?? ((text: string) => text))(shown);
  });
}

const paints: ReadonlyMap<string, (style: Style) => (text: string) => string> = new Map([
  ["+", (style) => style.green],
  ["-", (style) => style.red],
  ["@", (style) => style.cyan],
]);
