import { escapeControls } from "@parlance/mcp/jsonrpc";
import { structuredPatch } from "diff";
import type { Style } from "../../shared/output/style.js";

/** What changes between two texts, as `diff -u` prints it. */
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
