import { describeReport, LocalError, RpcError } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { requestText, successText } from "./held.js";
import { expectAlive, overMemory, type Talk, transports, turn } from "./transports.js";

/** Frames in the place of a response to id 1, and the error of the call. */
const noResponses: readonly { answer: string; why: string }[] = [
  {
    answer: '{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"no"}}',
    why: "at /error: a response must not have both result and error",
  },
  { answer: '{"jsonrpc":"2.0","id":1}', why: ": a message must have a method, a result or an error" },
  {
    answer: '{"jsonrpc":"2.0","id":1,"result":1,"error":null}',
    why: "at /error: a response must not have both result and error",
  },
  { answer: '{"jsonrpc":"2.0","id":1,"error":null}', why: "at /error: error must be an object, got null" },
  { answer: '{"id":1,"result":1}', why: 'at /jsonrpc: jsonrpc must be "2.0", it is missing' },
  { answer: '{"jsonrpc":"1.0","id":1,"result":1}', why: 'at /jsonrpc: jsonrpc must be "2.0", got "1.0"' },
  {
    answer: '{"jsonrpc":2,"id":1,"error":{"code":1,"message":"no"}}',
    why: 'at /jsonrpc: jsonrpc must be "2.0", got 2',
  },
  { answer: '{"jsonrpc":"2.0","id":1,"error":"bad"}', why: "at /error: error must be an object, got a string" },
  { answer: '{"jsonrpc":"2.0","id":1,"error":[]}', why: "at /error: error must be an object, got an array" },
  {
    answer: '{"jsonrpc":"2.0","id":1,"error":{"code":1}}',
    why: "at /error/message: message must be a string, got nothing",
  },
  {
    answer: '{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"no"}}',
    why: 'at /error/code: code must be an integer, got "x"',
  },
  {
    answer: '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"no"}}',
    why: "at /error/code: code must be an integer, got 1.5",
  },
  {
    answer: '[{"jsonrpc":"2.0","id":1,"error":"bad"}]',
    why: "at /error: error must be an object, got a string",
  },
];

/** Frames that answer no call, and their reports. */
const strangers: readonly { answer: string; shows: string }[] = [
  { answer: successText('"1"', "2"), shows: 'received a result to id "1", which no call waits for' },
  { answer: successText("7", "2"), shows: "received a result to id 7, which no call waits for" },
  { answer: successText("1.5", "2"), shows: "received a result to id 1.5, which no call waits for" },
  { answer: successText("null", "2"), shows: "received a result without an id, which no call waits for" },
  {
    answer: '{"jsonrpc":"2.0","result":2}',
    shows: 'received "{\\"jsonrpc\\":\\"2.0\\",\\"result\\":2}": a response must have an id',
  },
  {
    answer: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    shows: 'received an error without an id: -32700 "Parse error"',
  },
  {
    answer: '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}',
    shows: 'received an error without an id: -32600 "Invalid Request"',
  },
  { answer: "[1]", shows: 'received "[1]": a message must be an object, got a number' },
];

describe.each(transports)("over $name", ({ open }) => {
  test.each(noResponses)("$answer fails its call as a breach of the protocol", async ({ answer, why }) => {
    await using talk = open({ answersUnreadable: false });
    const call = talk.connection.call("get");
    expect(await talk.peer.next()).toBe(requestText("1", "get"));
    talk.peer.send(answer);
    const separator = why.startsWith(":") ? "" : " ";
    await expect(call).rejects.toThrow(
      new LocalError("protocol", `get (id 1): the answer is not a response${separator}${why}`),
    );
    await expectNextCall(talk, 2);
  });

  test.each(strangers)("$answer is reported, and the call goes on", async ({ answer, shows }) => {
    const reports: string[] = [];
    await using talk = open({
      answersUnreadable: false,
      report: (report) => void reports.push(describeReport(report)),
    });
    const call = talk.connection.call("get");
    await talk.peer.next();
    talk.peer.send(answer);
    talk.peer.send(successText("1", '"the answer"'));
    expect(await call).toBe("the answer");
    expect(reports).toEqual([shows]);
    await expectNextCall(talk, 2);
  });

  test("malformed JSON is reported, and the call goes on", async () => {
    const reports: string[] = [];
    await using talk = open({
      answersUnreadable: false,
      report: (report) => void reports.push(describeReport(report)),
    });
    const call = talk.connection.call("get");
    await talk.peer.next();
    talk.peer.send('{"jsonrpc":"2.0","id":1,"result":');
    talk.peer.send(successText("1", "1"));
    expect(await call).toBe(1);
    expect(reports).toEqual([
      expect.stringMatching(
        /^received "\{\\"jsonrpc\\":\\"2\.0\\",\\"id\\":1,\\"result\\":": a frame must be JSON \(.+\)$/,
      ),
    ]);
    await expectNextCall(talk, 2);
  });

  test("[response] answers a single call", async () => {
    await using talk = open();
    const call = talk.connection.call("get");
    await talk.peer.next();
    talk.peer.send(`[${successText("1", "[2]")}]`);
    expect(await call).toEqual([2]);
    await expectNextCall(talk, 2);
  });
});

test("a failure becomes an RpcError with the peer's code, message and data", async () => {
  await using talk = overMemory();
  const call = talk.connection.call("get");
  await talk.peer.next();
  talk.peer.send('{"jsonrpc":"2.0","id":1,"error":{"code":404,"message":"No such thing","data":{"thing":7},"more":1}}');
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RpcError);
  expect(error).toMatchObject({ code: 404, message: "No such thing", data: { thing: 7 } });
});

test("responses may come in any order, and each finds its call", async () => {
  await using talk = overMemory();
  const calls = [talk.connection.call("a"), talk.connection.call("b"), talk.connection.call("c")];
  expect([await talk.peer.next(), await talk.peer.next(), await talk.peer.next()]).toEqual([
    requestText("1", "a"),
    requestText("2", "b"),
    requestText("3", "c"),
  ]);
  talk.peer.send(`[${successText("3", '"c"')},${successText("1", '"a"')}]`);
  talk.peer.send(successText("2", '"b"'));
  expect(await Promise.all(calls)).toEqual(["a", "b", "c"]);
});

describe("a response is never answered", () => {
  test.each([
    [successText("9", "1")],
    ['{"jsonrpc":"2.0","id":9,"result":1,"error":{"code":1,"message":"no"}}'],
    ['{"jsonrpc":"2.0","id":9,"error":"bad"}'],
    ['{"jsonrpc":"2.0","id":true,"result":1}'],
    ['[{"jsonrpc":"2.0","id":9,"error":"bad"}]'],
  ])("%s", async (sent) => {
    const reports: unknown[] = [];
    await using talk = overMemory({ handle: () => "pong", report: (each) => void reports.push(each) });
    talk.peer.send(sent);
    await expectAlive(talk);
    expect(reports).toHaveLength(1);
  });
});

test("a second answer to the same call is reported and changes nothing", async () => {
  const reports: string[] = [];
  await using talk = overMemory({ report: (report) => void reports.push(describeReport(report)) });
  const call = talk.connection.call("get");
  await talk.peer.next();
  talk.peer.send(successText("1", '"first"'));
  talk.peer.send(successText("1", '"second"'));
  expect(await call).toBe("first");
  await turn();
  expect(reports).toEqual(["received a result to id 1, which no call waits for"]);
});

async function expectNextCall({ connection, peer }: Talk, id: number): Promise<void> {
  const call = connection.call("ping");
  expect(await peer.next()).toBe(requestText(`${id}`, "ping"));
  peer.send(successText(`${id}`, '"pong"'));
  expect(await call).toBe("pong");
}
