import { contentLength, describeReport, type Framing, LocalError, lines } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { held, requestText, successText } from "../held.js";
import { expectAlive, overStreams, turn } from "../transports.js";
import { bare, invalid, invalidRequest } from "../wire.js";

const limits = { frameBytes: 100 };
const long = "x".repeat(100);

/** A frame over the limit, and what is left of it in the head that was kept. */
const oversized: readonly { name: string; frame: string; answer: string }[] = [
  { name: "its id", frame: `{"jsonrpc":"2.0","id":7,"method":"echo","params":["${long}"]}`, answer: invalid("7") },
  {
    name: "its id, in any spelling",
    frame: `{"\\u0069d":9007199254740993,"params":["${long}"]}`,
    answer: '{"jsonrpc":"2.0","id":9007199254740993,',
  },
  { name: "null when the id is no id", frame: `{"id":[7],"method":"${long}"}`, answer: invalidRequest },
  { name: "null when it is no object", frame: `[{"id":7,"method":"${long}"}]`, answer: invalidRequest },
  {
    name: "null when the id is only inside params",
    frame: `{"params":{"id":7,"x":"${long}"}}`,
    answer: invalidRequest,
  },
  { name: "null when it is not even JSON", frame: long.repeat(2), answer: invalidRequest },
];

describe.each([lines, contentLength])("a frame over the limit, over $name", (framing) => {
  test.each(oversized)("is answered with $name, and the connection lives", async ({ frame, answer }) => {
    await using talk = overStreams(framing, { handle: held().call, limits });
    talk.peer.send(frame);
    const refusal = await talk.peer.next();
    expect(answer.endsWith("}") ? bare(refusal) : refusal).toContain(answer);
    expect(refusal).toContain("more than the 100 allowed");
    await expectAlive(talk);
  });

  test("is answered with its id if that comes after 60 KiB, and with null if after 70 KiB", async () => {
    await using talk = overStreams(framing, { handle: held().call, limits });
    for (const [bytes, id] of [
      [60 * 1024, "7"],
      [70 * 1024, "null"],
    ] as const) {
      talk.peer.send(`{"jsonrpc":"2.0","params":["${"x".repeat(bytes)}"],"id":7,"method":"echo"}`);
      expect(bare(await talk.peer.next())).toBe(invalid(id));
    }
    await expectAlive(talk);
  });

  test("that answers a call of this side fails that call, and no other", async () => {
    await using talk = overStreams(framing, { limits });
    const large = talk.connection.call("large").catch((error: unknown) => error);
    const small = talk.connection.call("small");
    await talk.peer.next();
    await talk.peer.next();
    talk.peer.send(`{"jsonrpc":"2.0","id":1,"result":"${long}"}`);
    talk.peer.send(successText("2", "2"));
    expect(await large).toBeInstanceOf(LocalError);
    expect(await large).toMatchObject({
      reason: "protocol",
      message: expect.stringMatching(/^large \(id 1\): the answer is not a response: .+ more than the 100 allowed/),
    });
    expect(await small).toBe(2);
  });

  test("closes the connection after the response if it is the third within a minute", async () => {
    const { call, run } = held();
    await using talk = overStreams(framing, { handle: call, limits });
    talk.peer.send(requestText("1", "slow"));
    const waiting = talk.connection.call("get").catch((error: unknown) => error);
    await talk.peer.next();
    for (let turns = 0; turns < 3; turns += 1) {
      talk.peer.send(long.repeat(2));
      expect(bare(await talk.peer.next())).toBe(invalidRequest);
    }
    expect(await talk.connection.closed).toMatchObject({
      reason: "refused",
      error: { message: expect.stringContaining("more than the 100 allowed") },
    });
    expect(await waiting).toMatchObject({ reason: "closed", message: expect.stringContaining("100 allowed") });
    expect(run("slow").exchange.signal.aborted).toBe(true);
    run("slow").answer("too late");
  });

  test("closes nothing as long as no three fall into one minute, or when that is lifted", async () => {
    await using patient = overStreams(framing, { handle: held().call, limits });
    await using lifted = overStreams(framing, {
      handle: held().call,
      limits: { ...limits, oversizedPerMinute: Number.POSITIVE_INFINITY },
    });
    for (let turns = 0; turns < 6; turns += 1) {
      for (const talk of [patient, lifted]) {
        talk.peer.send(long.repeat(2));
        expect(bare(await talk.peer.next())).toBe(invalidRequest);
      }
      patient.clock.advance(30_001);
    }
    await expectAlive(patient);
    await expectAlive(lifted);
  });
});

describe("bytes that are no text", () => {
  test.each<[string, Framing, string]>([
    ["lines", lines, "received a line of 3 bytes that is not UTF-8; it was skipped"],
    ["Content-Length", contentLength, "received a body of 3 bytes that is not UTF-8; it was skipped"],
  ])("are a parse error, and the connection lives: %s", async (_name, framing, reason) => {
    const reports: string[] = [];
    await using talk = overStreams(framing, {
      handle: held().call,
      report: (each) => void reports.push(describeReport(each)),
    });
    const bytes = Buffer.from(framing.encode("abc"));
    bytes[bytes.indexOf("b")] = 0xff;
    talk.write(bytes);
    expect(await talk.peer.next()).toBe(
      `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":{"reason":"${reason}"}}}`,
    );
    await expectAlive(talk);
    await turn();
    expect(reports).toEqual([`received "a\ufffdc": ${reason}`]);
  });
});
