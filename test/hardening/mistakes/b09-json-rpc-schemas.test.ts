import {
  createService,
  describeReport,
  type Exchange,
  memoryChannels,
  openConnection,
  type Service,
} from "@parlance/mcp/jsonrpc";
import { createServer } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { speak } from "../../server/speak.js";

/** The outcome of a call of a service, and the reports of the service. */
async function called(
  service: Service,
  method: string,
  params?: readonly unknown[] | Readonly<Record<string, unknown>>,
): Promise<{ readonly result?: unknown; readonly error?: unknown; readonly reports: readonly string[] }> {
  const reports: string[] = [];
  const [here, there] = memoryChannels();
  await using _serving = openConnection(there, {
    handle: service.call,
    report: (report) => void reports.push(describeReport(report)),
  });
  await using connection = openConnection(here);
  try {
    return { result: await connection.call(method, params), reports };
  } catch (error) {
    const { code, message, data } = error as { code: number; message: string; data: unknown };
    return { error: { code, message, data }, reports };
  }
}

const numbers = { a: z.number(), b: z.number().default(10) };
const jsonSchema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a"],
  additionalProperties: false,
};

describe("B9: a method of plain JSON-RPC with schemas", () => {
  const service = createService()
    .method("add", ({ a, b }) => a + b, { params: z.object(numbers), result: z.number() })
    .method("plain", ({ a }) => ({ a }), { params: jsonSchema, result: { type: "object", required: ["a"] } })
    .method("pair", ([first, second]) => `${first} ${second}`, { params: z.tuple([z.string(), z.number()]) })
    .method("later", async ({ n }) => n, {
      params: z.object({ n: z.string() }).refine(async () => true),
      result: z.string().refine(async (text) => text !== "bad", "is bad"),
    })
    .method("wrong", () => "text" as unknown as number, { result: z.number() })
    .method("wrong inside", () => ({ a: [1, "2"] }) as never, {
      result: { type: "object", properties: { a: { type: "array", items: { type: "number" } } } },
    })
    .method("checked", ({ a }) => a, {
      params: z.object({ a: z.number() }),
      check: ({ a }) => (a > 0 ? [] : [{ path: "/a", message: "must be positive" }]),
    })
    .method("made", () => ({ a: 1 }), { result: z.object({ a: z.number().transform((n) => n + 1) }) });

  test.each([
    ["add", { a: 1, b: 2 }, 3],
    ["add", { a: 1 }, 11], // The default of the schema.
    ["add", [1, 2], 3], // By position, in the order of the properties.
    ["add", [1], 11],
    ["plain", [5], { a: 5 }],
    ["pair", ["a", 1], "a 1"],
    ["later", { n: "x" }, "x"],
    ["checked", { a: 1 }, 1],
    ["made", undefined, { a: 2 }],
  ])("%s %j gives %j", async (method, params, result) => {
    expect(await called(service, method, params)).toEqual({ result, reports: [] });
  });

  test.each<[string, readonly unknown[] | Readonly<Record<string, unknown>> | undefined, readonly string[]]>([
    ["add", { a: "1" }, ["/a"]],
    ["add", undefined, ["/a"]],
    ["add", ["1", "2"], ["/a", "/b"]],
    ["add", [1, 2, 3], ["/2"]],
    ["plain", { a: 1, c: 2 }, ["/c"]],
    ["pair", ["a"], [""]],
    ["pair", { a: 1 }, [""]],
    ["checked", { a: -1 }, ["/a"]],
  ])("%s %j is -32602, with the places %j", async (method, params, places) => {
    const { error, reports } = await called(service, method, params);
    expect(error).toMatchObject({ code: -32_602, message: "Invalid params" });
    const { errors } = (error as { data: { errors: readonly { path: string; message: string }[] } }).data;
    expect(errors.map(({ path }) => path)).toEqual(places);
    for (const { message } of errors) expect(message).not.toBe("");
    expect(reports).toEqual([]);
  });

  test.each([
    ["wrong", undefined, '"wrong" failed: TypeError: The result of wrong does not fit its schema: '],
    ["wrong inside", undefined, "The result of wrong inside does not fit its schema: /a/1: "],
    ["later", { n: "bad" }, "The result of later does not fit its schema: is bad"],
  ])("a bad result of %s is an internal error, and the report names the method", async (method, params, why) => {
    const { error, reports } = await called(service, method, params);
    expect(error).toEqual({ code: -32_603, message: "Internal error", data: undefined });
    expect(reports).toEqual([expect.stringContaining(why)]);
  });

  test("a schema that cannot be used is refused when it is given", () => {
    const params = { type: "object", properties: { a: { $ref: "#/$defs/none" } } };
    expect(() => createService().method("m", () => 1, { params })).toThrow(/does not exist in this document/);
    expect(() => createService().method("m", () => 1, { result: { type: "strange" } })).toThrow();
  });

  test("handlers are typed by the schemas", () => {
    const define = (): void => {
      createService()
        .method("a", ({ a }, exchange: Exchange) => a.toFixed(exchange.signal.aborted ? 1 : 2), {
          params: z.object({ a: z.number() }),
          result: z.string(),
        })
        .method("names", ({ a }: { a: number }) => a, { params: ["a"] })
        .method<{ a: number }>("explicit", ({ a }) => a.toFixed(), { params: ["a"] })
        // @ts-expect-error: not a name of a param
        .method<{ a: number }>("other", ({ a }) => a, { params: ["b"] })
        // @ts-expect-error: the schema has no b
        .method("b", ({ b }) => b, { params: z.object({ a: z.number() }) })
        // @ts-expect-error: the result is a text
        .method("c", () => 5, { result: z.string() })
        // @ts-expect-error: the result is a text, later too
        .method("d", async () => 5, { result: z.string() });
    };
    expect(define).toBeTypeOf("function");
  });
});

