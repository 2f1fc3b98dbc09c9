import { connect } from "@parlance/mcp/client";
import { childChannel } from "@parlance/mcp/node";
import { describe, expect, test } from "vitest";

/** A server process whose hook fails on its second call, in the way of an async function that rejects. */
function program(hook: string): string {
  return `
    import { createServer } from "@parlance/mcp/server";
    import { serveStdio } from "@parlance/mcp/node";
    let calls = 0;
    const failing = async () => {
      calls += 1;
      if (calls === 2) throw new Error("call 2 was to fail");
    };
    const hooks = {
      onCall: { onCall: failing },
      onEnd: { onEnd: failing },
    };
    const server = createServer({ name: "child", version: "1", ...hooks[${JSON.stringify(hook)}] });
    if (${JSON.stringify(hook)} === "middleware") {
      server.use((next) => async (...given) => {
        await failing();
        return next(...given);
      });
    }
    server.tool("ping", {}, () => "pong");
    const options = ${JSON.stringify(hook)} === "report" ? { report: failing } : {};
    if ("report" in options) for (const name of ["one", "two"]) server.tool(name, {}, () => { throw new Error(name); });
    await serveStdio(server, options);
  `;
}

describe.each(["2025-11-25", "2026-07-28"])("A2: a server process on stdio in %s", (revision) => {
  test.each(["onCall", "onEnd", "middleware"])("lives when %s rejects, and its call alone fails", async (hook) => {
    const command = { command: process.execPath, args: ["--input-type=module", "--eval", program(hook)] };
    const written: string[] = [];
    const channel = childChannel(command, { onStderr: (chunk) => written.push(Buffer.from(chunk).toString()) });
    const client = await connect(channel, { revision });
    const calls = [client.tools.call("ping"), client.tools.call("ping"), client.tools.call("ping")];
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(outcomes[1]).toMatchObject({ reason: { code: -32_603, message: "Internal error" } });
    await client.close();
    expect(written.join("")).toContain(`"${hook}" of "ping" failed: Error: call 2 was to fail`);
    expect(channel.exit).toEqual({ code: 0, signal: null });
  });

  test("keeps running when report rejects, and stderr has the report", async () => {
    const command = { command: process.execPath, args: ["--input-type=module", "--eval", program("report")] };
    const written: string[] = [];
    const channel = childChannel(command, { onStderr: (chunk) => written.push(Buffer.from(chunk).toString()) });
    const client = await connect(channel, { revision });
    await expect(client.tools.call("one")).rejects.toThrow("Internal error");
    await expect(client.tools.call("two")).rejects.toThrow("Internal error");
    expect((await client.tools.call("ping")).content).toEqual([{ type: "text", text: "pong" }]);
    await client.close();
    expect(written.join("")).toContain('"report" failed: Error: call 2 was to fail');
    expect(written.join("")).toContain('"tools/call" of "two" failed: Error: two');
    expect(channel.exit).toEqual({ code: 0, signal: null });
  });
});
