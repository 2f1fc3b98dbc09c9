import { versions } from "@parlance/mcp";
import type { Client, ClientCallOptions } from "@parlance/mcp/client";
import { describe, expect, test } from "vitest";
import { misbehaving, parlance } from "../../cli/run.js";
import { errorOf, openWith } from "../../client/session/openings.js";
import { failure, modern, parse, success } from "../../testing/frames.js";

type Verb = readonly [string, (client: Client, options: ClientCallOptions) => Promise<unknown>, object];

const verbs: readonly Verb[] = [
  ["tools/list", (client, options) => client.tools.list(options).all(), { tools: [] }],
  ["tools/call", (client, options) => client.tools.call("t", {}, options), { content: [] }],
  ["tools/call", (client, options) => client.call("tools/call", { name: "t" }, options), { content: [] }],
  ["resources/list", (client, options) => client.resources.list(options).all(), { resources: [] }],
  ["resources/read", (client, options) => client.resources.read("a:b", options), { contents: [] }],
  ["prompts/get", (client, options) => client.prompts.get("p", {}, options), { messages: [] }],
];

describe.each(versions)("C8: in %s, a server with no capabilities is asked by a caller who insists:", (version) => {
  test.each(verbs)("%s", async (method, act, result) => {
    await using open = await openWith(version, {}, {});
    const call = act(open.client, { unadvertised: true });
    const { id = "", method: asked } = parse(await open.peer.next());
    expect(asked).toBe(method);
    open.peer.send(success(id, result));
    await call;
  });

  test("and refuses on this side without that, naming the way", async () => {
    await using open = await openWith(version, {}, {});
    expect(await errorOf(open.client.tools.call("t"))).toMatchObject({
      reason: "refused",
      message: "tools/call: the server has not advertised the capability tools; { unadvertised: true } sends it anyway",
    });
  });

  test("is asked in any case by a lenient client", async () => {
    await using open = await openWith(version, { lenient: true }, {});
    const call = open.client.tools.call("t");
    open.peer.send(success(parse(await open.peer.next()).id ?? "", { content: [] }));
    await call;
  });
});

test("C8: a subscription can be insisted on", async () => {
  await using open = await openWith("2025-11-25", {}, {});
  const subscribing = open.client.subscribe(undefined, { unadvertised: true });
  const { id = "", method } = parse(await open.peer.next());
  expect(method).toBe("ping");
  open.peer.send(failure(id, -32_601, "Method not found")); // An answer in any case: the server has what was sent before.
  await using subscription = await subscribing;
  expect(subscription.filter).toEqual({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
});

test("C8: a request that the revision does not have is refused however much somebody insists", async () => {
  await using open = await openWith(modern, {}, {});
  expect(await errorOf(open.client.call("ping", {}, { unadvertised: true }))).toMatchObject({ reason: "refused" });
});

describe("C8: the command", () => {
  test("calls and lists with --force what is not advertised", async () => {
    const [called, listed, talked] = await Promise.all([
      parlance(["call", "--force", "hidden", ...misbehaving("modest")]),
      parlance(["list", "--force", ...misbehaving("modest")]),
      parlance(["talk", "--once", "--force", "--call", "hidden", ...misbehaving("modest")]),
    ]);
    expect([called.code, called.stdout.trim()]).toEqual([0, "called hidden"]);
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining("1 tool\n")]);
    expect(talked.stdout).toContain("tools/call");
  });

  test("says without it how to ask", async () => {
    const { code, stderr } = await parlance(["call", "hidden", ...misbehaving("modest")]);
    expect(stderr).toContain("the server has not advertised the capability tools\n  → --force sends it anyway\n");
    expect(code).not.toBe(0);
  });
});
