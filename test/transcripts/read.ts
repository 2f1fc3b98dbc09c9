import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CreateMessageResult, ElicitResult, Root } from "@parlance/mcp";

/** One line of a conversation that is not prose. */
export type Line =
  | { readonly kind: "client"; readonly frame: unknown }
  | { readonly kind: "server"; readonly frame: unknown }
  /** An action of the client's program: a verb and its JSON arguments. */
  | { readonly kind: "do"; readonly verb: string; readonly args: readonly unknown[] };

/** The answers that a file gives. */
export interface TranscriptAnswers {
  readonly elicit?: readonly ElicitResult[];
  readonly visit?: readonly ElicitResult[];
  readonly sample?: readonly CreateMessageResult[];
  readonly roots?: readonly Root[];
}

/** A golden conversation in one revision. */
export interface Transcript {
  readonly name: string;
  readonly version: string;
  readonly server: string;
  /** The one side that it is run against; undefined for both. */
  readonly only: string | undefined;
  /** The responses of the client's program, by method and in order; and its roots. */
  readonly answers: TranscriptAnswers;
  readonly lines: readonly Line[];
}

/** Every transcript of a folder, once for each revision that it names. */
export function transcripts(folder: string): readonly Transcript[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".transcript"))
    .sort()
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      const versions = header(text, "revisions").split(/,\s*/);
      const name = file.replace(".transcript", "");
      return versions.map((version) => ({
        name,
        version,
        server: header(text, "server"),
        only: optionalHeader(text, "only"),
        answers: JSON.parse(optionalHeader(text, "answers") ?? "{}") as TranscriptAnswers,
        lines: linesOf(text, version),
      }));
    });
}

function header(text: string, key: string): string {
  const value = optionalHeader(text, key);
  if (value === undefined) throw new Error(`a transcript says ${key}: …`);
  return value;
}

function optionalHeader(text: string, key: string): string | undefined {
  return new RegExp(`^${key}: (.+)$`, "mu").exec(text)?.[1];
}

function linesOf(text: string, version: string): readonly Line[] {
  return text.split("\n").flatMap((line): Line[] => {
    const said = line.slice(2).replaceAll("VERSION", version);
    if (line.startsWith("→ ")) return [{ kind: "client", frame: JSON.parse(said) }];
    if (line.startsWith("← ")) return [{ kind: "server", frame: JSON.parse(said) }];
    if (line.startsWith("$ ")) return [doOf(said)];
    return [];
  });
}

/** `tools.call "greet" {"name":"Ada"}` */
function doOf(said: string): Line {
  const [verb = "", ...rest] = said.split(" ");
  const args =
    rest.length === 0
      ? []
      : (JSON.parse(`[${rest.join(" ").replaceAll(/(["}\]]) (?=["{[])/gu, "$1, ")}]`) as unknown[]);
  return { kind: "do", verb, args };
}
