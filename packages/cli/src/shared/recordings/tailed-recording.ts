import {
  Conversation,
  type HeaderEntry,
  type RecordingItem,
  type Report,
  type Row,
  type RowTest,
  reportOf,
} from "@parlance/wire";
import { rowLines } from "../output/conversation-rows.js";
import { jsonLine } from "../output/json-lines.js";
import { headingRow, type Look } from "../output/rows.js";
import type { Output } from "../output/terminal.js";
import { rowValue } from "./recorded-json.js";

/** Prints rows of recordings, and says of which one where they are more. */
export class TailView {
  readonly #output: Output;
  readonly #json: boolean;
  #shown: string | undefined;

  constructor(output: Output, json: boolean) {
    this.#output = output;
    this.#json = json;
  }

  row(recording: string, row: Row): void {
    if (this.#json) this.#output.print(jsonLine({ recording, ...rowValue(row) }));
    else this.#text(recording, rowLines(row, this.#look));
  }

  damage(recording: string, line: number, says: string): void {
    if (this.#json) this.#output.print(jsonLine({ recording, kind: "damage", line, says }));
    else this.#text(recording, [this.#output.style.red(`✖ line ${line} is damaged: ${says}`)]);
  }

  #text(recording: string, lines: readonly string[]): void {
    const { style } = this.#output;
    if (this.#shown !== recording) {
      this.#output.print(`${this.#shown === undefined ? "" : "\n"}${style.bold(recording)}`, headingRow(this.#look));
    }
    this.#shown = recording;
    this.#output.print(...lines);
  }

  get #look(): Look {
    const { style, width } = this.#output;
    return { style, width, clock: "s" };
  }
}

/** What is shown of one recording: the rows that a filter leaves, from the last so many on. */
export class TailedRecording {
  readonly #name: string;
  readonly #matches: RowTest;
  readonly #view: TailView;
  readonly #conversation = new Conversation();
  /** Requests of HTTP get verdicts when their responses come: then they are looked at again. */
  readonly #open = new Map<number, Row>();
  /** The last rows of what was there already; undefined once they are shown. */
  #held: (() => void)[] | undefined = [];
  readonly #most: number;
  header: HeaderEntry | undefined;
  ended = false;

  constructor(name: string, { matches, most, view }: { matches: RowTest; most: number; view: TailView }) {
    this.#name = name;
    this.#matches = matches;
    this.#most = most;
    this.#view = view;
  }

  /** What came of it, when nothing more comes. */
  report(source: string): Report {
    this.#conversation.finish();
    return reportOf({ source, conversation: this.#conversation });
  }

  take({ entry, damage }: RecordingItem): void {
    if (damage !== undefined) this.#show(() => this.#view.damage(this.#name, damage.line, damage.says));
    if (entry === undefined) return;
    if (entry.k === "hdr") this.header = entry;
    if (entry.k === "end") this.ended = true;
    const row = this.#conversation.push(entry);
    if (entry.k === "h" && entry.ph !== "req") this.#lookAgain(entry.x);
    if (row === undefined) return;
    if (entry.k === "h" && entry.ph === "req") this.#open.set(entry.x, row);
    if (this.#matches(row)) this.#show(() => this.#view.row(this.#name, row));
  }

  /** What was there already has been read: it is shown, and all that comes from here on. */
  release(): void {
    for (const show of this.#held ?? []) show();
    this.#held = undefined;
  }

  #lookAgain(exchange: number): void {
    const row = this.#open.get(exchange);
    this.#open.delete(exchange);
    if (row !== undefined && row.verdicts.length > 0 && this.#matches(row))
      this.#show(() => this.#view.row(this.#name, row));
  }

  #show(show: () => void): void {
    if (this.#held === undefined) show();
    else if (this.#most > 0) {
      this.#held.push(show);
      if (this.#held.length > this.#most) this.#held.shift();
    }
  }
}