describe("B9: resources that a template lists", () => {
  const info = { name: "shelf", version: "1.0.0" };

  test("are of its type unless they say another, in lists and reads", async () => {
    const server = createServer(info);
    const list = (): readonly { uri: string; mimeType?: string }[] => [
      { uri: "shelf:/a" },
      { uri: "shelf:/b", mimeType: "text/html" },
    ];
    server.resourceTemplate("shelf:/{name}", { mimeType: "text/plain", list }, ({ name }) =>
      name === "b" ? { text: "<b>", mimeType: "text/html" } : "a",
    );
    await using peer = await speak(server, "2026-07-28");
    expect(await peer.result("resources/list")).toMatchObject({
      resources: [
        { uri: "shelf:/a", mimeType: "text/plain" },
        { uri: "shelf:/b", mimeType: "text/html" },
      ],
    });
    for (const [uri, mimeType] of [
      ["shelf:/a", "text/plain"],
      ["shelf:/b", "text/html"],
    ]) {
      expect(await peer.result("resources/read", { uri })).toMatchObject({ contents: [{ uri, mimeType }] });
    }
  });

  test.each<[string, unknown, string]>([
    ["no array", { uri: "shelf:/a" }, "The list of shelf:/{name} cannot be sent: it must be an array of resources"],
    ["no resource", [null], "cannot be sent: /name must be a string, got nothing"],
    [
      "a size in words",
      [{ uri: "shelf:/a", size: "big" }],
      'The resource shelf:/a cannot be sent: /size must be an integer, got "big"',
    ],
  ])("that are none are refused: %s", async (_what, listed, why) => {
    const server = createServer(info);
    server.resourceTemplate("shelf:/{name}", { list: () => listed as never }, () => "");
    await using peer = await speak(server, "2026-07-28");
    expect(await peer.error("resources/list")).toEqual({ code: -32_603, message: "Internal error" });
    expect(peer.talk.reports.join()).toContain(why);
  });
});

test("what is wrong with a notification is in one line of the report", async () => {
  const [near, far] = memoryChannels();
  const reports: string[] = [];
  const { call } = createService().method("a", () => 1, { params: z.object({ n: z.number() }) });
  openConnection(far, { handle: call, report: (each) => void reports.push(describeReport(each)) });
  const caller = openConnection(near);
  caller.notify("a", { n: "x" });
  caller.notify("none");
  await expect(caller.call("a", { n: 1 })).resolves.toBe(1);
  expect(reports).toEqual([
    '"a" failed: RpcError: Invalid params {"errors":[{"path":"/n","message":"Invalid input: expected number, received string"}]}',
    '"none" failed: RpcError: Method not found {"method":"none"}',
  ]);
  await caller.close();
});
