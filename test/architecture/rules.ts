import type { Finding, Rule } from "./findings.js";
import { cycles, imports } from "./import-rules.js";
import { portable } from "./portable-rule.js";
import type { Tree } from "./source.js";
import { dates, fileLength, folderSize, functionLength, moduleLength, noAny, noDefaultExport } from "./style-rules.js";

/** Every rule, under the name by which the allow-list speaks of it. */
export const rules: ReadonlyMap<string, Rule> = new Map([
  ["imports", imports],
  ["cycles", cycles],
  ["node", portable],
  ["dates", dates],
  ["any", noAny],
  ["default-export", noDefaultExport],
  ["file-length", fileLength],
  ["function-length", functionLength],
  ["folder-size", folderSize],
  ["module-length", moduleLength],
]);

/** Everything that breaks a rule, rule by rule. */
export function findings(tree: Tree): readonly Finding[] {
  return [...rules].flatMap(([rule, check]) => check(tree).map((breach) => ({ rule, ...breach })));
}
