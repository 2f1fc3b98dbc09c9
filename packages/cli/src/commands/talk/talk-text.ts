import type { Skipped } from "../../shared/client/exercise.js";
import type { Observation } from "../../shared/client/observed-target.js";
import { cut } from "../../shared/output/columns.js";
import { rowLines } from "../../shared/output/conversation-rows.js";
import { type Piece, pieceLines } from "../../shared/output/pieces.js";
import { bytesText, count, durationText } from "../../shared/output/quantities.js";
import { headingRow, type Look, remarkRows } from "../../shared/output/rows.js";
import type { Paint } from "../../shared/output/style.js";
import type { Output } from "../../shared/output/terminal.js";
import { comparison } from "./comparison.js";
import type { TalkOutcome, TalkView } from "./talk-view.js";

/** Prints conversations as text. */
export function talkText(title: string, output: Output): TalkView {
  const { style, print } = output;
  let conversations = 0;
  let missed = 0;
  /** Says how many frames were skipped because the output is read too slowly. */
  const tellMissed = (): void => {
    if (missed > 0) print(style.yellow(`    ${count(missed, "frame")} not shown: this output is read too slowly`));
    missed = 0;
  };
  return {
    begin(revision) {
      conversations += 1;
      if (conversations > 1) print("");
      const how = revision ?? "the newest revision that both sides speak";
      const name = cut(title, output.width - how.length - " in ".length);
      print(
        `${style.bold(name)}${style.dim(" in ")}${revision === undefined ? style.dim(how) : style.bold(how)}`,
        headingRow(output),
      );
    },
    observe(observation) {
      if (output.isBehind) {
        missed += 1;
        return;
      }
      tellMissed();
      print(...observationRows(observation, output));
    },
    skip(skipped) {
      for (const line of skippedLines(skipped)) print(style.dim(cut(line, output.width)));
    },
    stay() {
      print("", "The conversation stays open, and what the server sends is shown. Ctrl-C ends it.", "");
    },
    end(outcome) {
      tellMissed();
      print(...outcomeLines(outcome, output));
    },
    compare(outcomes) {
      print("", ...comparison(outcomes, output));
    },
  };
}

/** An observation as rows. */
export function observationRows(observation: Observation, output: Look): readonly string[] {
  return observation.kind === "frame" ? rowLines(observation.row, output) : remarkRows(observation, output);
}

function skippedLines(skipped: readonly Skipped[]): readonly string[] {
  return reasons.flatMap(({ why, words, hint }) => {
    const tools = skipped.filter((each) => each.why === why).map(({ tool }) => tool);
    return tools.length === 0 ? [] : [`    left alone, ${words}: ${tools.join(", ")}${hint(tools[0] ?? "")}`];
  });
}

interface Reason {
  readonly why: Skipped["why"];
  readonly words: string;
  readonly hint: (tool: string) => string;
}

const reasons: readonly Reason[] = [
  { why: "needs arguments", words: "arguments needed", hint: (tool) => `   (--call "${tool} name=value")` },
  { why: "is not marked read-only", words: "not marked read-only", hint: () => "" },
];

/** The outcome of a conversation: one line, or more where it does not fit. */
function outcomeLines({ tally, duration, ended, failure }: TalkOutcome, { style, width }: Output): readonly string[] {
  const { frames, bytes, calls, errors, violations } = tally;
  const red = (amount: number): Paint => (amount === 0 ? (text) => text : style.red);
  const parts: readonly Piece[] = [
    { text: count(frames, "frame") },
    { text: bytesText(bytes) },
    { text: count(calls, "call") },
    { text: count(errors, "error"), paint: red(errors) },
    ...(violations === 0 ? [] : [{ text: count(violations, "violation"), paint: style.red }]),
    { text: durationText(duration) },
    ...(ended === undefined ? [] : [{ text: `server ${ended}` }]),
  ];
  const mark = failure === undefined && violations === 0 ? style.green("✔") : style.red("✖");
  return pieceLines(mark, parts, { style, width });
}
