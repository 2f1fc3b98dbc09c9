import { versions } from "@parlance/mcp";
import { revisionOf } from "@parlance/mcp/protocol";
import { createServer, inputRequired, listRoots, RpcError, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { failure, request, stateless, success } from "../../testing/frames.js";
import { conversationWith, talkTo } from "../../testing/talks.js";
import { speak } from "../speak.js";

const serverInfo = { name: "notes", version: "1" };

function notes(): Server {
  const server = createServer(serverInfo);
  server.resource("notes:/today", { name: "today", mimeType: "text/markdown" }, () => "# Today");
  server.resource("notes:/logo", { mimeType: "image/png", size: 3 }, () => new Uint8Array([1, 2, 255]));
  server.resourceTemplate("notes:/{year}/{+path}", { name: "archive" }, ({ year, path }, _ctx, uri) =>
    year === "1999" ? undefined : [`${path} of ${year}`, { uri: `${uri}/more`, text: "more" }],
  );
  return server;
}

function notFound(version: string): number {
  return revisionOf(version)?.codes.resourceNotFound ?? 0;
}

describe("on the wire", () => {
  test("of the handshake era", async () => {
    await using talk = await conversationWith(notes(), "2025-11-25");
    expect(await talk.ask(request(1, "resources/list"))).toBe(
      success(1, {
        resources: [
          { uri: "notes:/today", name: "today", mimeType: "text/markdown" },
          { uri: "notes:/logo", mimeType: "image/png", size: 3, name: "notes:/logo" },
        ],
      }),
    );
    expect(await talk.ask(request(2, "resources/templates/list"))).toBe(
      success(2, { resourceTemplates: [{ uriTemplate: "notes:/{year}/{+path}", name: "archive" }] }),
    );
    expect(await talk.ask(request(3, "resources/read", { uri: "notes:/today" }))).toBe(
      success(3, { contents: [{ uri: "notes:/today", mimeType: "text/markdown", text: "# Today" }] }),
    );
    expect(await talk.ask(request(4, "resources/read", { uri: "notes:/no" }))).toBe(
      failure(4, -32_002, "Resource not found", { uri: "notes:/no" }),
    );
  });

  test("of the stateless era", async () => {
    await using talk = talkTo(notes());
    const meta = { "io.modelcontextprotocol/serverInfo": serverInfo };
    expect(await talk.ask(stateless(1, "resources/read", { uri: "notes:/logo" }))).toBe(
      success(1, {
        ttlMs: 0,
        cacheScope: "private",
        contents: [{ uri: "notes:/logo", mimeType: "image/png", blob: "AQL/" }],
        resultType: "complete",
        _meta: meta,
      }),
    );
    expect(await talk.ask(stateless(2, "resources/read", { uri: "notes:/no" }))).toBe(
      failure(2, -32_602, "Resource not found", { uri: "notes:/no" }),
    );
  });
});

describe.each(versions)("in %s", (version) => {
  test("a template gives the decoded values, and may give several contents", async () => {
    await using peer = await speak(notes(), version);
    const uri = "notes:/2024/a%20b/c.md";
    expect(await peer.result("resources/read", { uri })).toEqual({
      contents: [
        { uri, text: "a b/c.md of 2024" },
        { uri: `${uri}/more`, text: "more" },
      ],
    });
  });

  test("what a reader does not find does not exist", async () => {
    await using peer = await speak(notes(), version);
    const uri = "notes:/1999/a";
    expect(await peer.error("resources/read", { uri })).toEqual({
      code: notFound(version),
      message: "Resource not found",
      data: { uri },
    });
  });

  test.each(["notes:/2024/../secret", "notes:/2024/%2e%2e/secret", "notes:/..%2f2024/a", "notes:/2024/a%00"])(
    "%s leads nowhere",
    async (uri) => {
      await using peer = await speak(notes(), version);
      expect(await peer.error("resources/read", { uri })).toMatchObject({ code: notFound(version), data: { uri } });
    },
  );

  test.each([
    [undefined, "must be a string, got nothing"],
    [7, "must be a string, got a number"],
    ["", "must be a URI: a scheme, a colon, and no spaces or control characters"],
    ["today", "must be a URI: a scheme, a colon, and no spaces or control characters"],
    ["notes:/a b", "must be a URI: a scheme, a colon, and no spaces or control characters"],
    ["notes:/\n", "must be a URI: a scheme, a colon, and no spaces or control characters"],
    [`notes:/${"a".repeat(8_192)}`, "must be at most 8192 characters, got 8199"],
  ])("%j is no URI", async (uri, message) => {
    await using peer = await speak(notes(), version);
    expect(await peer.error("resources/read", { uri })).toEqual({
      code: -32_602,
      message: `Invalid params: uri ${message}`,
      data: { errors: [{ path: "/uri", message }] },
    });
  });

  test("names become URIs: what has to be escaped is, in a list and in contents, and the reader gets the name", async () => {
    const names = ["tea", "my list", "café", "50%", "{x}", "a%2Fb"];
    const server = createServer(serverInfo);
    const list = () => names.map((name) => ({ uri: `notes:///${name}`, name }));
    server.resourceTemplate("notes:///{+name}", { name: "notes", list }, ({ name }, _, uri) => [
      name,
      { uri, text: "as the reader names it" },
    ]);
    await using client = await speak(server, version);
    const { resources } = (await client.result("resources/list")) as { resources: { uri: string }[] };
    const uris = ["tea", "my%20list", "caf%C3%A9", "50%25", "%7Bx%7D", "a%2Fb"].map((each) => `notes:///${each}`);
    expect(resources.map(({ uri }) => uri)).toEqual(uris);
    for (const [index, uri] of uris.entries()) {
      const read = { contents: [{ uri, text: decodeURIComponent(uri.slice(9)) }, { uri }] };
      expect(await client.result("resources/read", { uri })).toMatchObject(read);
      // Some clients do not escape.
      const raw = `notes:///${names[index]}`;
      if (!/[ %]/.test(raw)) expect(await client.result("resources/read", { uri: raw })).toMatchObject(read);
    }
  });

  test("a server without resources does not know their methods", async () => {
    const server = createServer(serverInfo);
    await using peer = await speak(server, version);
    for (const method of ["resources/list", "resources/templates/list", "resources/read"]) {
      expect(await peer.error(method, { uri: "a:b" })).toMatchObject({ code: -32_601 });
    }
    expect(server.capabilities()).toEqual({ logging: {} });
  });

  test("resources listed by a template come after defined ones, each URI once", async () => {
    const server = notes();
    const list = async (): Promise<readonly { uri: string; name?: string }[]> => [
      { uri: "notes:/2024/a", name: "a" },
      { uri: "notes:/today" },
      { uri: "notes:/2024/b" },
    ];
    server.resourceTemplate("notes:/{year}", { list }, () => "");
    await using peer = await speak(server, version);
    const { resources } = (await peer.result("resources/list")) as { resources: { uri: string; name: string }[] };
    expect(resources.map(({ uri, name }) => [uri, name])).toEqual([
      ["notes:/today", "today"],
      ["notes:/logo", "notes:/logo"],
      ["notes:/2024/a", "a"],
      ["notes:/2024/b", "notes:/2024/b"],
    ]);
  });
});

describe("a reader may return", () => {
  test.each([
    ["text", "a", [{ text: "a" }]],
    ["empty text", "", [{ text: "" }]],
    ["bytes", new Uint8Array([104, 105]), [{ blob: "aGk=" }]],
    ["no bytes", new Uint8Array(), [{ blob: "" }]],
    [
      "contents of another type",
      { text: "{}", mimeType: "application/json" },
      [{ text: "{}", mimeType: "application/json" }],
    ],
    ["bytes in base64", { blob: "aGk=" }, [{ blob: "aGk=" }]],
    ["bytes in contents", { blob: new Uint8Array([104, 105]), _meta: { a: 1 } }, [{ blob: "aGk=", _meta: { a: 1 } }]],
    ["contents with the URI that was read", { uri: "a:b", text: "b" }, [{ text: "b" }]],
    ["a collection of nothing", [], []],
    ["a whole result", { contents: ["a", { text: "b" }] }, [{ text: "a" }, { text: "b" }]],
  ])("%s", async (_name, value, contents) => {
    const server = createServer(serverInfo);
    server.resource("a:b", { mimeType: "x/y" }, () => value as string);
    await using peer = await speak(server, "2026-07-28");
    const described = contents.map((each) => ({ uri: "a:b", mimeType: "x/y", ...each }));
    expect(await peer.result("resources/read", { uri: "a:b" })).toEqual({ contents: described });
  });

  test("contents of another URI, which are not of the defined type", async () => {
    const server = createServer(serverInfo);
    server.resource("a:b", { mimeType: "x/y" }, () => ({ uri: "a:b/c", text: "" }));
    await using peer = await speak(server, "2026-07-28");
    expect(await peer.result("resources/read", { uri: "a:b" })).toEqual({ contents: [{ uri: "a:b/c", text: "" }] });
  });

  test("more than a megabyte", async () => {
    const server = createServer(serverInfo);
    const bytes = Uint8Array.from({ length: 1_100_000 }, (_, index) => index % 251);
    server.resource("a:b", {}, () => bytes);
    await using peer = await speak(server, "2026-07-28");
    const { contents } = (await peer.result("resources/read", { uri: "a:b" })) as { contents: [{ blob: string }] };
    expect(contents[0].blob).toBe(Buffer.from(bytes).toString("base64"));
  });

  test("questions, as any handler", async () => {
    const server = createServer(serverInfo);
    server.resource("a:b", {}, (_uri, ctx) =>
      ctx.inputResponses.where === undefined ? inputRequired({ where: listRoots() }) : "here",
    );
    await using talk = talkTo(server);
    const capable = { "io.modelcontextprotocol/clientCapabilities": { roots: {} } };
    expect(JSON.parse(await talk.ask(stateless(1, "resources/read", { uri: "a:b" }, capable)))).toMatchObject({
      result: { resultType: "input_required", inputRequests: { where: { method: "roots/list" } } },
    });
  });

  test.each([[null], [7], [{}], [{ text: "a", blob: "b" }], [[undefined]], [{ contents: [1] }]])(
    "nothing else: %j is a fault of the server, and no word of it goes out",
    async (value) => {
      const server = createServer(serverInfo);
      server.resource("a:b", {}, () => value as unknown as string);
      await using peer = await speak(server, "2026-07-28");
      expect(await peer.error("resources/read", { uri: "a:b" })).toEqual({ code: -32_603, message: "Internal error" });
      expect(peer.talk.reports.join()).toContain(
        "The contents of a:b cannot be sent: /contents/0 must be text, bytes, or contents",
      );
    },
  );

  test("what it throws is an error of the protocol, or internal", async () => {
    const server = createServer(serverInfo);
    server.resource("a:b", {}, () => Promise.reject(new Error("the disk is full of secrets")));
    server.resource("a:c", {}, () => {
      throw new RpcError(7, "Not today");
    });
    await using peer = await speak(server, "2025-06-18");
    expect(await peer.error("resources/read", { uri: "a:b" })).toEqual({ code: -32_603, message: "Internal error" });
    expect(await peer.error("resources/read", { uri: "a:c" })).toEqual({ code: 7, message: "Not today" });
  });
});

describe("how long a result may be kept", () => {
  test("is said by a definition, by what it reads, and for all lists by the server", async () => {
    const server = createServer({ ...serverInfo, listCache: { ttlMs: 5_000, cacheScope: "public" } });
    server.resource("a:b", { ttlMs: 60_000, cacheScope: "public" }, () => "");
    server.resource("a:c", { ttlMs: 60_000 }, () => ({ contents: [], ttlMs: 1 }));
    server.resourceTemplate("b:{x}", { ttlMs: 7, list: () => [] }, () => "");
    await using peer = await speak(server, "2026-07-28");
    const hints = async (method: string, params: object = {}): Promise<readonly unknown[]> => {
      const { result = {} } = await peer.ask(method, params);
      return [result.ttlMs, result.cacheScope];
    };
    expect(await hints("resources/read", { uri: "a:b" })).toEqual([60_000, "public"]);
    expect(await hints("resources/read", { uri: "a:c" })).toEqual([1, "private"]);
    expect(await hints("resources/read", { uri: "b:1" })).toEqual([7, "private"]);
    expect(await hints("resources/list")).toEqual([5_000, "public"]);
    expect(await hints("resources/templates/list")).toEqual([5_000, "public"]);
  });

  test("does not concern older revisions", async () => {
    const server = createServer({ ...serverInfo, listCache: { ttlMs: 5_000 } });
    server.resource("a:b", { ttlMs: 60_000 }, () => "");
    await using peer = await speak(server, "2025-11-25");
    expect(await peer.result("resources/read", { uri: "a:b" })).toEqual({ contents: [{ uri: "a:b", text: "" }] });
    expect(await peer.result("resources/list")).toEqual({ resources: [{ uri: "a:b", name: "a:b" }] });
  });

  test("must be a time", () => {
    const server = createServer(serverInfo);
    for (const ttlMs of [-1, 0.5, Number.POSITIVE_INFINITY]) {
      expect(() => server.resource("a:b", { ttlMs }, () => "")).toThrow(RangeError);
      expect(() => createServer({ ...serverInfo, listCache: { ttlMs } })).toThrow(RangeError);
    }
    expect(() => server.resourceTemplate("a:{b}", { cacheScope: "all" as "public" }, () => "")).toThrow(RangeError);
  });
});

describe("a definition is refused", () => {
  test.each(["today", "", "notes:/a b", "notes:/\u0000", "notes:\ud800"])("at %j, which is no URI", (uri) => {
    expect(() => createServer(serverInfo).resource(uri, {}, () => "")).toThrow(TypeError);
  });

  test("where there is one", () => {
    const server = notes();
    expect(() => server.resource("notes:/today", {}, () => "")).toThrow("The resource notes:/today is already defined");
    expect(() => server.resourceTemplate("notes:/{year}/{+path}", {}, () => "")).toThrow("is already defined");
  });

  test("with a completer of a variable that the template does not have", () => {
    const server = createServer(serverInfo);
    const complete = { y: [] } as unknown as { x: [] };
    expect(() => server.resourceTemplate("a:{x}", { complete }, () => "")).toThrow('The template a:{x} has no "y"');
  });
});
