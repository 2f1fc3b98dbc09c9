import { Conversation, type Entry } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { opening, recorded, type Said, stdioFrame } from "../recording/recorded.js";

const ask = (id: number): Said => `→ {"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"add"}}`;
const answer = (id: number): Said => `← {"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`;

type RuleEntry = Extract<Entry, { k: "r" }>;
type Fate = NonNullable<RuleEntry["did"]>;

const did = (of: number, fate: Fate): RuleEntry => ({ k: "r", t: of, break: "tools/call", of, did: fate });

/** Reads what follows the opening, in which frames 1 to 3 are. */
function read(...entries: readonly Entry[]): Conversation {
  const conversation = new Conversation();
  for (const entry of [...recorded(...opening("2025-11-25", { server: { tools: {} } })), ...entries])
    conversation.push(entry);
  conversation.push({ k: "end", t: 99, frames: 0, bytes: 0, sha256: "" });
  return conversation;
}

const says = (conversation: Conversation): readonly string[] =>
  conversation.verdicts.map(({ party, says: words }) => `${party}: ${words}`);
const waits = (conversation: Conversation): readonly string[] =>
  conversation.pending().map(({ state, reason }) => `${state}: ${reason}`);

describe("what a person did at a breakpoint is not held against either side", () => {
  test("a changed request replaces its original: one response is due", () => {
    const conversation = read(
      stdioFrame(4, ask(7)),
      did(4, "hold"),
      did(4, "change"),
      { ...stdioFrame(5, ask(7)), by: "mutate", of: 4 },
      stdioFrame(6, answer(7)),
    );
    expect(says(conversation)).toEqual([]);
    expect(waits(conversation)).toEqual([]);
    expect(conversation.rows.find(({ n }) => n === 6)?.messages[0]?.operation?.request.frame.n).toBe(5);
  });

  test("a request that is sent with another id", () => {
    const conversation = read(
      stdioFrame(4, ask(7)),
      did(4, "change"),
      { ...stdioFrame(5, ask(8)), by: "mutate", of: 4 },
      stdioFrame(6, answer(8)),
    );
    expect(says(conversation)).toEqual([]);
    expect(waits(conversation)).toEqual([]);
  });

  test("a changed response is no second response", () => {
    const conversation = read(stdioFrame(4, ask(7)), stdioFrame(5, answer(7)), did(5, "change"), {
      ...stdioFrame(6, answer(7)),
      by: "mutate",
      of: 5,
    });
    expect(says(conversation)).toEqual([]);
  });

  test("a response that the server repeats after a change is still a second one", () => {
    const conversation = read(
      stdioFrame(4, ask(7)),
      stdioFrame(5, answer(7)),
      { ...stdioFrame(6, answer(7)), by: "mutate", of: 5 },
      stdioFrame(7, answer(7)),
    );
    expect(says(conversation)).toEqual(["server: the request with the id 7 was answered already, by frame 6"]);
  });

  test("a request that was dropped has no response, and none is due", () => {
    const conversation = read(stdioFrame(4, ask(7)), did(4, "hold"), did(4, "drop"));
    expect(waits(conversation)).toEqual(["not due: no response: it was dropped at a breakpoint"]);
  });

  test("a request that is held waits for the person", () => {
    const conversation = read(stdioFrame(4, ask(7)), did(4, "hold"));
    expect(waits(conversation)).toEqual(["not due: waiting — it is held at a breakpoint"]);
  });

  test("a request that was let go is the server's again", () => {
    const conversation = read(stdioFrame(4, ask(7)), did(4, "hold"), did(4, "send"));
    expect(waits(conversation)).toEqual([expect.stringMatching(/^unanswered: waiting /)]);
  });

  test("a request that a person answered has that answer", () => {
    const conversation = read(stdioFrame(4, ask(7)), did(4, "hold"), did(4, "answer"), {
      ...stdioFrame(5, answer(7)),
      by: "inject",
    });
    expect(says(conversation)).toEqual([]);
    expect(waits(conversation)).toEqual([]);
  });

  test("a request that a fault kept back", () => {
    const conversation = read(stdioFrame(4, ask(7)), { k: "r", t: 4, fault: "tools/call => drop", of: 4 });
    expect(waits(conversation)).toEqual(["not due: no response: it met the fault tools/call => drop"]);
  });

  test("a response with an id that the person invented leads to no verdict on what follows", () => {
    const conversation = read(
      stdioFrame(4, ask(7)),
      did(4, "change"),
      { ...stdioFrame(5, `→ {"id":7}`), by: "mutate", of: 4 },
      stdioFrame(6, answer(9)),
    );
    expect(says(conversation).filter((each) => !each.startsWith("injected"))).toEqual([]);
  });
});
