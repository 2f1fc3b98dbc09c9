import { getEventListeners } from "node:events";
import type { ServerResponse } from "node:http";
import { type Channel, memoryChannels, type Tapped } from "@parlance/mcp/jsonrpc";
import { type Entry, EntryWriter, RawChannel, RawHttp, type RawReply, type RawRequest } from "@parlance/wire";
import { expect, test } from "vitest";
import { plainHttp } from "../../cli/plain-http.js";

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const pong = '{"jsonrpc":"2.0","id":1,"result":{}}';
const unread = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}';

/**
 * A raw client on a channel to a server that sends `frames` for each frame that it receives, and everything that was recorded.
 */
function channelTo(...frames: readonly string[]): { client: RawChannel; received: string[]; entries: Entry[] } {
  const [channel, server] = memoryChannels();
  const received: string[] = [];
  const entries: Entry[] = [];
  server.open({
    frame(text) {
      received.push(text);
      if (received.length === 1) for (const frame of frames) void server.send(frame);
    },
    refuse: () => undefined,
    end: () => undefined,
  });
  const writer = new EntryWriter((entry) => entries.push(entry));
  return { client: new RawChannel({ channel, timeout: 5_000, writer, session: "1" }), received, entries };
}

test("a frame goes out as it is, and the reply is the message with its id", async () => {
  const { client, received, entries } = channelTo('{"jsonrpc":"2.0","id":"1","result":{}}', "noise", pong);
  const { answer } = await client.send(ping, 1);
  expect(answer).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  expect(received).toEqual([ping]);
  expect(entries).toMatchObject([
    { k: "f", n: 1, s: "1", d: "c2s", raw: ping },
    { k: "f", n: 2, s: "1", d: "s2c" },
    { k: "f", n: 3, raw: "noise" },
    { k: "f", n: 4, raw: pong },
  ]);
  await client.close();
});

test("onRequest answers requests of the server, and an error without an id answers nothing", async () => {
  const { client, received } = channelTo('{"jsonrpc":"2.0","id":7,"method":"ping"}', unread, pong);
  client.onRequest = ({ id }) => `{"jsonrpc":"2.0","id":${String(id)},"result":{}}`;
  const { answer } = await client.send(ping, 1);
  expect(answer).toMatchObject({ id: 1 });
  expect(client.responsesWithoutId).toMatchObject([{ error: { code: -32_700 } }]);
  await expect.poll(() => received).toEqual([ping, '{"jsonrpc":"2.0","id":7,"result":{}}']);
  await client.close();
});

test("a channel that ends ends every wait", async () => {
  const [channel, server] = memoryChannels();
  server.open({ frame: () => void server.close(), refuse: () => undefined, end: () => undefined });
  const client = new RawChannel({ channel, timeout: 5_000, writer: new EntryWriter(() => undefined), session: "1" });
  expect(await client.send(ping, 1)).toEqual({ answer: undefined, silence: "the server ended" });
  await client.close();
});

test("clients that are closed leave nothing on the signal that they share", async () => {
  const writer = new EntryWriter(() => undefined);
  const { signal: stop } = new AbortController();
  const [channel] = memoryChannels();
  const clients = [
    new RawChannel({ channel, timeout: 5_000, writer, session: "1", stop }),
    new RawHttp({ url: "http://127.0.0.1:1", headers: [], timeout: 5_000, writer, session: "2", stop }),
  ];
  expect(getEventListeners(stop, "abort")).toHaveLength(2);
  for (const client of clients) await client.close();
  expect(getEventListeners(stop, "abort")).toEqual([]);
});

test("bytes of a process are written as they are, and recorded line by line", async () => {
  const written: Uint8Array[] = [];
  const entries: Entry[] = [];
  const silent: Channel = { open: () => undefined, send: () => undefined, close: async () => undefined };
  const writer = new EntryWriter((entry) => entries.push(entry));
  const write = (bytes: Uint8Array): void => void written.push(bytes);
  const client = new RawChannel({ channel: silent, write, timeout: 5_000, writer, session: "1" });
  const bytes = Buffer.from([0x7b, 0x0a, 0x7d, 0xff]);
  await client.send(bytes);
  expect(written).toEqual([bytes]);
  expect(entries).toMatchObject([{ raw: "{" }, { d: "c2s" }]);
});

