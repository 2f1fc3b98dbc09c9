import { catalogueCodes, handshakeVersions, latest, statelessVersions, versions } from "@parlance/mcp";
import { revisionOf } from "@parlance/mcp/protocol";
import { createServer, RpcError, type Server, type ServerOptions, ToolError } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { speak } from "./speak.js";

const { toolExecutionFailed, resourceNotFound, resourceUnavailable, unauthorized, rateLimitExceeded } = catalogueCodes;

/** A server where everything goes wrong that the catalogue has a code for. */
function failing(options: Partial<ServerOptions> = {}): Server {
  const server = createServer({ name: "failing", version: "1", ...options });
  const thrown = (code: number) => (): never => {
    throw new RpcError(code, "No", { why: "not" });
  };
  server.tool("fails", {}, () => {
    throw new ToolError("It rains");
  });
  server.tool("says", {}, () => ({ content: [], isError: true }));
  server.tool("busy", {}, thrown(rateLimitExceeded));
  server.tool("private", {}, thrown(unauthorized));
  server.tool("broken", {}, () => {
    throw new TypeError("a bug");
  });
  server.tool("later", {}, () => Promise.reject(new ToolError("It rains")));
  server.tool("waits", {}, () => Promise.reject(new RpcError(rateLimitExceeded, "No", { why: "not" })));
  const count = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
  server.tool("counts", { inputSchema: count }, () => "");
  server.resource("a:gone", {}, () => undefined);
  server.resource("a:away", {}, thrown(resourceUnavailable));
  server.resource("a:none", {}, thrown(resourceNotFound));
  server.prompt("p", {}, thrown(rateLimitExceeded));
  server.prompt("failed", {}, thrown(toolExecutionFailed));
  return server;
}

/** Without a code of the specification: that of the revision for a resource that is not found. */
type Row = readonly [method: string, params: object, catalogue: number, specification: number | undefined];

const notFound: readonly Row[] = [
  ["tools/call", { name: "nope" }, -32_001, -32_602],
  ["resources/read", { uri: "a:gone" }, -32_003, undefined],
  ["resources/read", { uri: "b:nope" }, -32_003, undefined],
  ["resources/read", { uri: "no uri" }, -32_005, -32_602],
  ["resources/read", { uri: "a:away" }, -32_004, -32_603],
  ["resources/read", { uri: "a:none" }, -32_003, undefined],
  ["prompts/get", { name: "nope" }, -32_006, -32_602],
  ["tools/call", { name: "private" }, -32_007, 40_100],
  ["prompts/get", { name: "p" }, -32_008, 42_900],
  ["prompts/get", { name: "failed" }, -32_002, -32_603],
];

const subscribing: readonly Row[] = [
  ["resources/subscribe", { uri: "b:nope" }, -32_003, undefined],
  ["resources/subscribe", { uri: "no uri" }, -32_005, -32_602],
  ["resources/unsubscribe", { uri: "no uri" }, -32_005, -32_602],
];

const failingTools = [
  ["fails", -32_002, "It rains"],
  ["later", -32_002, "It rains"],
  ["says", -32_002, "Tool execution failed"],
  ["busy", -32_008, "No"],
  ["waits", -32_008, "No"],
] as const;

describe.each(handshakeVersions)("a server that speaks the catalogue, in %s:", (version) => {
  test.each([...notFound, ...subscribing])("%s %j is %d", async (method, params, code) => {
    await using peer = await speak(failing({ errorCodes: "catalogue" }), version);
    expect((await peer.error(method, params)).code).toBe(code);
  });

  test.each(failingTools)("the tool %s is %d", async (name, code, message) => {
    await using peer = await speak(failing({ errorCodes: "catalogue" }), version);
    expect(await peer.error("tools/call", { name })).toMatchObject({ code, message });
  });

  test("arguments that do not fit are -32602, each by its place", async () => {
    await using peer = await speak(failing({ errorCodes: "catalogue" }), version);
    expect(await peer.error("tools/call", { name: "counts", arguments: { n: "one" } })).toMatchObject({
      code: -32_602,
      data: { errors: [{ path: "/arguments/n" }] },
    });
  });

  test("what is no part of it stays what it is", async () => {
    await using peer = await speak(failing({ errorCodes: "catalogue" }), version);
    expect(await peer.error("tools/call", { name: "broken" })).toEqual({ code: -32_603, message: "Internal error" });
    expect((await peer.error("tools/call", { name: 1 })).code).toBe(-32_602);
    expect((await peer.error("tools/list", { cursor: "?" })).code).toBe(-32_602);
    expect((await peer.error("nope")).code).toBe(-32_601);
  });
});

