import { Conversation, type Row } from "@parlance/wire";
import { expect, test } from "vitest";
import { opening, recorded, type Said } from "../recording/recorded.js";

function read(...said: readonly Said[]): { conversation: Conversation; rows: readonly (Row | undefined)[] } {
  const conversation = new Conversation();
  return { conversation, rows: recorded(...said).map((entry) => conversation.push(entry)) };
}

function broken(rows: readonly (Row | undefined)[]): readonly string[] {
  return rows.flatMap(
    (row) => row?.verdicts.map(({ n, rule, party, says }) => `${n} ${rule.id} ${party}: ${says}`) ?? [],
  );
}

test("a conversation that keeps the rules has no verdicts, and no request that waits", () => {
  const { conversation, rows } = read(
    ...opening("2025-11-25"),
    '→ {"jsonrpc":"2.0","id":1,"method":"ping"}',
    '← {"jsonrpc":"2.0","id":1,"result":{}}',
  );
  expect(broken(rows)).toEqual([]);
  expect(conversation.pending()).toEqual([]);
  expect(rows.map((row) => row?.kind)).toEqual(["req", "res", "ntf", "req", "res"]);
});

test("a text on stdout is noise of the server", () => {
  const { rows } = read(...opening("2025-11-25"), "← listening");
  expect(rows.at(-1)?.kind).toBe("noise");
  expect(broken(rows)).toEqual(['4 S-2 server: it is not JSON: expected a value at byte 0, but found "l"']);
});

test("an answer that is printed prettily is one message over many lines", () => {
  const { conversation, rows } = read(
    ...opening("2025-11-25"),
    '→ {"jsonrpc":"2.0","id":1,"method":"ping"}',
    "← {",
    '←   "jsonrpc": "2.0", "id": 1,',
    '←   "result": {}',
    "← }",
  );
  expect(rows.slice(4).map((row) => row?.kind)).toEqual(["frag", "frag", "frag", "frag"]);
  expect(broken(rows)).toEqual([
    "5 S-1 server: the line ends after 1 bytes of a message, before the message does",
    "6 S-1 server: it continues the message that frame 5 begins: JSON printed on several lines",
  ]);
  expect(conversation.pending().map(({ reason }) => reason)).toEqual(["waiting — frame 5 is not a message"]);
});

test("a response to an unknown id is named beside the request that waits", () => {
  const { conversation, rows } = read(
    ...opening("2025-11-25"),
    '→ {"jsonrpc":"2.0","id":1,"method":"ping"}',
    '← {"jsonrpc":"2.0","id":99999,"result":{}}',
  );
  expect(broken(rows)).toEqual(["5 R-5 server: no request has the id 99999"]);
  expect(conversation.pending().map(({ reason }) => reason)).toEqual(["waiting — 1 unpaired reply arrived (id 99999)"]);
});
