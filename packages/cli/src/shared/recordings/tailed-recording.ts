import {
  type CheckReport,
  Conversation,
  type compileFilter,
  type RecordingItem,
  type Row,
  reportOf,
} from "@parlance/wire";
import { rowLines } from "../output/conversation-rows.js";
import { jsonLine } from "../output/json-lines.js";
import { headingRow, type Look } from "../output/rows.js";
import type { Output } from "../output/terminal.js";
import { rowValue } from "./recorded-json.js";

type RowTest = ReturnType<typeof compileFilter>;

/** Prints rows of recordings under the name of each recording. */
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

/** Shows one recording: the last rows that match a filter, and new ones as they arrive. */
export class TailedRecording {
  readonly #name: string;
  readonly #matches: RowTest;
  readonly #view: TailView;
  readonly #conversation = new Conversation();
  /** The rows of HTTP requests, which are checked again when their responses bring verdicts. */
  readonly #open = new Map<number, Row>();
  /** Functions that print the last existing rows; undefined once they are printed, and if all rows are shown. */
  #held: (() => void)[] | undefined;
  readonly #most: number;
  ended = false;

  /** @param most the maximum number of existing rows to show, the last ones. Default: all, each at once */
  constructor(name: string, view: TailView, matches: RowTest = () => true, most: number = Number.POSITIVE_INFINITY) {
    this.#name = name;
    this.#matches = matches;
    this.#most = most;
    this.#held = most === Number.POSITIVE_INFINITY ? undefined : [];
    this.#view = view;
  }

  /** The report of the whole recording. */
  report(source: string): CheckReport {
    this.#conversation.finish();
    return reportOf({ source, conversation: this.#conversation });
  }

  /** Whether the last messages are a request of the server, or a result that requests input. */
  get endsWithQuestion(): boolean {
    const said = this.#conversation.rows.findLast(({ messages }) => messages.length > 0);
    const { from, messages = [] } = said ?? {};
    const asks = ({ kind, result }: (typeof messages)[number]): boolean =>
      kind === "req" || result?.resultType === "input_required";
    return from === "server" && messages.some(asks);
  }

  take({ entry, damage }: Partial<Pick<RecordingItem, "entry" | "damage">>): void {
    if (damage !== undefined) this.#show(() => this.#view.damage(this.#name, damage.line, damage.says));
    if (entry === undefined) return;
    if (entry.k === "end") this.ended = true;
    const row = this.#conversation.push(entry);
    if (entry.k === "h" && entry.ph !== "req") this.#lookAgain(entry.x);
    if (row === undefined) return;
    if (entry.k === "h" && entry.ph === "req") this.#open.set(entry.x, row);
    if (this.#matches(row)) this.#show(() => this.#view.row(this.#name, row));
  }

  /** Called when the existing rows have been read. Prints them, and from now on every new row. */
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
