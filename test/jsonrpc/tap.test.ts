import { contentLength, memoryChannels, openConnection, type Tapped, tapChannel } from "@parlance/mcp/jsonrpc";
import { assertNoLeaks, rawPeer } from "@parlance/mcp/testing";
import { expect, test } from "vitest";
import { requestText, successText } from "./held.js";
import { overStreams, turn } from "./transports.js";

test("a tap sees every frame in order, before either side acts on it, and the end", async () => {
  const seen: Tapped[] = [];
  const [left, right] = memoryChannels();
  const connection = openConnection(
    tapChannel(left, (tapped) => seen.push(tapped)),
    { handle: () => seen.length },
  );
  await using peer = rawPeer(right);
  peer.send(requestText("1", "count"));
  expect(await peer.next()).toBe(successText("1", "1"));
  connection.notify("told");
  await peer.next();
  await peer.close();
  await connection.closed;
  assertNoLeaks(connection);
  expect(seen).toEqual([
    { kind: "received", frame: requestText("1", "count") },
    { kind: "sent", frame: successText("1", "1") },
    { kind: "sent", frame: '{"jsonrpc":"2.0","method":"told"}' },
    { kind: "ended" },
  ]);
});

test("a tap sees bytes that are no frame, and the error that ends a transport", async () => {
  const seen: Tapped[] = [];
  const error = new Error("the cable was cut");
  const refusal = { reason: "bad-header", message: "no header", head: "junk", bytes: 4 } as const;
  tapChannel(
    {
      open(receiver) {
        receiver.refuse(refusal);
        receiver.end(error);
      },
      send: () => undefined,
      close: () => Promise.resolve(),
    },
    (tapped) => seen.push(tapped),
  ).open({ frame: () => undefined, refuse: () => undefined, end: () => undefined });
  expect(seen).toEqual([
    { kind: "refused", refusal },
    { kind: "ended", error },
  ]);
});

test("bytes between frames are reported, and the connection continues after them", async () => {
  const kinds: string[] = [];
  await using talk = overStreams(contentLength, { handle: () => "pong", report: ({ kind }) => void kinds.push(kind) });
  talk.write(Buffer.from("Listening on port 3000\r\n"));
  talk.peer.send(requestText("1", "ping"));
  expect(await talk.peer.next()).toContain('"id":null,"error":{"code":-32700');
  expect(await talk.peer.next()).toBe(successText("1", '"pong"'));
  await turn();
  expect(kinds).toEqual(["refused"]);
});
