import { Conversation, type Rule } from "@parlance/wire";
import { expect, test } from "vitest";
import { recorded, type Said } from "../recording/recorded.js";
import { asked, failed, talkOf, told } from "./talk.js";

const talk = talkOf("2025-11-25");

/** Messages 1 to 3 open the conversation. */
const crossed = recorded(
  ...talk.opening(),
  talk.list(7),
  talk.listed(7),
  asked(7, "ping"),
  talk.call(8),
  failed(8, -32_603),
  told("notifications/cancelled", { requestId: 8 }),
);

const requirement = { id: "Z-1", level: "may", party: "either", demands: "Silence", page: "basic" } as const;

/** The numbers of the messages that a rule looks at. */
function seenBy(scope: Partial<Rule>): readonly number[] {
  const check = (): readonly { says: string }[] => [{ says: "it looks at it" }];
  // The members of `scope` are those of a rule on the same subject.
  const rule = { ...requirement, on: "message", check, ...scope } as Rule;
  const conversation = new Conversation({ rules: [rule] });
  for (const entry of crossed) conversation.push(entry);
  return conversation.verdicts.map(({ n }) => n);
}

test("a rule looks at every message, or at those of one side", () => {
  expect(seenBy({})).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(seenBy({ from: "client" })).toEqual([1, 3, 4, 7, 9]);
  expect(seenBy({ from: "server" })).toEqual([2, 5, 6, 8]);
});

test("a rule with methods looks at these messages, and at the responses to these requests", () => {
  expect(seenBy({ methods: ["tools/list"] })).toEqual([4, 5]);
  expect(seenBy({ methods: ["tools/call", "notifications/cancelled"] })).toEqual([7, 8, 9]);
  expect(seenBy({ methods: ["tools/call"], kinds: ["res", "err"] })).toEqual([8]);
  expect(seenBy({ methods: ["tools/list"], from: "server" })).toEqual([5]);
  expect(seenBy({ methods: ["prompts/list"] })).toEqual([]);
});

test("a rule with channels looks at the frames of these channels", () => {
  expect(seenBy({ on: "frame", channels: ["stdout"] })).toEqual([2, 5, 6, 8]);
  expect(seenBy({ on: "frame", channels: ["stdin", "sse"] })).toEqual([1, 3, 4, 7, 9]);
  expect(seenBy({ on: "frame", channels: ["socket"] })).toEqual([]);
});

test.each([
  ["JSON that is not a message", "→ 42"],
  ["text that is not JSON", "→ hello"],
])("an error without an id after %s is no answer to the notification before it", (_what, other) => {
  const said = recorded(
    ...talk.opening(),
    told("notifications/cancelled", { requestId: 8 }),
    other as Said,
    asked(2, "ping"),
    '← {"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"}}',
    talk.result(2),
  );
  const conversation = new Conversation();
  for (const entry of said) conversation.push(entry);
  expect(conversation.verdicts.map(({ rule }) => rule.id)).not.toContain("R-7");
});
