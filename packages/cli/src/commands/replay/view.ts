import { targetOf, type WireMessage } from "@parlance/wire";
import { messageText } from "../../shared/output/comparison-lines.js";
import { count } from "../../shared/output/quantities.js";
import type { Style } from "../../shared/output/style.js";
import type { ServerPlayer } from "./server-player.js";

/** The maximum number of differences printed. */
const mostListed = 10;

/** The result of a replay as text: the steps, and the differences of the conversation. */
export function playedLines(
  { matching, mismatches, played }: ServerPlayer,
  style: Style,
): { readonly lines: readonly string[]; readonly isSame: boolean } {
  const unused = matching.unused.map(({ trigger }) => messageWords(trigger));
  const repeated = matching.repeated.map(({ trigger }) => messageWords(trigger));
  const unmatched = mismatches.filter(({ is }) => is === "unmatched");
  const otherwise = mismatches.filter(({ is }) => is === "answered differently");
  const isSame = mismatches.length + unused.length + repeated.length === 0;
  const mark = isSame ? style.green("✔") : style.yellow("!");
  const lines = [
    `${mark} ${count(played, "message")} of the client matched the recording`,
    ...told("never said", unused),
    ...told("sent more often than recorded", repeated),
    ...told(
      "not in the recording",
      unmatched.map(({ message, recorded }) => `${textOf(message)}${nearestWords(recorded)}`),
    ),
    ...told(
      "answered differently than recorded",
      otherwise.map(
        ({ recorded }) => `${recorded?.operation?.request.method ?? "a question"}${nearestWords(recorded)}`,
      ),
    ),
  ];
  return { lines, isSame };
}

function told(what: string, texts: readonly string[]): readonly string[] {
  const more = texts.length > mostListed ? [`… and ${texts.length - mostListed} more`] : [];
  return [...texts.slice(0, mostListed), ...more].map((text) => `  ${what}: ${text}`);
}

function messageWords(message: WireMessage): string {
  return `${textOf(message)} (frame ${message.frame.n})`;
}

function nearestWords(recorded: WireMessage | undefined): string {
  return recorded === undefined ? "" : `; the nearest is ${messageWords(recorded)}`;
}

function textOf({ method, params, value }: WireMessage): string {
  return messageText(method, targetOf(params), value);
}