/** The outcome of one request to a server that responds like this, with everything that was recorded and delivered. */
async function post(
  respond: (response: ServerResponse) => void,
  { id, ...request }: RawRequest & { readonly id?: number } = {},
  timeout = 5_000,
): Promise<{ reply: RawReply; entries: readonly Entry[]; frames: readonly Tapped[] }> {
  await using http = await plainHttp((_, response) => respond(response));
  const entries: Entry[] = [];
  const frames: Tapped[] = [];
  const writer = new EntryWriter((entry) => entries.push(entry));
  const onFrame = (tapped: Tapped): void => void frames.push(tapped);
  const client = new RawHttp({ url: http.url, headers: [["x-trace", "7"]], timeout, writer, session: "1", onFrame });
  const reply = await client.send(ping, id, request);
  await client.close();
  return { reply, entries, frames };
}

test("over HTTP a recording has the heads and the bodies of an exchange", async () => {
  const json = (response: ServerResponse): void =>
    void response.writeHead(200, { "content-type": "application/json" }).end(pong);
  const { reply, entries, frames } = await post(json, { id: 1 });
  expect(reply).toMatchObject({ answer: { id: 1 }, http: { status: 200, text: pong, isWhole: true } });
  expect(entries).toMatchObject([
    { k: "h", x: 1, ph: "req", method: "POST" },
    { k: "f", d: "c2s", ch: "http", req: 1, raw: ping },
    { k: "h", x: 1, ph: "res", status: 200 },
    { k: "f", d: "s2c", ch: "http", req: 1, raw: pong },
    { k: "h", x: 1, ph: "end" },
  ]);
  expect(entries[0]).toMatchObject({ headers: expect.arrayContaining([["x-trace", "7"]]) as unknown });
  expect(frames.map(({ kind }) => kind)).toEqual(["sent", "received"]);
});

test("an error without an id in a response answers the request of its exchange", async () => {
  const refuse = (response: ServerResponse): void =>
    void response.writeHead(400, { "content-type": "application/json" }).end(unread);
  const { reply } = await post(refuse, { id: 1 });
  expect(reply).toMatchObject({ answer: { error: { code: -32_700 } }, http: { status: 400 } });
});

test("events are recorded with their ids, and read up to the answer", async () => {
  const { reply, entries } = await post(
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`id: 5\nretry: 10\ndata:\n\nid: 6\ndata: ${pong}\n\n`);
    },
    { id: 1 },
  );
  expect(reply.answer).toMatchObject({ id: 1 });
  const events = entries.filter((entry) => entry.k === "f" && entry.ch === "sse");
  expect(events).toMatchObject([
    { ev: { id: "5", retry: 10 }, len: 0 },
    { ev: { id: "6" }, raw: pong },
  ]);
});

test("of a stream that goes on, the first event can be enough", async () => {
  const endpoint = (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: endpoint\ndata: /messages\n\n");
  };
  const { reply } = await post(endpoint, { method: "GET", read: "beginning" });
  expect(reply).toMatchObject({ http: { text: "event: endpoint\ndata: /messages\n\n" } });
});

test("a body that breaks off, and one that is not UTF-8, are recorded as far as they came", async () => {
  const broken = await post(
    (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "99" });
      response.write('{"jsonrpc"', () => response.destroy());
    },
    { id: 1 },
  );
  expect(broken.reply.silence).toBe("the server ended");
  expect(broken.entries.slice(3)).toMatchObject([{ raw: '{"jsonrpc"', cut: "aborted" }, { ph: "abort" }]);
  expect(broken.frames.at(-1)).toMatchObject({ kind: "refused", refusal: { reason: "truncated" } });
  const bytes = Buffer.from([0x22, 0xff, 0x22]);
  const odd = await post((response) => void response.writeHead(200, { "content-type": "application/json" }).end(bytes));
  expect(odd.entries[3]).toMatchObject({ k: "f", b64: bytes.toString("base64") });
});

test("a server that does not respond is waited for as long as the timeout says", async () => {
  const { reply, entries } = await post(() => undefined, { id: 1 }, 100);
  expect(reply).toMatchObject({ answer: undefined, silence: "no answer in time" });
  expect(entries.at(-1)).toMatchObject({ k: "h", ph: "abort" });
});
