import { type Channel, memoryChannels } from "@parlance/mcp/jsonrpc";
import { expect, test } from "vitest";
import { turn } from "../jsonrpc/transports.js";

test("what one end sends the other receives in order, and what came before it opened too", async () => {
  const [left, right] = memoryChannels();
  void left.send("1");
  void left.send("2");
  await turn();
  const seen = listen(right);
  void left.send("3");
  expect(seen).toEqual([]);
  await turn();
  expect(seen).toEqual(["1", "2", "3"]);
});

test("a paused end receives nothing, keeps what comes, and goes on where it stopped", async () => {
  const [left, right] = memoryChannels();
  const seen = listen(right, (frame) => {
    if (frame === "2") right.pause?.();
  });
  for (const frame of ["1", "2", "3"]) void left.send(frame);
  await turn();
  void left.send("4");
  await left.close();
  await turn();
  expect(seen).toEqual(["1", "2"]);
  right.resume?.();
  await turn();
  expect(seen).toEqual(["1", "2", "3", "4", "end"]);
});

test("what was sent before a close arrives before the end, once", async () => {
  const [left, right] = memoryChannels();
  const seen = listen(right);
  void left.send("last");
  await Promise.all([left.close(), left.close()]);
  void left.send("too late");
  await turn();
  expect(seen).toEqual(["last", "end"]);
});

test("a closed end receives nothing more, not even what is in the same delivery", async () => {
  const [left, right] = memoryChannels();
  const seen = listen(right, () => void right.close());
  void left.send("1");
  void left.send("2");
  await turn();
  void left.send("3");
  await left.close();
  await turn();
  expect(seen).toEqual(["1"]);
});

test("an end that was closed before it opened delivers nothing", async () => {
  const [left, right] = memoryChannels();
  void left.send("1");
  await right.close();
  const seen = listen(right);
  await turn();
  expect(seen).toEqual([]);
});

function listen(channel: Channel, onFrame: (frame: string) => void = () => undefined): readonly string[] {
  const seen: string[] = [];
  channel.open({
    frame(frame) {
      seen.push(frame);
      onFrame(frame);
    },
    refuse: ({ message }) => seen.push(message),
    end: () => seen.push("end"),
  });
  return seen;
}