describe.each(statelessVersions)("a server that speaks the catalogue says what stands for it in %s:", (version) => {
  const { resourceNotFound: missing = 0 } = revisionOf(version)?.codes ?? {};

  test.each(notFound)("%s %j is not %d", async (method, params, _code, code = missing) => {
    await using peer = await speak(failing({ errorCodes: "catalogue" }), version);
    expect((await peer.error(method, params)).code).toBe(code);
  });

  test.each(failingTools)("the tool %s is not %d", async (name, _code, message) => {
    await using peer = await speak(failing({ errorCodes: "catalogue" }), version);
    const content = name === "says" ? [] : [{ type: "text", text: message }];
    expect(await peer.result("tools/call", { name })).toEqual({ content, isError: true });
  });

  test("what was thrown keeps its words", async () => {
    await using peer = await speak(failing({ errorCodes: "catalogue" }), version);
    const { message, data } = await peer.error("tools/call", { name: "private" });
    expect({ message, data }).toEqual({ message: "No", data: { why: "not" } });
  });
});

test.each(versions)("a server without the option sends no code of the catalogue in %s", async (version) => {
  await using peer = await speak(failing(), version);
  const missing = revisionOf(version)?.codes.resourceNotFound;
  expect((await peer.error("tools/call", { name: "nope" })).code).toBe(-32_602);
  expect((await peer.error("prompts/get", { name: "nope" })).code).toBe(-32_602);
  expect((await peer.error("resources/read", { uri: "b:nope" })).code).toBe(missing);
  expect((await peer.error("resources/read", { uri: "no uri" })).code).toBe(-32_602);
  expect(await peer.result("tools/call", { name: "fails" })).toMatchObject({ isError: true });
});

describe("a code of the specification that a handler throws", () => {
  function throwing(code: number, data: object): Server {
    const server = createServer({ name: "throwing", version: "1" });
    server.tool("now", {}, () => {
      throw new RpcError(code, "Thrown", data);
    });
    server.tool("soon", {}, () => Promise.reject(new RpcError(code, "Thrown", data)));
    return server;
  }

  const everything = { elicitations: [], requiredCapabilities: {}, supported: [], requested: "" };

  test.each(versions)("goes out in %s only where the revision has it", async (version) => {
    const known = Object.values(revisionOf(version)?.codes ?? {});
    for (const code of [-32_042, -32_020, -32_021, -32_022, -32_023, -32_099]) {
      await using peer = await speak(throwing(code, everything), version);
      for (const name of ["now", "soon"]) {
        const error = await peer.error("tools/call", { name });
        expect(error.code).toBe(known.includes(code) ? code : -32_603);
      }
      expect(peer.talk.reports.join().includes(`has no error ${code}`)).toBe(!known.includes(code));
    }
  });

  test.each(versions)("for a resource that is not found is that of the revision: %s", async (version) => {
    await using peer = await speak(throwing(-32_002, { uri: "a:b" }), version);
    const code = revisionOf(version)?.codes.resourceNotFound;
    for (const name of ["now", "soon"]) {
      expect(await peer.error("tools/call", { name })).toEqual({ code, message: "Thrown", data: { uri: "a:b" } });
    }
  });

  test("is anybody's where it lies outside of what is reserved", async () => {
    await using peer = await speak(throwing(-1, {}), latest.version);
    expect((await peer.error("tools/call", { name: "now" })).code).toBe(-1);
  });
});
