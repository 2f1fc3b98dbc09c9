import { createService, expected, invalidParams, methodNotFound, RpcError, type Service } from "@parlance/mcp/jsonrpc";
import { pair } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { overMemory } from "../jsonrpc/transports.js";

interface Move {
  readonly from: string;
  readonly to: string;
  readonly times?: number;
}

const moves = createService()
  .method<Move>("move", ({ from, to, times = 1 }) => `${from}>${to}x${times}`, {
    params: ["from", "to", "times"],
    check: ({ from, to, times }) => [
      ...(typeof from === "string" ? [] : [expected("a string", "from", from)]),
      ...(typeof to === "string" ? [] : [expected("a string", "to", to)]),
      ...(times === undefined || Number.isInteger(times) ? [] : [expected("an integer", "times", times)]),
    ],
  })
  .method("none", (params) => params, { params: [] })
  .method("raw", (params) => params ?? "omitted");

/** The params of a request as they are written, and the member that answers them. */
const forms: readonly [method: string, params: string, answer: string][] = [
  ["move", '{"from":"a","to":"b"}', '"result":"a>bx1"'],
  ["move", '{"times":2,"to":"b","from":"a"}', '"result":"a>bx2"'],
  ["move", '["a","b"]', '"result":"a>bx1"'],
  ["move", '["a","b",2]', '"result":"a>bx2"'],
  ["move", '{"from":"a","to":"b","unknown":true}', '"result":"a>bx1"'],
  ["none", "", '"result":{}'],
  ["none", "[]", '"result":{}'],
  ["none", "{}", '"result":{}'],
  ["raw", "", '"result":"omitted"'],
  ["raw", "[1]", '"result":[1]'],
  ["raw", '{"a":1}', '"result":{"a":1}'],
  ["move", "", fault(["/from", "a string, got nothing"], ["/to", "a string, got nothing"])],
  ["move", '["a"]', fault(["/to", "a string, got nothing"])],
  ["move", '{"from":1,"to":null}', fault(["/from", "a string, got a number"], ["/to", "a string, got null"])],
  ["move", '{"from":[],"to":{}}', fault(["/from", "a string, got an array"], ["/to", "a string, got an object"])],
  ["move", '["a","b",1.5]', fault(["/times", "an integer, got a number"])],
  ["move", '["a","b",1,2]', tooMany("/3", "move takes 3 params (from, to, times), got 4")],
  ["none", "[1]", tooMany("/0", "none takes 0 params (), got 1")],
];

describe("a method that declares names receives its params by name, and says what is wrong with them", () => {
  test.each(forms)("%s(%s) → %s", async (method, params, answer) => {
    await using talk = overMemory({ handle: moves.call });
    talk.peer.send(`{"jsonrpc":"2.0","id":1,"method":"${method}"${params === "" ? "" : `,"params":${params}`}}`);
    expect(await talk.peer.next()).toBe(`{"jsonrpc":"2.0","id":1,${answer}}`);
  });
});

test("a param named like an Object's own is a param like any other", async () => {
  const service = createService().method("keys", (params) => params, { params: ["__proto__", "constructor"] });
  await using talk = overMemory({ handle: service.call });
  talk.peer.send('{"jsonrpc":"2.0","id":1,"method":"keys","params":[{"polluted":1},2]}');
  expect(await talk.peer.next()).toBe('{"jsonrpc":"2.0","id":1,"result":{"__proto__":{"polluted":1},"constructor":2}}');
});

describe("an unknown method", () => {
  const answer = (data: string): string =>
    `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found","data":${data}}}`;

  test.each<[name: string, service: Service, data: string]>([
    ["is named", createService().method("a", () => 1), '{"method":"missing"}'],
    [
      "is answered with the available ones where the service discloses them",
      createService({ disclosesMethods: true })
        .method("b", () => 1)
        .method("a", () => 1),
      '{"method":"missing","available":["b","a"]}',
    ],
  ])("%s", async (_name, service, data) => {
    await using talk = overMemory({ handle: service.call });
    talk.peer.send('{"jsonrpc":"2.0","id":1,"method":"missing"}');
    expect(await talk.peer.next()).toBe(answer(data));
  });

  test("is what every method is to a connection without a handler", async () => {
    await using talk = overMemory();
    talk.peer.send('{"jsonrpc":"2.0","id":1,"method":"missing"}');
    expect(await talk.peer.next()).toBe(answer('{"method":"missing"}'));
  });
});

test("a reserved name and a taken name cannot be registered", () => {
  const service = createService().method("a", () => 1);
  expect(() => service.method("rpc.discover", () => 1)).toThrow(
    new TypeError("A method may not be called rpc.discover: names that begin with rpc. are reserved"),
  );
  expect(() => service.method("a", () => 2)).toThrow(
    new TypeError("The method a is already defined: choose another name"),
  );
  expect(service.method("rpc", () => 1).names).toEqual(["a", "rpc"]);
});

test("invalidParams and methodNotFound carry the standard codes", () => {
  expect(invalidParams("Invalid params").toJSON()).toEqual({ code: -32_602, message: "Invalid params" });
  expect(invalidParams("Bad", [expected("a date", "a/b~c", true)])).toMatchObject({
    code: -32_602,
    data: { errors: [{ path: "/a~1b~0c", message: "expected a date, got a boolean" }] },
  });
  expect(methodNotFound("x")).toBeInstanceOf(RpcError);
});

test("a handler calls its caller back, over the same connection", async () => {
  await using ends = pair({
    near: { handle: async (_method, params) => `${JSON.stringify(params)}!` },
    far: { handle: (_method, _params, exchange) => exchange.callback?.("name", ["first"], exchange) },
  });
  expect(await ends.near.call("greet")).toBe('["first"]!');
});

test("one connection serves another: a Call goes through as it came", async () => {
  await using inner = pair({ far: { handle: moves.call } });
  await using outer = pair({ far: { handle: inner.near.call } });
  expect(await outer.near.call("move", ["a", "b"])).toBe("a>bx1");
  await expect(outer.near.call("move", ["a"])).rejects.toMatchObject({ code: -32_602 });
});

function fault(...faults: readonly (readonly [path: string, what: string])[]): string {
  return invalid(faults.map(([path, what]) => ({ path, message: `expected ${what}` })));
}

function tooMany(path: string, message: string): string {
  return invalid([{ path, message }]);
}

function invalid(errors: readonly object[]): string {
  return `"error":{"code":-32602,"message":"Invalid params","data":${JSON.stringify({ errors })}}`;
}
