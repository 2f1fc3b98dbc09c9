import type { Sender } from "@parlance/wire";
import type { Observation } from "../../shared/client/observed-target.js";
import { visibleLines } from "../../shared/output/columns.js";
import { hexLines } from "../../shared/output/hex.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { headingRow } from "../../shared/output/rows.js";
import type { Output } from "../../shared/output/terminal.js";
import { observationRows, observationValues } from "../talk/view.js";

/** The output of `parlance send`. */
export interface SendView {
  begin(): void;
  observe(observation: Observation): void;
  /** Shows raw bytes, with `--hex`. */
  bytes(from: Sender, at: number, chunk: Uint8Array): void;
  /** Shows the head of an HTTP response. */
  head(response: Response, at: number): void;
  /** Shows a line of the body of an HTTP response. */
  body(line: string, at: number): void;
  /** Shows a notice. */
  remark(text: string): void;
}

/** The parts to show. */
export interface SendLook {
  /** Whether bytes are shown as a hex dump. */
  readonly hex: boolean;
  /** Whether HTTP bodies are shown instead of frames. */
  readonly bodies: boolean;
}

/** Prints text. */
export function sendText(out: Output, { hex, bodies }: SendLook): SendView {
  const { style, print } = out;
  const offsets: Record<Sender, number> = { client: 0, server: 0 };
  return {
    begin: () => print(headingRow(out)),
    observe(observation) {
      print(...observationRows(observation, out));
      if (observation.kind === "frame" && observation.row.from === "server" && !hex && !bodies)
        print(...indented(observation.row.entry.raw ?? ""));
    },
    bytes(from, _at, chunk) {
      if (!hex) return;
      const mark = from === "client" ? style.cyan("→") : style.magenta("←");
      print(...hexLines(chunk, offsets[from]).map((line) => `${" ".repeat(indent)}${mark} ${style.dim(line)}`));
      offsets[from] += chunk.length;
    },
    head({ status, statusText, headers }) {
      const words = `${status} ${statusText}`.trim();
      const lines = [`HTTP ${words}`, ...Array.from(headers, ([name, value]) => `${name}: ${value}`)].flatMap(
        visibleLines,
      );
      print(...lines.map((line, index) => " ".repeat(indent) + (index === 0 ? style.bold(line) : style.dim(line))));
    },
    body(line) {
      if (!hex) print(...indented(line));
    },
    remark: (text) => print(style.yellow(`${" ".repeat(indent)}${text}`)),
  };
}

/** Columns before the sender of a row. */
const indent = 14;

/** Text of the server, not truncated. */
function indented(text: string): readonly string[] {
  return visibleLines(text).map((line) => (" ".repeat(indent) + line).trimEnd());
}

/** Prints one JSON object per line. */
export function sendJson(out: Output, { hex }: SendLook): SendView {
  const print = (value: object): void => out.print(jsonLine(value));
  return {
    begin: () => undefined,
    observe(observation) {
      for (const value of observationValues(observation)) print(value);
    },
    bytes(from, at, chunk) {
      if (hex) print({ kind: "bytes", from, at, hex: Buffer.from(chunk).toString("hex") });
    },
    head: ({ status, statusText, headers }, at) =>
      print({ kind: "http", at, status, statusText, headers: [...headers] }),
    body: (text, at) => print({ kind: "body", at, text }),
    remark: (text) => print({ kind: "remark", text }),
  };
}
