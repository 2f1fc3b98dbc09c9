import { latest, latestHandshake } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { describe, expect, test } from "vitest";
import { errorOf, open } from "./opened.js";
import {
  type Asked,
  discovered,
  event,
  failure,
  json,
  playServer,
  result,
  said,
  stream,
  success,
} from "./played-server.js";
import { methodsOf, playSession } from "./played-session.js";

const isDiscovery = ({ message }: Asked): boolean => message.method === "server/discover";

describe("a server is spoken to with a handshake", () => {
  test.each<readonly [what: string, answer: (asked: Asked) => unknown]>([
    ["400 and nothing", ({ response }) => response.writeHead(400).end()],
    ["400 and an error of its own", (asked) => failure(asked, 400, -32_000, "Bad Request")],
    ["400 and an unknown version without the versions that it has", (asked) => failure(asked, 400, -32_022)],
    ["404 and a page", ({ response }) => response.writeHead(404, { "content-type": "text/html" }).end("<p>")],
    ["404 and an unknown method", (asked) => failure(asked, 404, -32_601, "Method not found")],
    ["405", ({ response }) => response.writeHead(405).end()],
    ["406", ({ response }) => response.writeHead(406).end()],
    ["200 and an unknown method", (asked) => failure(asked, 200, -32_601, "Method not found")],
    ["200 and something else", (asked) => result(asked, {})],
    ["200 and a page", ({ response }) => response.writeHead(200, { "content-type": "text/html" }).end("<p>")],
    ["older versions alone", (asked) => result(asked, { ...discovered, supportedVersions: [latestHandshake.version] })],
    [
      "400 and older versions alone",
      (asked) => failure(asked, 400, -32_022, "no", { supported: [latestHandshake.version] }),
    ],
  ])("that answers the question with %s", async (_what, answer) => {
    await using server = await playSession({ first: (asked) => isDiscovery(asked) && answer(asked) !== false });
    await using opened = await open(server);
    expect(opened.client.revision).toBe(latestHandshake.version);
    expect(opened.client.serverHint).toEqual({ era: "handshake" });
  });

  test("that refuses the version of the question, and offers it once more", async () => {
    let refusals = 0;
    await using server = await playServer((asked) => {
      if (!isDiscovery(asked)) return false;
      refusals += 1;
      if (refusals > 1) return result(asked, discovered);
      return failure(asked, 400, -32_022, "no", { supported: [latest.version], requested: latest.version });
    });
    await using opened = await open(server);
    expect(opened.client.revision).toBe(latest.version);
    expect(refusals).toBe(2);
  });

  test("that was so the last time, and is not asked", async () => {
    await using server = await playSession();
    await using opened = await open(server, { serverHint: { era: "handshake" } });
    expect(opened.client.revision).toBe(latestHandshake.version);
    expect(methodsOf(server)[0]).toBe("initialize");
  });

  test("but not one that has changed since", async () => {
    await using server = await playServer((asked) => {
      if (isDiscovery(asked)) return result(asked, discovered);
      if (asked.message.method === undefined) return asked.response.writeHead(405).end();
      return failure(asked, 404, -32_601, "Method not found");
    });
    await using opened = await open(server, { serverHint: { era: "handshake" } });
    expect(opened.client.revision).toBe(latest.version);
  });

  test("unless its client insists on something else", async () => {
    await using server = await playSession();
    for (const options of [{ revision: latest.version }, { era: "stateless" } as const]) {
      const error = await errorOf(connect(server.url, options));
      expect(error).toMatchObject({ reason: "protocol", message: expect.stringMatching(/^the server does not speak/) });
    }
    expect(methodsOf(server)).toEqual(["server/discover", "server/discover"]);
  });

  test("at once, if its client insists on that", async () => {
    await using server = await playSession({ version: "2025-06-18" });
    await using opened = await open(server, { revision: "2025-06-18" });
    expect(opened.client.revision).toBe("2025-06-18");
    expect(methodsOf(server)[0]).toBe("initialize");
  });
});

describe("a server of the first revision", () => {
  /** Its stream, whose `endpoint` is where POSTs go. */
  const playOld = (endpoint: string) => {
    const streams: Asked[] = [];
    return playServer((asked) => {
      if (asked.method === "GET") {
        streams.push(asked);
        return stream(asked).write(`event: endpoint\ndata: ${endpoint}\n\n`);
      }
      if (!asked.path.startsWith("/messages")) return asked.response.writeHead(405).end();
      if (asked.message.params?.name === "large") return asked.response.writeHead(413).end();
      asked.response.writeHead(202).end("Accepted");
      const answer = (value: object): void => void streams.at(-1)?.response.write(event(success(asked, value)));
      const { method } = asked.message;
      const serverInfo = { name: "old", version: "1" };
      if (method === "initialize") answer({ protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo });
      if (method === "tools/call") answer(said("ok"));
      if (method === "ping") streams.at(-1)?.response.end();
      return true;
    });
  };

  test("is found after two refusals, and opened again when its stream breaks", async () => {
    await using server = await playOld("/messages?session=1");
    await using opened = await open(server);
    expect(opened.client.revision).toBe("2024-11-05");
    expect((await opened.client.tools.call("a")).content).toEqual([{ type: "text", text: "ok" }]);
    expect(await errorOf(opened.client.ping())).toMatchObject({ reason: "closed" });
    expect((await opened.client.tools.call("a")).content).toEqual([{ type: "text", text: "ok" }]);
    expect(server.asked.map(({ method, path }) => `${method} ${path}`).slice(0, 4)).toEqual([
      "POST /mcp",
      "POST /mcp",
      "GET /mcp",
      "POST /messages?session=1",
    ]);
    expect(opened.reports).toEqual([]);
  });

  test.each(["http://elsewhere.example/messages", "//elsewhere.example/messages", "http://["])(
    "does not send its client to %s",
    async (endpoint) => {
      await using server = await playOld(endpoint);
      const error = await errorOf(connect(server.url));
      expect(error).toMatchObject({ message: expect.stringContaining("the endpoint event names another origin") });
      expect(server.asked).toHaveLength(3);
    },
  );

  test("that has no such stream has said at first what is wrong", async () => {
    await using server = await playServer(({ response }) =>
      response.writeHead(404, { "content-type": "text/plain" }).end("Not here"),
    );
    const error = await errorOf(connect(server.url));
    expect(error).toMatchObject({ status: 404, message: expect.stringMatching(/^initialize \(id 1\): .*"Not here"$/) });
    expect(server.asked.map(({ method }) => method)).toEqual(["POST", "POST", "GET"]);
  });

  test("fails the call whose POST is refused", async () => {
    await using server = await playOld("/messages");
    await using opened = await open({ url: server.url }, { revision: "2024-11-05" });
    expect(await errorOf(opened.client.tools.call("large"))).toMatchObject({ status: 413 });
    expect((await opened.client.tools.call("a")).content).toEqual([{ type: "text", text: "ok" }]);
  });
});

test("a server that refuses the handshake as one of the stateless era is not asked for older things", async () => {
  await using server = await playServer((asked) =>
    json(asked, 400, { jsonrpc: "2.0", id: asked.message.id, error: { code: -32_022, message: "no" } }),
  );
  expect(await errorOf(connect(server.url, { era: "handshake" }))).toMatchObject({ code: -32_022 });
  expect(server.asked).toHaveLength(1);
});
