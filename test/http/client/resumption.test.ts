import { latestHandshake } from "@parlance/mcp";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, test } from "vitest";
import { createRandom } from "../../properties/random.js";
import { cuttingProxy } from "./cutting-proxy.js";
import { open } from "./opened.js";

// R15: whatever breaks on the way, nothing is lost and nothing comes twice.

const steps = Array.from({ length: 100 }, (_, index) => index + 1);

test.each([1, 2, 3])("calls on streams that break receive every message once and in order: seed %i", async (seed) => {
  const server = createServer({ name: "s", version: "1" });
  server.tool("count", {}, async (_args, ctx) => {
    for (const step of steps) {
      void ctx.progress(step);
      if (step % 5 === 0) await new Promise(setImmediate);
    }
    return "counted";
  });
  await using http = await serveHttp(server, { port: 0 });
  await using proxy = await cuttingProxy(http.port, createRandom(seed), 12);
  await using opened = await open(
    { url: `http://127.0.0.1:${proxy.port}/mcp` },
    { revision: latestHandshake.version, random: () => 1, reopen: false },
  );
  const heard = Array.from({ length: 6 }, (): number[] => []);
  const calls = heard.map((each) =>
    opened.client.tools.call("count", {}, { onProgress: ({ progress }) => void each.push(progress) }),
  );
  const results = await Promise.all(calls);
  expect(proxy.cuts).toBe(12);
  expect(results.map(({ content }) => content)).toEqual(calls.map(() => [{ type: "text", text: "counted" }]));
  expect(heard).toEqual(calls.map(() => steps));
  expect(opened.reports).toEqual([]);
});
