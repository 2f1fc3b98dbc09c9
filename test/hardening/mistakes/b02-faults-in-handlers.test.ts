import { connect } from "@parlance/mcp/client";
import { httpHandler } from "@parlance/mcp/http";
import { describeReport, memoryChannels, type Report } from "@parlance/mcp/jsonrpc";
import { connectStdio } from "@parlance/mcp/node";
import { createServer, RpcError, type Server, serveChannel } from "@parlance/mcp/server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";

const eras = ["2025-11-25", "2026-07-28"] as const;
const thrown = new RangeError("the shelf is empty");

function failing(): Server {
  const server = createServer({ name: "failing", version: "1" });
  server.tool("fetch", {}, () => {
    throw thrown;
  });
  server.tool("later", {}, async () => {
    await Promise.resolve();
    throw thrown;
  });
  server.tool("refuse", {}, () => {
    throw new RpcError(7, "Not today", undefined, { cause: thrown });
  });
  server.tool("ask", {}, async (_args, context) => (await context.elicit("Who?", z.object({}))).action);
  return server;
}

let written: string[] = [];
const { error: writeError } = console;

beforeEach(() => {
  written = [];
  console.error = (line: string) => void written.push(line);
});

afterEach(() => {
  console.error = writeError;
});

describe.each(eras)("B2: a fault of a handler in %s", (revision) => {
  test.each(["fetch", "later"])(
    "of %s is the cause of the error in memory, and stands on stderr once",
    async (name) => {
      await using client = await connect(failing(), { revision });
      const error: unknown = await client.tools.call(name).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: -32_603, message: "Internal error" });
      expect((error as Error).cause).toBe(thrown);
      expect(written).toEqual([
        expect.stringMatching(
          new RegExp(`^"tools/call" of "${name}" failed: RangeError: the shelf is empty\\n +at .*b02`),
        ),
      ]);
    },
  );

  test("goes to report alone, where there is one", async () => {
    const reports: Report[] = [];
    await using client = await connect(failing(), { revision, report: (each) => reports.push(each) });
    await expect(client.tools.call("fetch")).rejects.toThrow("Internal error");
    expect(reports).toEqual([{ kind: "fault", method: "tools/call", name: "fetch", error: thrown }]);
    expect(written).toEqual([]);
  });

  test("that is an RpcError has its own cause, and is no fault", async () => {
    await using client = await connect(failing(), { revision });
    const error: unknown = await client.tools.call("refuse").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 7, message: "Not today", cause: thrown });
    expect(written).toEqual([]);
  });

  test("is on no frame, not even of a channel in memory", async () => {
    const frames: string[] = [];
    const [near, far] = memoryChannels();
    const tapped = { ...near, open: near.open.bind(near), close: () => near.close() };
    serveChannel(failing(), {
      open: (receiver) => far.open(receiver),
      close: () => far.close(),
      send: (frame) => {
        frames.push(frame);
        return far.send(frame);
      },
    });
    await using client = await connect({ ...tapped, send: (frame) => near.send(frame) }, { revision });
    const error: unknown = await client.tools.call("fetch").catch((reason: unknown) => reason);
    // A channel without `failed` hands no cause over.
    expect((error as Error).cause).toBeUndefined();
    expect(frames.join("")).not.toContain("shelf");
  });

  test("over HTTP leaves nothing on the wire, and stands on stderr once", async () => {
    const handle = httpHandler(failing());
    const bodies: Promise<string>[] = [];
    const fetch = async (url: URL, init: RequestInit): Promise<Response> => {
      const response = await handle(new Request(url, init));
      if (init.method === "POST") bodies.push(response.clone().text());
      return response;
    };
    const client = await connect("http://localhost/mcp", { fetch, revision });
    const error: unknown = await client.tools.call("fetch").catch((reason: unknown) => reason);
    expect((error as Error).cause).toBeUndefined();
    await client.close();
    handle.close();
    expect((await Promise.all(bodies)).join("")).not.toContain("shelf");
    expect(written).toEqual([
      expect.stringContaining('"tools/call" of "fetch" failed: RangeError: the shelf is empty'),
    ]);
  });
});

