import { describeReport } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { converse, failureOf, program, script } from "./conversations.js";

/** Reads requests line by line and calls `answer(request, reply)` for each. */
function answering(body: string, before = ""): string {
  return `
    import { createInterface } from "node:readline";
    const reply = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
    ${before}
    createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      ${body}
    });`;
}

describe("what a child writes to stdout beside its answers", () => {
  test("text before and between them is reported and harms no call", async () => {
    const { connection, reports } = converse(
      program(answering('console.log("now running " + method); reply(id, method);', 'console.log("Listening");')),
    );
    expect(await Promise.all([connection.call("a"), connection.call("b")])).toEqual(["a", "b"]);
    expect(reports.map((report) => report.kind === "invalid" && report.frame)).toEqual([
      "Listening",
      "now running a",
      "now running b",
    ]);
  });

  test("bytes that are not UTF-8 are refused and harm no call", async () => {
    const { connection, reports } = converse(
      program(answering('process.stdout.write(Buffer.from([0x22, 0xc3, 0x28, 0x22, 0x0a])); reply(id, "pong");')),
    );
    expect(await connection.call("ping")).toBe("pong");
    expect(reports.map(describeReport)).toEqual([
      'received "\\"\ufffd(\\"": received a line of 4 bytes that is not UTF-8; it was skipped',
    ]);
  });

  test("an answer of 20 MB fails its call, and the next one is answered", async () => {
    const { connection } = converse(
      program(answering('reply(id, method === "large" ? "x".repeat(20_000_000) : "pong");')),
    );
    const [large, next] = await Promise.all([failureOf(connection.call("large")), connection.call("ping")]);
    expect(large).toBe(
      "large (id 1): the answer is not a response: received a line of 20000036 bytes, more than the 16777216 allowed; it was skipped",
    );
    expect(next).toBe("pong");
  });

  test("an answer without its newline is named by the timeout of the call", async () => {
    const { connection } = converse(
      program(
        `process.stdin.on("data", () => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} })))`,
      ),
    );
    expect(await failureOf(connection.call("ping", undefined, { timeout: 300 }))).toBe(
      String.raw`ping (id 1): no response or notification for 300 ms; the peer has sent 36 bytes of a message, without the newline that ends it: "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"`,
    );
  });

  test("a flood from a child that does not read leaves the caller its timeout", async () => {
    const { connection } = converse(script('exec yes \'{"jsonrpc":"2.0","method":"tick"}\''), {
      connection: { onNotification: () => undefined },
    });
    const params = { text: "x".repeat(3_000_000) };
    expect(await failureOf(connection.call("ping", params, { timeout: 300 }))).toContain(
      "no response or notification for 300 ms",
    );
  });
});

describe("what a child writes to stderr", () => {
  test("may be 10 MB: all of it passes, and the end of it is kept", async () => {
    let bytes = 0;
    const { connection, channel } = converse(
      program(`process.stdin.once("data", () => {
        const line = "x".repeat(99) + "\\n";
        process.stderr.write(line.repeat(100_000) + "the end\\n", () => process.exit(3));
      })`),
      {
        onStderr: (chunk) => {
          bytes += chunk.length;
        },
      },
    );
    const message = await failureOf(connection.call("ping"));
    expect(message).toMatch(/exited with code 3; its last lines on stderr:\n(x{99}\n){19}the end$/);
    expect(bytes).toBe(10_000_008);
    expect(channel.stderr.length).toBe(19 * 100 + 7);
  });

  test("cannot move a cursor or hide a word in an error message", async () => {
    const { connection } = converse(script(`read line; printf '\\033[2Jgone\\n' >&2; exit 1`));
    expect(await failureOf(connection.call("ping"))).toContain("\n\\u{1b}[2Jgone");
  });
});
