import { handshakeVersions, versions } from "@parlance/mcp";
import type { Client } from "@parlance/mcp/client";
import { describe, expect, test } from "vitest";
import { modern, parse, success } from "../testing/frames.js";
import { errorOf, openWith } from "./session/openings.js";

const verbs: readonly (readonly [string, string, (client: Client) => Promise<unknown>])[] = [
  ["tools/list", "tools", (client) => client.tools.list().all()],
  ["tools/call", "tools", (client) => client.tools.call("t")],
  ["resources/list", "resources", (client) => client.resources.list().all()],
  ["resources/templates/list", "resources", (client) => client.resources.templates().all()],
  ["resources/read", "resources", (client) => client.resources.read("a:b")],
  ["prompts/list", "prompts", (client) => client.prompts.list().all()],
  ["prompts/get", "prompts", (client) => client.prompts.get("p")],
  ["logging/setLevel", "logging", (client) => client.setLogLevel("error")],
];

describe.each(versions)("in %s, a server that has advertised nothing", (version) => {
  test.each(verbs)("is not sent %s", async (method, capability, act) => {
    await using open = await openWith(version, {}, {});
    const before = open.sent.length;
    expect(await errorOf(act(open.client))).toMatchObject({
      name: "LocalError",
      reason: "refused",
      message: `${method}: the server has not advertised the capability ${capability}; { unadvertised: true } sends it anyway`,
    });
    expect(open.sent).toHaveLength(before);
  });

  test("is sent what the protocol does not know: an extension is between the two of them", async () => {
    await using open = await openWith(version, {}, {});
    const call = open.client.call("acme/do", { it: 1 });
    const { id = "", method, params } = parse(await open.peer.next());
    expect([method, params?.it]).toEqual(["acme/do", 1]);
    open.peer.send(success(id, { done: true }));
    expect(await call).toEqual({ done: true });
  });
});

test.each(["2024-11-05"])("in %s, completion was no capability: it is there or not", async (version) => {
  await using open = await openWith(version, {}, {});
  const call = open.client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "b" });
  open.peer.send(success(parse(await open.peer.next()).id ?? "", { completion: { values: ["bc"] } }));
  expect(await call).toEqual({ values: ["bc"] });
});

test.each(versions.filter((version) => version !== "2024-11-05"))("in %s, completion is one", async (version) => {
  await using open = await openWith(version, {}, {});
  const call = open.client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "b" });
  expect(await errorOf(call)).toMatchObject({ reason: "refused" });
});

describe("a request that the revision does not have is not sent:", () => {
  test.each(["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/get"])(
    "%s in the stateless era",
    async (method) => {
      await using open = await openWith(modern, {}, { logging: {}, resources: { subscribe: true } });
      expect(await errorOf(open.client.call(method))).toMatchObject({
        reason: "refused",
        message: `${method}: revision ${modern} has no such request of a client`,
      });
    },
  );

  test.each(handshakeVersions)("server/discover in %s", async (version) => {
    await using open = await openWith(version);
    expect(await errorOf(open.client.call("server/discover"))).toMatchObject({ reason: "refused" });
  });

  test.each(versions)("a server's own, in %s", async (version) => {
    await using open = await openWith(version);
    expect(await errorOf(open.client.call("sampling/createMessage"))).toMatchObject({ reason: "refused" });
  });
});
