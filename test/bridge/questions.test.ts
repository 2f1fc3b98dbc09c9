import { createFakeClock } from "@parlance/mcp/testing";
import { expect, test } from "vitest";
import { parse } from "../testing/frames.js";
import { Ends } from "./ends.js";

const form = '"message":"Who?","requestedSchema":{"type":"object","properties":{}},"acme":12345678901234567890';
const answer = '{"action":"accept","content":{"n":1.0},"acme":12345678901234567890}';
const call = '"name":"t","arguments":{"n":1.0}';

/** A call of a tool, and its id on the far side. */
async function called(ends: Ends, params = call): Promise<unknown> {
  ends.near.send(ends.request("r", "tools/call", params));
  return parse(await ends.far.next()).id;
}

function asks(id: string, more = ""): string {
  return `{"jsonrpc":"2.0","id":"${id}","method":"elicitation/create","params":{"mode":"form",${form}${more}}}`;
}

/** The outcome of a round. */
async function round(ends: Ends): Promise<{ readonly state: string; readonly frame: string; readonly keys: string[] }> {
  const frame = await ends.near.next();
  const { result } = parse(frame);
  expect(result?.resultType).toBe("input_required");
  return { frame, state: String(result?.requestState), keys: Object.keys(result?.inputRequests ?? {}) };
}

test("a request of the far server crosses as a request, and its answer as it was written", async () => {
  await using ends = await Ends.open("handshake", "handshake");
  await called(ends);
  ends.far.send(asks("q"));
  const asked = await ends.near.next();
  expect(asked).toContain(`"method":"elicitation/create","params":{"mode":"form",${form}}`);
  ends.near.send(`{"jsonrpc":"2.0","id":${parse(asked).id},"result":${answer}}`);
  expect(await ends.far.next()).toBe(`{"jsonrpc":"2.0","id":"q","result":${answer}}`);
});

test("a request of the far server ends a round, and the next one brings the answer", async () => {
  await using ends = await Ends.open("stateless", "handshake");
  const id = await called(ends);
  ends.far.send(asks("q"));
  const { frame, state, keys } = await round(ends);
  expect(keys).toHaveLength(1);
  expect(frame).toContain(`{"method":"elicitation/create","params":{"mode":"form",${form}}}`);
  ends.near.send(
    ends.request("r2", "tools/call", `${call},"inputResponses":{"${keys[0]}":${answer}},"requestState":"${state}"`),
  );
  expect(await ends.far.next()).toBe(`{"jsonrpc":"2.0","id":"q","result":${answer}}`);
  ends.far.send(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"acme":1.0}}`);
  expect(await ends.near.next()).toContain('"id":"r2","result":{"content":[],"acme":1.0,"resultType":"complete"');
});

test("a result that asks becomes a request, and its answer another round", async () => {
  await using ends = await Ends.open("handshake", "stateless");
  const id = await called(ends);
  const asking = `"inputRequests":{"who":{"method":"elicitation/create","params":{"mode":"form",${form}}}}`;
  const result = `{"resultType":"input_required",${asking},"requestState":"s"}`;
  ends.far.send(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
  const asked = await ends.near.next();
  expect(asked).toContain(`"method":"elicitation/create","params":{"mode":"form",${form}}`);
  ends.near.send(`{"jsonrpc":"2.0","id":${parse(asked).id},"result":${answer}}`);
  const again = await ends.far.next();
  expect(again).toContain(`${call}`);
  expect(again).toContain(`"inputResponses":{"who":${answer}},"requestState":"s"`);
  ends.far.send(`{"jsonrpc":"2.0","id":${parse(again).id},"result":{"content":[],"resultType":"complete"}}`);
  expect(parse(await ends.near.next())).toMatchObject({ id: "r", result: { content: [] } });
});

test("rounds of the same era cross as they are", async () => {
  await using ends = await Ends.open("stateless", "stateless");
  const id = await called(ends);
  const result = `"resultType":"input_required","inputRequests":{"who":{"method":"roots/list","params":{"acme":1.0}}},"requestState":"s"`;
  ends.far.send(`{"jsonrpc":"2.0","id":${id},"result":{${result}}}`);
  expect(await ends.near.next()).toContain(`"id":"r","result":{${result}`);
  const rest = `${call},"inputResponses":{"who":{"roots":[],"acme":1.0}},"requestState":"s"`;
  ends.near.send(ends.request("r2", "tools/call", rest));
  expect(await ends.far.next()).toContain(`"params":{${rest}`);
});

test("what is asked at the same time comes in one round", async () => {
  await using ends = await Ends.open("stateless", "handshake");
  await called(ends);
  ends.far.send(asks("one"));
  ends.far.send(asks("other"));
  expect((await round(ends)).keys).toHaveLength(2);
});

test("a requestState is accepted once, for its own call, and never if it is forged", async () => {
  await using ends = await Ends.open("stateless", "handshake");
  await called(ends);
  ends.far.send(asks("q"));
  const { state, keys } = await round(ends);
  const refused = { error: { code: -32_602, data: { errors: [{ path: "/requestState" }] } } };
  const rest = `"inputResponses":{"${keys[0]}":${answer}},"requestState"`;
  for (const params of [`${call},${rest}:"made up"`, `"name":"other","arguments":{},${rest}:"${state}"`]) {
    ends.near.send(ends.request("no", "tools/call", params));
    expect(parse(await ends.near.next())).toMatchObject({ id: "no", ...refused });
  }
  ends.near.send(ends.request("yes", "tools/call", `${call},${rest}:"${state}"`));
  expect(parse(await ends.far.next())).toMatchObject({ id: "q" });
  ends.near.send(ends.request("twice", "tools/call", `${call},${rest}:"${state}"`));
  expect(parse(await ends.near.next())).toMatchObject({ id: "twice", ...refused });
});

test("a call whose client does not return is cancelled upstream after ten minutes", async () => {
  const clock = createFakeClock();
  await using ends = await Ends.open("stateless", "handshake", { clock });
  const id = await called(ends);
  ends.far.send(asks("q"));
  let isAsked = false;
  void round(ends).then(() => {
    isAsked = true;
  });
  await expect
    .poll(() => {
      clock.advance(0);
      return isAsked;
    })
    .toBe(true);
  clock.advance(600_000);
  expect(parse(await ends.far.next())).toMatchObject({ method: "notifications/cancelled", params: { requestId: id } });
});

test("nothing is asked that the client of the call has not declared", async () => {
  await using ends = await Ends.open("stateless", "handshake");
  const id = await called(ends);
  ends.far.send(asks("q").replace('"mode":"form"', '"mode":"url"'));
  expect(parse(await ends.far.next())).toMatchObject({ id: "q", error: { code: -32_602 } });
  ends.far.send(`{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`);
  expect(parse(await ends.near.next())).toMatchObject({ id: "r" });
});

test("a question of a server whose client has no call open is refused, where calls are all there is", async () => {
  await using ends = await Ends.open("stateless", "handshake");
  ends.far.send('{"jsonrpc":"2.0","id":"q","method":"roots/list"}');
  expect(parse(await ends.far.next())).toMatchObject({ id: "q", error: { code: -32_601 } });
});