test("B2: a fault of a client's answer is the cause of the server's error in memory", async () => {
  const causes: unknown[] = [];
  const server = createServer({ name: "asking", version: "1" });
  server.tool("ask", {}, async (_args, context) => {
    const answer = context.elicit("Who?", z.object({}));
    await answer.catch((error: Error) => causes.push(error.cause));
    return "asked";
  });
  const answers = {
    elicitation: () => {
      throw thrown;
    },
  };
  await using client = await connect(server, { revision: "2025-11-25", handlers: answers });
  await client.tools.call("ask");
  expect(causes).toEqual([thrown]);
  expect(written).toEqual([expect.stringContaining('"handlers.elicitation" failed: RangeError: the shelf is empty')]);
});

describe("B2: stderr of a command", () => {
  const source = `
    import { createServer } from "@parlance/mcp/server";
    import { serveStdio } from "@parlance/mcp/node";
    process.stderr.write("ready to serve\\n");
    const server = createServer({ name: "child", version: "1" });
    server.tool("fetch", {}, () => { throw new RangeError("the shelf is empty"); });
    server.tool("die", {}, () => { process.stderr.write("out of shelves\\n", () => process.exit(3)); return new Promise(() => {}); });
    await serveStdio(server);
  `;
  const command = { command: process.execPath, args: ["--input-type=module", "--eval", source] };

  test("goes line by line to a function", async () => {
    const lines: string[] = [];
    const client = await connectStdio({ ...command, stderr: (line) => lines.push(line) });
    await expect(client.tools.call("fetch")).rejects.toThrow("Internal error");
    await client.close();
    expect(lines[0]).toBe("ready to serve");
    expect(lines).toContain('"tools/call" of "fetch" failed: RangeError: the shelf is empty');
  });

  test("a function that fails is reported, and the conversation goes on", async () => {
    const reports: string[] = [];
    const stderr = async (): Promise<never> => {
      throw new Error("no pencil");
    };
    const report = (each: Report): void => void reports.push(describeReport(each));
    const client = await connectStdio({ ...command, stderr }, { report });
    await expect(client.tools.call("fetch")).rejects.toThrow("Internal error");
    await client.close();
    expect(reports[0]).toContain('"onStderr" failed: Error: no pencil');
  });

  test("is in the error when the command dies, whatever is done with it", async () => {
    const client = await connectStdio({ ...command, stderr: "pipe" });
    const error: unknown = await client.tools.call("die").catch((reason: unknown) => reason);
    expect((error as Error).message).toMatch(
      /exited with code 3; its last lines on stderr:\nready to serve\nout of shelves/,
    );
    await client.close();
  });

  test("is in the error when the command does not come to serve", async () => {
    const dying = {
      ...command,
      args: ["--eval", 'console.error("no such shelf"); process.exit(2)'],
      stderr: "pipe",
    } as const;
    await expect(connectStdio(dying)).rejects.toThrow(/exited with code 2; its last lines on stderr:\nno such shelf/);
  });

  test("appears on stderr of this process by default", async () => {
    const program = `
      import { connectStdio } from "@parlance/mcp/node";
      const client = await connectStdio(${JSON.stringify(command)});
      await client.tools.call("fetch").catch(({ message }) => console.log(message));
      await client.close();
    `;
    const lines: string[] = [];
    const { childChannel } = await import("@parlance/mcp/node");
    const outer = childChannel(
      { command: process.execPath, args: ["--input-type=module", "--eval", program] },
      { onStderr: (chunk) => lines.push(Buffer.from(chunk).toString()) },
    );
    await new Promise<void>((resolve) =>
      outer.open({ frame: () => undefined, refuse: () => undefined, end: () => resolve() }),
    );
    await outer.close();
    expect(lines.join("")).toContain('"tools/call" of "fetch" failed: RangeError: the shelf is empty');
  });

  test("is checked when it is given", async () => {
    // @ts-expect-error there is no such word
    await expect(connectStdio({ ...command, stderr: "loud" })).rejects.toThrow(
      'stderr of a command must be "inherit", "pipe" or a function, got "loud"',
    );
  });
});
