import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { methods } from "@parlance/mcp/protocol";
import type { FilterTerms } from "@parlance/web/protocol";
import type { Conversation } from "@parlance/wire";
import { stateDirectory } from "../../shared/user-directories.js";

/** The maximum number of values of a field, and of saved filters. */
const most = 200;

/** The conditions with values of a recording, for the completion of filters. */
export function valuesIn(conversation: Conversation | undefined): FilterTerms["values"] {
  const found = { method: new Set<string>(), tool: new Set<string>(), rule: new Set<string>() };
  for (const { messages, verdicts } of conversation?.rows ?? []) {
    for (const { method, names } of messages) {
      if (method !== undefined && found.method.size < most) found.method.add(method);
      if (method === methods.callTool && names !== undefined && found.tool.size < most) found.tool.add(names);
    }
    for (const { rule } of verdicts) found.rule.add(rule.id);
  }
  return Object.entries(found).flatMap(([field, values]) =>
    [...values]
      .sort()
      .map((value) => `${field}:${/^[\w./:-]+$/.test(value) ? value : JSON.stringify(escapeControls(value))}`),
  );
}

/** Texts that pages keep for later pages, in a file of the state directory; undefined without one that can be read. */
export async function readKept(
  name: "filters" | "columns",
  env: NodeJS.ProcessEnv,
): Promise<readonly string[] | undefined> {
  try {
    const kept: unknown = JSON.parse(await readFile(fileOf(name, env), "utf8"));
    return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : undefined;
  } catch {
    return undefined; // Nothing was kept yet, or a person has edited the file.
  }
}

/** Keeps texts in place of those before. */
export async function keep(
  name: "filters" | "columns",
  texts: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const path = fileOf(name, env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // A reader sees the old file or the new one, and never a half.
  await writeFile(`${path}.new`, `${JSON.stringify(texts, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

function fileOf(name: string, env: NodeJS.ProcessEnv): string {
  return join(stateDirectory(env), `${name}.json`);
}

/** Saves or forgets a filter. Returns the saved filters, newest first. */
export async function saveFilter(filter: string, saved: boolean, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const others = ((await readKept("filters", env)) ?? []).filter((each) => each !== filter);
  const kept = (saved ? [filter, ...others] : others).slice(0, most);
  await keep("filters", kept, env);
  return kept;
}
