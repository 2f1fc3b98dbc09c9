import { describe, expect, test } from "vitest";
import { parse } from "../testing/frames.js";
import { cells, Ends } from "./ends.js";

/** Members that no schema has, and numbers that no double holds or writes like this. */
const unknown =
  '"acme":{"big":12345678901234567890,"one":1.0,"zero":-0,"huge":1e400,"tiny":1E-7,"list":[9007199254740993,0.10]}' +
  ',"text":"12345678901234567890 \u2028 \\ud800 é","null":null,"empty":{}';

const ways = [false, true].flatMap((overHttp) => cells.map(([near, far]) => [near, far, { overHttp }] as const));

describe.each(ways)("a bridge from %s to %s, %j", (nearEra, farEra, setup) => {
  test("forwards an unknown request and its response unchanged", async () => {
    await using ends = await Ends.open(nearEra, farEra, setup);
    ends.near.send(ends.request("r", "acme/do", unknown));
    const asked = await ends.far.next();
    expect(asked).toContain(`"method":"acme/do","params":{${unknown}`);
    ends.far.send(`{"jsonrpc":"2.0","id":${parse(asked).id},"result":{${unknown},"resultType":"complete"}}`);
    expect(await ends.near.next()).toContain(`"id":"r","result":{${unknown}`);
    expect(ends.reports).toEqual([]);
  });

  test("hands over an error with its code, its words and its data", async () => {
    await using ends = await Ends.open(nearEra, farEra, setup);
    ends.near.send(ends.request("r", "acme/do", ""));
    const { id } = parse(await ends.far.next());
    const error = `"error":{"code":-31999,"message":"no","data":{${unknown}}}`;
    ends.far.send(`{"jsonrpc":"2.0","id":${id},${error}}`);
    expect(await ends.near.next()).toBe(`{"jsonrpc":"2.0","id":"r",${error}}`);
  });

  test("leaves the arguments and the result of a tool as they are, and what else is said with them", async () => {
    await using ends = await Ends.open(nearEra, farEra, setup);
    const params = `"name":"t","arguments":{"n":12345678901234567890,"f":1.0},${unknown}`;
    ends.near.send(ends.request("r", "tools/call", params, '"acme.example/trace":7.50'));
    const asked = await ends.far.next();
    expect(asked).toContain(`"method":"tools/call","params":{${params},"_meta":{"acme.example/trace":7.50`);
    const result = `"content":[{"type":"text","text":"t","acme":1.0}],"structuredContent":{"n":1e2},${unknown}`;
    ends.far.send(`{"jsonrpc":"2.0","id":${parse(asked).id},"result":{${result},"_meta":{"acme.example/a":1.0}}}`);
    const answer = await ends.near.next();
    expect(answer).toContain(`"id":"r","result":{${result}`);
    expect(answer).toContain('"_meta":{"acme.example/a":1.0');
  });

  test("forwards progress under the token of its caller", async () => {
    await using ends = await Ends.open(nearEra, farEra, setup);
    ends.near.send(ends.request("r", "tools/call", '"name":"t"', '"progressToken":12345678901234567890'));
    const { id, params } = parse(await ends.far.next());
    const { progressToken } = (params?._meta ?? {}) as { readonly progressToken?: number };
    const said = '"progress":0.50,"total":1.0,"acme":1e3';
    const told = `"params":{"progressToken":${progressToken},${said}}`;
    ends.far.send(`{"jsonrpc":"2.0","method":"notifications/progress",${told}}`);
    expect(await ends.near.next()).toBe(
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":12345678901234567890,${said}}}`,
    );
    ends.far.send(`{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`);
    expect(parse(await ends.near.next()).id).toBe("r");
  });

  test("forwards an unknown notification while a call is open", async () => {
    await using ends = await Ends.open(nearEra, farEra, setup);
    ends.near.send(ends.request("r", "acme/do", ""));
    const { id } = parse(await ends.far.next());
    const notification = `{"jsonrpc":"2.0","method":"acme/told","params":{${unknown}}}`;
    ends.far.send(notification);
    expect(await ends.near.next()).toBe(notification);
    ends.far.send(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    expect(parse(await ends.near.next()).id).toBe("r");
  });

  test("cancels upstream what is cancelled downstream", async () => {
    await using ends = await Ends.open(nearEra, farEra, setup);
    ends.near.send(ends.request("r", "tools/call", '"name":"t"'));
    const { id } = parse(await ends.far.next());
    ends.near.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r"}}');
    expect(parse(await ends.far.next())).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: id },
    });
  });
});

// Between the two bridges over HTTP is a client of the upstream's era: without a handshake it receives nothing outside of its calls.
const conversing = ways.filter(
  ([near, far, { overHttp }]) => near === "handshake" && !(overHttp && far === "stateless"),
);

describe.each(conversing)("a bridge from %s to %s, %j", (nearEra, farEra, setup) => {
  test("forwards notifications outside of calls, in both directions", async () => {
    await using ends = await Ends.open(nearEra, farEra, setup);
    const notification = `{"jsonrpc":"2.0","method":"acme/told","params":{${unknown}}}`;
    ends.far.send(notification);
    expect(await ends.near.next()).toBe(notification);
    ends.near.send(notification);
    expect(await ends.far.next()).toBe(notification);
  });
});

test("an unknown request of the upstream goes downstream, and its response comes back unchanged", async () => {
  await using ends = await Ends.open("handshake", "handshake");
  ends.far.send(`{"jsonrpc":"2.0","id":7,"method":"acme/ask","params":{${unknown}}}`);
  const asked = await ends.near.next();
  expect(asked).toContain(`"method":"acme/ask","params":{${unknown}}`);
  ends.near.send(`{"jsonrpc":"2.0","id":${parse(asked).id},"result":{${unknown}}}`);
  expect(await ends.far.next()).toBe(`{"jsonrpc":"2.0","id":7,"result":{${unknown}}}`);
});
