import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { methods } from "@parlance/mcp/protocol";
import type { FilterTerms } from "@parlance/web/protocol";
import type { Conversation } from "@parlance/wire";
import { stateDirectory } from "../../shared/recordings/recording-directory.js";

/** The most values of a field, and the most filters that are kept. */
const most = 200;

/** The conditions with the values of a recording, for the completion of filters. */
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

function fileOf(env: NodeJS.ProcessEnv): string {
  return join(stateDirectory(env), "filters.json");
}

/** The filters that were saved, newest first. A file that cannot be read has none. */
export async function savedFilters(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  try {
    const kept: unknown = JSON.parse(await readFile(fileOf(env), "utf8"));
    return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : [];
  } catch {
    return []; // Nothing was saved yet, or a person has edited the file.
  }
}

/** Saves a filter, or forgets it; gives those that are saved then. */
export async function saveFilter(filter: string, saved: boolean, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const others = (await savedFilters(env)).filter((each) => each !== filter);
  const kept = (saved ? [filter, ...others] : others).slice(0, most);
  const path = fileOf(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // A reader sees the old file or the new one, and never a half.
  await writeFile(`${path}.new`, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return kept;
}
