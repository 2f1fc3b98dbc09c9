import { inspect } from "node:util";
import { LocalError, RpcError } from "@parlance/mcp/client";
import { escapeControls } from "@parlance/mcp/jsonrpc";

/** Where the right column begins, how many lines of it one text may have, and as many words as fit on a line. */
const column = 56;
const height = 8;
const words = /\S.{0,63}(?=\s|$)|\S+/g;

/** Prints what is called on the left, and what comes of it on the right. */
export class Narrator {
  /** How many frames went either way. */
  frames = 0;
  /** The calls that were shown, as they stand in the source. */
  shown = "";
  /** @type {string[]} */
  #notes = [];

  /** @param {string} title */
  heading(title) {
    console.log(`\n${title}`);
  }

  /**
   * Something that comes while a step runs.
   *
   * @param {string} text
   */
  note = (text) => {
    this.#notes.push(text);
  };

  /**
   * Runs a step and shows it: its own source text, then what it gives or why it fails.
   *
   * @template T
   * @param {() => T | Promise<T>} step
   * @param {(value: T, frames: number) => string} [describe]
   * @returns {Promise<T | undefined>} undefined if it fails
   */
  show = async (step, describe = brief) => {
    const before = this.frames;
    try {
      const value = await step();
      this.note(describe(value, this.frames - before));
      return value;
    } catch (error) {
      this.note(failure(error));
      return undefined;
    } finally {
      this.#print(sourceOf(step));
    }
  };

  /** @param {string} source */
  #print(source) {
    this.shown += `${source}\n`;
    const left = `  ${source}`;
    const right = this.#notes.splice(0).flatMap(wrapped);
    if (left.length >= column) right.unshift("");
    for (const [index, text] of right.entries()) {
      console.log(`${(index === 0 ? left : "").padEnd(column)}${text}`.trimEnd());
    }
  }
}

/**
 * The part of a value that is shown by default.
 *
 * @param {unknown} value
 */
export function brief(value) {
  if (typeof value === "string") return value;
  return value === undefined ? "done" : inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 6 });
}

/** @param {unknown} error */
function failure(error) {
  if (error instanceof RpcError) {
    const data = error.data === undefined ? "" : `\nwith data ${brief(error.data)}`;
    return `RpcError ${error.code}: ${error.message}${data}`;
  }
  // The number of a request depends on all that went before it, and says nothing here.
  if (error instanceof LocalError) return `LocalError ${error.reason}: ${error.message.replace(/ \(id \d+\)/, "")}`;
  throw error;
}

/**
 * Text of a server may be long, and contain control characters of terminals.
 *
 * @param {string} text
 */
function wrapped(text) {
  const lines = text.split("\n").flatMap((line) => escapeControls(line).match(words) ?? [""]);
  return lines.length > height ? [...lines.slice(0, height - 1), "…"] : lines;
}

/** @param {() => unknown} step */
function sourceOf(step) {
  return String(step)
    .replace(/^(async )?\(\) =>\s*/, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/(?<=\() |,? (?=\))|,(?= \})/g, "");
}
