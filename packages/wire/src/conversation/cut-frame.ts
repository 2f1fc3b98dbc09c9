import { literalOf } from "../json/json-node.js";
import type { Frame } from "../recording/frame.js";
import { keyOfId } from "./message.js";

/** Bytes of a message in which its id is looked for. */
const headLength = 4_096;

/** One member of the beginning of an object, if its value is a scalar that is there as a whole. */
const member = /\s*"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|null|true|false)\s*,/y;

/** What the beginning of a frame tells, of which the recorder has kept no more. */
export interface CutFrame {
  /** Whether it may be a response: it is one, or its members that say so are cut off. */
  readonly mayAnswer: boolean;
  /** The key of its id, where that is in the beginning. */
  readonly idKey: string | undefined;
}

/** Reads the beginning of a frame that was cut. */
export function readCutFrame({ bytes }: Frame): CutFrame {
  const text = literalOf({ start: 0, end: Math.min(bytes.length, headLength) }, bytes);
  const members = new Map<string, string>();
  const [opening] = /^\s*\{/.exec(text) ?? [];
  member.lastIndex = opening?.length ?? text.length;
  for (let found = member.exec(text); found !== null; found = member.exec(text)) {
    const [, name = "", value = ""] = found;
    members.set(name, value);
  }
  const id = members.get("id");
  return { mayAnswer: !members.has("method"), idKey: id === undefined ? undefined : keyOfId(id) };
}
