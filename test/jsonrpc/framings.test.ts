import { PassThrough } from "node:stream";
import { type Connection, contentLength, describeReport, lines, openConnection } from "@parlance/mcp/jsonrpc";
import { acceptTcp, streamChannel, tcpChannel } from "@parlance/mcp/node";
import { createFakeClock } from "@parlance/mcp/testing";
import { expect, onTestFinished, test } from "vitest";
import { failureOf } from "../node/conversations.js";
import { turn } from "./transports.js";

const framings = { lines, contentLength };

/** A connection whose reports are kept as text. */
function opened(input: PassThrough, output: PassThrough, framing: typeof lines) {
  const reports: string[] = [];
  const report = (each: Parameters<typeof describeReport>[0]): void => void reports.push(describeReport(each));
  const clock = createFakeClock();
  const connection: Connection = openConnection(streamChannel(input, output, { framing, clock }), { report, clock });
  onTestFinished(() => connection.close());
  return { connection, reports, clock };
}

test.each([
  ["lines", "contentLength", "the peer sends a Content-Length: give this side the framing contentLength"],
  ["contentLength", "lines", "the peer sends lines: give this side the framing lines"],
] as const)(
  "a call over %s of a peer with %s fails with the framing, and the two stop answering",
  async (own, other, says) => {
    const [there, back] = [new PassThrough(), new PassThrough()];
    const asking = opened(back, there, framings[own]);
    const answering = opened(there, back, framings[other]);
    const failure = failureOf(asking.connection.call("ping"));
    // Each answers what it cannot read with an error that the other cannot read. Each turn would bring another one.
    for (let left = 100; left > 0; left -= 1) await turn();
    expect(Math.max(asking.reports.length, answering.reports.length)).toBeLessThan(10);
    asking.clock.advance(60_000);
    expect(await failure).toContain(says);
  },
);

test("a message that can be read makes up for those that cannot", async () => {
  const [there, back] = [new PassThrough(), new PassThrough()];
  opened(there, back, lines);
  let answers = 0;
  back.on("data", (chunk: Buffer) => (answers += chunk.toString().split("\n").length - 1));
  for (let round = 0; round < 5; round += 1) {
    there.write("not JSON\n".repeat(15));
    there.write('{"jsonrpc":"2.0","method":"noted"}\n');
    await expect.poll(() => answers).toBe(15 * (round + 1));
  }
  there.write("not JSON\n".repeat(200));
  there.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await expect.poll(() => answers).toBe(75 + 20 + 1);
});

test("a TCP server reports a connection that begins with something else", async () => {
  const reports: string[] = [];
  const report = (each: Parameters<typeof describeReport>[0]): void => void reports.push(describeReport(each));
  const server = await acceptTcp({ port: 0 }, (channel, caller) => openConnection(channel, { report, ...caller }));
  onTestFinished(() => server.close());
  const client = openConnection(tcpChannel(server.address as { port: number }, { framing: contentLength }));
  onTestFinished(() => client.close());
  await failureOf(client.call("ping"));
  await expect
    .poll(() => reports)
    .toEqual([
      expect.stringMatching(
        /^received "Content-Length: \d+.*: the connection does not start with a JSON-RPC message: .*contentLength$/,
      ),
    ]);
});
