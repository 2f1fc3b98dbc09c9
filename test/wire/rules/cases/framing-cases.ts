import type { Entry } from "@parlance/wire";
import type { Said } from "../../recording/recorded.js";
import type { RuleCase } from "../rule-case.js";
import { frames, type Talk } from "../talk.js";

/** A list of tools whose answer is written as bytes: Latin-1, where every character is one. */
function listedInBytes(talk: Talk, text: string): readonly Entry[] {
  const said: readonly Said[] = [...talk.opening(), talk.list(1), talk.listed(1, [tool("?")])];
  return frames(said, (frame, index) => {
    if (index < said.length - 1) return frame;
    const { raw = "", b64, ...rest } = frame;
    const bytes = Buffer.from(raw.replace("?", text), "latin1");
    return { ...rest, len: bytes.length, b64: bytes.toString("base64") };
  });
}

function onSocket(said: readonly Said[]): readonly Entry[] {
  return frames(said, (frame) => ({ ...frame, ch: "socket", nl: "" }));
}

function tool(title: string): Readonly<Record<string, unknown>> {
  return { name: "add", description: title, inputSchema: { type: "object" } };
}

const ofLines = "it is about lines of stdin and stdout";

/** Transcripts for what every transport of text demands, and what stdio does. */
export const framingCases: readonly RuleCase[] = [
  {
    rule: "E-1",
    breaks: (talk) => listedInBytes(talk, "caf\xe9"),
    found: { party: "server", says: /^the byte 0xe9 at \d+ does not belong to UTF-8 text$/ },
    legal: (talk) => listedInBytes(talk, "caf\xc3\xa9"),
  },
  {
    rule: "E-2",
    breaks: (talk) => onSocket([...talk.opening(), talk.list(1), "← pong"]),
    found: { party: "server", text: "pong", says: /^it is not JSON: / },
    legal: (talk) => onSocket([...talk.opening(), talk.list(1), talk.listed(1)]),
  },
  {
    rule: "E-2",
    why: "for two messages in one frame",
    breaks: (talk) => onSocket([...talk.opening(), `${talk.list(1)}${talk.list(2).slice(2)}`]),
    found: { party: "client", says: /^it is not JSON: expected nothing after the value/ },
    legal: (talk) => onSocket([...talk.opening(), talk.list(1), talk.listed(1)]),
  },
  {
    rule: "S-1",
    why: "for half a message",
    stdioOnly: ofLines,
    breaks: (talk) => [...talk.opening(), talk.list(1), talk.listed(1).slice(0, -3) as Said],
    found: { party: "server", says: /^the line ends after \d+ bytes of a message, before the message does$/ },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "S-1",
    why: "for a message without a line feed",
    stdioOnly: ofLines,
    breaks: (talk) => {
      const said = [...talk.opening(), talk.list(1), talk.listed(1)];
      return frames(said, (frame, index) => (index < said.length - 1 ? frame : { ...frame, nl: "" }));
    },
    found: { party: "server", says: /^no line feed follows the message: / },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "S-1",
    why: "for two messages on one line",
    stdioOnly: ofLines,
    breaks: (talk) => [...talk.opening(), talk.list(1), `${talk.listed(1)}${talk.listed(1).slice(2)}`],
    found: {
      party: "server",
      says: /^a second message begins at byte \d+ of the line: no line feed follows the first$/,
    },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "S-2",
    stdioOnly: ofLines,
    breaks: (talk) => [...talk.opening(), "← Server running on stdio"],
    found: { party: "server", text: "Server running on stdio" },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "S-3",
    stdioOnly: ofLines,
    breaks: (talk) => [...talk.opening(), "→ help"],
    found: { party: "client", text: "help" },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
];
