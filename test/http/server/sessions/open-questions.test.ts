import { once } from "node:events";
import { connect } from "@parlance/mcp/client";
import { serveHttp } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { expect, test } from "vitest";
import { deferred } from "../../../../packages/mcp/src/base/deferred.js";
import { request } from "../../../testing/frames.js";
import { sessionPost } from "../asked.js";
import { openSession } from "../handlers.js";
import { site } from "../site.js";

const form = { type: "object", properties: {} } as const;

/** A server whose tool asks its user, and ends when the test says so. */
function impatient(): { readonly server: Server; readonly gaveUp: { resolve(value: string): void } } {
  const server = createServer({ name: "impatient", version: "1.0.0" });
  const gaveUp = deferred<string>();
  server.tool("ask", {}, async (_, ctx) => {
    void ctx.elicit("Sure?", form);
    return gaveUp.promise;
  });
  return { server, gaveUp };
}

/** The client of a host that shows a form until its signal aborts. */
async function host(url: string) {
  const shown = deferred<void>();
  const closed = deferred<string>();
  const client = await connect(url, {
    revision: "2025-11-25",
    handlers: {
      elicitation: async (_request, { signal }) => {
        shown.resolve();
        await once(signal, "abort");
        closed.resolve(String(signal.reason));
        throw signal.reason;
      },
    },
  });
  return { client, shown: shown.promise, closed: closed.promise };
}

test("a host closes its form when the call that asked has ended", async () => {
  const { server, gaveUp } = impatient();
  const http = await serveHttp(server, { port: 0 });
  const { client, shown, closed } = await host(http.url);
  const called = client.tools.call("ask");
  await shown;
  gaveUp.resolve("gave up");
  expect(await called).toMatchObject({ content: [{ text: "gave up" }] });
  expect(await closed).toContain("the call that asked has ended");
  await client.close();
  await http.close();
});

test("a host closes its form when the server is shut down", async () => {
  const { server, gaveUp } = impatient();
  const http = await serveHttp(server, { port: 0 });
  const { client, shown, closed } = await host(http.url);
  const called = client.tools.call("ask");
  await shown;
  await http.drain(0);
  await expect(called).rejects.toThrow("the receiver is shutting down");
  expect(await closed).toContain("shutting down");
  gaveUp.resolve("too late");
  await client.close();
});

test("the cancellation goes on the stream of the call, for clients that read no other", async () => {
  const { server, gaveUp } = impatient();
  await using at = await site(server);
  const session = await openSession(at, "2025-11-25", {}, { elicitation: {} });
  const answer = at.ask(sessionPost(session, request(1, "tools/call", { name: "ask" })));
  gaveUp.resolve("gave up");
  const frames = [...(await answer).body.matchAll(/^data: (\{.*)$/gm)].map(([, frame = ""]) => JSON.parse(frame));
  expect(frames).toMatchObject([
    { method: "elicitation/create", id: 1 },
    { method: "notifications/cancelled", params: { requestId: 1 } },
    { id: 1, result: { content: [{ text: "gave up" }] } },
  ]);
});
