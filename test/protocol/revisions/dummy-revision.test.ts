import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { latest, versions } from "@parlance/mcp";
import { type Client, type ConnectOptions, connect } from "@parlance/mcp/client";
import { type Channel, memoryChannels, type Tapped, tapChannel } from "@parlance/mcp/jsonrpc";
import { connectStdio, serveHttp, streamChannel } from "@parlance/mcp/node";
import { checkShape, isObject, revisionOf } from "@parlance/mcp/protocol";
import { createServer, type Server, serveChannel } from "@parlance/mcp/server";
import { rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test, vi } from "vitest";

// The library imports the newest revision once. Here this import gives the successor of that revision, and no other line differs
// from the published library.
vi.mock("../../../packages/mcp/src/protocol/revisions/v2026-07-28.js", async (importOriginal) => {
  const { v2026_07_28: newest } =
    await importOriginal<typeof import("../../../packages/mcp/src/protocol/revisions/v2026-07-28.js")>();
  const { dummyAfter } = await import("./dummy-revision.js");
  return { v2026_07_28: dummyAfter(newest) };
});

const dummy = "2099-01-01";
/** All revisions with a `size` of links, and the dummy. */
const revisions = versions.filter((version) => version >= "2025-06-18");

const former = ["size", "systemPrompt", "stopReason"];
const renamed = ["bytes", "system", "reason"];

/** A server whose handlers see the newest shapes. */
function librarian(): Server {
  const server = createServer({ name: "librarian", version: "1" });
  server.tool("find", { description: "Finds a book", annotations: { readOnlyHint: true } }, async (_, ctx) => {
    const question = { messages: [], maxTokens: 10, system: "Be brief" };
    const answer: object = await ctx.sample(question);
    const link = { type: "resource_link", uri: "book:1", name: "Moby Dick", bytes: 1_200_000 } as const;
    return [link, { type: "text", text: "reason" in answer ? String(answer.reason) : "no reason" }];
  });
  server.method("tools/describe", ({ name }) => ({ text: `The tool ${String(name)}` }));
  return server;
}

/** A client of the newest shapes, and everything that has crossed its transport. */
interface Session {
  readonly client: Client;
  wire(): Promise<string>;
}

/** Opens a session in a revision, or in what both sides settle on, and closes it when `use` has ended. */
type InSession = (version: string | undefined, use: (session: Session) => Promise<void>) => Promise<void>;

function optionsFor(version: string | undefined): ConnectOptions {
  return {
    ...(version !== undefined && { revision: version }),
    handlers: {
      sampling: (params) => {
        const reason = "system" in params ? params.system : "no system prompt";
        return { role: "assistant", content: { type: "text", text: "Moby Dick" }, model: "m", reason };
      },
    },
  };
}

function overChannels(channels: () => readonly [client: Channel, server: Channel]): InSession {
  return async (version, use) => {
    const frames: string[] = [];
    const note = (each: Tapped): void => {
      if (each.kind === "sent" || each.kind === "received") frames.push(each.frame);
    };
    const dial = (): Channel => {
      const [near, far] = channels();
      serveChannel(librarian(), far);
      return tapChannel(near, note);
    };
    await using client = await connect(dial, optionsFor(version));
    await use({ client, wire: async () => frames.join("\n") });
  };
}

const transports: Readonly<Record<string, InSession>> = {
  memory: overChannels(memoryChannels),
  "the lines of stdio": overChannels(() => {
    const [up, down] = [new PassThrough(), new PassThrough()];
    return [streamChannel(down, up), streamChannel(up, down)];
  }),
  HTTP: async (version, use) => {
    await using http = await serveHttp(librarian(), { port: 0 });
    const bodies: (string | Promise<string>)[] = [];
    await using client = await connect(http.url, {
      ...optionsFor(version),
      async fetch(url, init) {
        if (typeof init.body === "string") bodies.push(init.body);
        const response = await fetch(url, init);
        if (init.method === "POST") bodies.push(response.clone().text());
        return response;
      },
    });
    await use({ client, wire: async () => (await Promise.all(bodies)).join("\n") });
  },
};

describe.each(Object.entries(transports))("a new revision over %s", (_name, inSession) => {
  test("is what both sides settle on", async () => {
    await inSession(undefined, async ({ client }) => expect(client.revision).toBe(dummy));
  });

  test("has its method, and its predecessors do not", async () => {
    for (const version of revisions) {
      await inSession(version, async ({ client }) => {
        const described = client.call("tools/describe", { name: "find" });
        if (version === dummy) expect(await described).toMatchObject({ text: "The tool find" });
        else await expect(described).rejects.toThrow(`revision ${version} has no such request of a client`);
      });
    }
  });

  test("does not have the member that it removes", async () => {
    for (const version of revisions) {
      await inSession(version, async ({ client, wire }) => {
        const [tool] = await client.tools.list().all();
        expect(tool?.annotations).toEqual(version === dummy ? undefined : { readOnlyHint: true });
        expect((await wire()).includes("readOnlyHint")).toBe(version !== dummy);
      });
    }
  });

  test("renames members, and its predecessors have their former names on the wire", async () => {
    for (const version of revisions) {
      await inSession(version, async ({ client, wire }) => {
        const { content } = await client.tools.call("find");
        expect(content).toEqual([
          { type: "resource_link", uri: "book:1", name: "Moby Dick", bytes: 1_200_000 },
          { type: "text", text: "Be brief" },
        ]);
        const sent = await wire();
        const onWire = [...former, ...renamed].filter((name) => sent.includes(`"${name}":`));
        expect(onWire).toEqual(version === dummy ? renamed : former);
      });
    }
  });
});

test("a server refuses the method of a new revision in an older one", async () => {
  const [near, far] = memoryChannels();
  serveChannel(librarian(), far);
  await using peer = rawPeer(near);
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  peer.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/describe", params: { name: "find", _meta: meta } }));
  expect(JSON.parse(await peer.next())).toMatchObject({ error: { code: -32_601 } });
});

test("a server of a published version, in a process of its own, settles on its newest revision", async () => {
  const file = fileURLToPath(new URL("../../../examples/git-server/server.js", import.meta.url));
  await using client = await connectStdio({ command: process.execPath, args: [file, "."] });
  expect(client.revision).toBe("2026-07-28");
  expect((await client.tools.list().all()).length).toBeGreaterThan(0);
});

test("the shapes of a new revision are checked", () => {
  const part = { of: "params", method: "tools/describe", sender: "client" } as const;
  expect(latest.version).toBe(dummy);
  expect(checkShape(latest, part, { name: 1, _meta: {} }).map(({ pointer }) => pointer)).toContain("/name");
  const before = revisionOf("2026-07-28");
  expect(before && checkShape(before, part, {})).toHaveLength(1);
  const result = { resultType: "complete", content: [{ type: "resource_link", uri: "a:b", name: "a", bytes: "1" }] };
  const faults = checkShape(latest, { of: "result", method: "tools/call", sender: "client" }, result);
  expect(faults).toMatchObject([{ pointer: "/content/0/bytes", expected: "an integer" }]);
  expect(isObject(latest.shapes.types.Resource)).toBe(true);
});
