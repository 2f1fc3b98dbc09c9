import { isDeepStrictEqual } from "node:util";
import { applyEdits, type Edit, parse } from "jsonc-parser";
import { isObject } from "../json.js";
import type { ServerEntry } from "./configuration.js";
import { fileFailure, type LoadedFile } from "./find-server.js";
import { ChangedMeanwhile, replaceFile } from "./replace-file.js";
import { unwrapEdits } from "./wrapping.js";

/** The text of a configuration in which only the start of one server differs. @throws Error if more would differ */
export function edited(
  { configuration }: Pick<LoadedFile, "configuration">,
  name: string,
  edits: readonly Edit[],
): string {
  const { text } = configuration;
  const result = applyEdits(text, [...edits]);
  // Edits are made of places in a text. If one were ever wrong, the person must keep the file that works.
  if (!isDeepStrictEqual(withoutStart(result, name), withoutStart(text, name)))
    throw new Error(`the edit of ${name} would change more than how it is started`);
  return result;
}

/** What a configuration says, but for how one server is started. */
function withoutStart(text: string, name: string): unknown {
  const value: unknown = parse(text, [], { allowTrailingComma: true });
  if (!isObject(value)) return value;
  const sections = Object.entries(value).map(([key, section]) => {
    const server = isObject(section) ? section[name] : undefined;
    if (!isObject(section) || !isObject(server)) return [key, section];
    const { command: _command, args: _args, ...rest } = server;
    return [key, { ...section, [name]: rest }];
  });
  return sections;
}

/** Writes a new text of a configuration; gives back the path of the backup. @throws Failure */
export async function write({ path, file, mark, configuration }: LoadedFile, text: string): Promise<string> {
  try {
    // Wrapping can be taken back to the byte: a backup of the unwrapped file is one of every wrapped one.
    const original = configuration.servers.reduceRight(unwrapped, configuration.text);
    return await replaceFile(file, Buffer.from(mark + text), Buffer.from(mark + original));
  } catch (error) {
    if (error instanceof ChangedMeanwhile)
      throw fileFailure(`${path} was changed by somebody else in the meantime: it is left as it is`, error);
    throw fileFailure(`${path} cannot be written: ${error instanceof Error ? error.message : error}`, error);
  }
}

/** Servers are taken from the last to the first, so that the places of those before stay true. */
function unwrapped(text: string, server: ServerEntry): string {
  return server.kind === "command" ? applyEdits(text, [...unwrapEdits(text, server)]) : text;
}
