import type { Limits } from "./limits.js";
import { skipString } from "./scan.js";

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * The bound that a frame breaks, as a sentence, or undefined. Runs before `JSON.parse`, so it must cost little: what a
 * text is too short to break is not looked for, and few brackets cannot nest deep.
 */
export function brokenBound(text: string, limits: Limits): string | undefined {
  if (text.length > limits.frameBytes)
    return `frame of ${text.length} characters, at most ${limits.frameBytes} bytes are accepted`;
  // One level needs two characters, one value and its comma two, one member four.
  const mayNest = text.length > 2 * limits.depth && !hasFewBrackets(text, limits.depth);
  const mayCount = text.length >= 2 * limits.nodes || text.length >= 4 * limits.keys;
  return mayNest || mayCount ? scanBounds(text, limits) : undefined;
}

function hasFewBrackets(text: string, few: number): boolean {
  let left = few;
  for (let at = text.indexOf("{"); at >= 0; at = text.indexOf("{", at + 1)) if (--left < 0) return false;
  for (let at = text.indexOf("["); at >= 0; at = text.indexOf("[", at + 1)) if (--left < 0) return false;
  return true;
}

/** One pass over the structure; strings are skipped by native search. A text that is no JSON is left to the parser. */
function scanBounds(text: string, limits: Limits): string | undefined {
  const commas: number[] = [];
  let nodes = 1;
  let afterOpener = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 0x20) continue;
    const closes = code === closeBrace || code === closeBracket;
    if (afterOpener && !closes) nodes += 1;
    afterOpener = false;
    if (code === quote) {
      const end = skipString(text, at);
      if (end < 0) return undefined;
      at = end - 1;
    } else if (code === comma) {
      nodes += 1;
      const top = commas.length - 1;
      commas[top] = (commas[top] ?? 0) + 1;
    } else if (code === openBrace || code === openBracket) {
      if (commas.push(0) > limits.depth) return `nested deeper than ${limits.depth} levels`;
      afterOpener = true;
    } else if (closes) {
      const members = (commas.pop() ?? 0) + 1;
      if (code === closeBrace && members > limits.keys)
        return `an object with ${members} members, at most ${limits.keys} are accepted`;
    }
    if (nodes > limits.nodes) return `more than ${limits.nodes} values`;
  }
  return undefined;
}
