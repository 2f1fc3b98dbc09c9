import { bearerAuth } from "@parlance/mcp/auth";
import { connect, textOf } from "@parlance/mcp/client";
import { serveHttp } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { expect, test } from "vitest";
import { type Asked, sessionPost, statelessPost } from "../http/server/asked.js";
import { type Door, doors, openSession } from "../http/server/handlers.js";
import { request } from "../testing/frames.js";

const auth = bearerAuth({
  resource: "https://mcp.example/mcp",
  authorizationServers: ["https://login.example"],
  verify: (token) => ({ subject: token, scopes: token === "ada" ? ["admin"] : [] }),
});

const isAdmin: NonNullable<Parameters<Server["tool"]>[1]["visible"]> = (caller) =>
  caller?.scopes?.includes("admin") ?? false;

function notes(): Server {
  const server = createServer({ name: "notes", version: "1.0.0", listCache: { ttlMs: 1_000, cacheScope: "public" } });
  const visible = isAdmin;
  const inputSchema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } } as const;
  server.tool("read", {}, () => "read");
  server.tool("erase", { visible, inputSchema, execution: { taskSupport: "optional" } }, () => "erased");
  server.resource("notes:/open", {}, () => "open");
  server.resource("notes:/secret", { visible }, () => "a secret");
  server.resourceTemplate(
    "notes:/shelf/{n}",
    { visible, list: () => [{ uri: "notes:/shelf/1" }], complete: { n: ["1"] } },
    () => "a secret",
  );
  server.prompt("plan", { visible, arguments: { day: {} }, complete: { day: ["monday"] } }, () => "plan");
  return server;
}

type Ask = (method: string, params: object, user: string, id?: number) => Promise<unknown>;
type Row = readonly [method: string, hidden: object, unknown: object];

const rows: readonly Row[] = [
  ["tools/call", { name: "erase" }, { name: "nothing" }],
  ["tools/call", { name: "erase", task: {} }, { name: "nothing", task: {} }],
  ["resources/read", { uri: "notes:/secret" }, { uri: "notes:/nothing" }],
  ["resources/read", { uri: "notes:/shelf/1" }, { uri: "notes:/nothing" }],
  ["prompts/get", { name: "plan" }, { name: "nothing" }],
  [
    "completion/complete",
    { ref: { type: "ref/prompt", name: "plan" }, argument: { name: "day", value: "" } },
    { ref: { type: "ref/prompt", name: "nothing" }, argument: { name: "day", value: "" } },
  ],
  [
    "completion/complete",
    { ref: { type: "ref/resource", uri: "notes:/shelf/{n}" }, argument: { name: "n", value: "" } },
    { ref: { type: "ref/resource", uri: "nothing" }, argument: { name: "n", value: "" } },
  ],
];

const lists = [
  ["tools/list", ["read"], ["read", "erase"]],
  ["resources/list", ["notes:/open"], ["notes:/open", "notes:/secret", "notes:/shelf/1"]],
  ["resources/templates/list", [], ["notes:/shelf/{n}"]],
  ["prompts/list", [], ["plan"]],
] as const;

interface Items {
  readonly result: Readonly<Record<string, readonly { readonly name?: string; readonly uri?: string }[]>> & {
    readonly cacheScope?: string;
  };
}

async function sessions(door: Door): Promise<Ask> {
  const open = (user: string): Promise<string> => openSession(door, "2025-11-25", { authorization: `Bearer ${user}` });
  const ids: Readonly<Record<string, string>> = { ada: await open("ada"), bob: await open("bob") };
  return async (method, params, user) => {
    const asked = sessionPost(ids[user] ?? "", request(7, method, params), { authorization: `Bearer ${user}` });
    return bodyOf(door, asked);
  };
}

const single =
  (door: Door): Ask =>
  (method, params, user) => {
    const { task, ...same } = params as { readonly task?: object };
    return bodyOf(door, statelessPost(method, same, { authorization: `Bearer ${user}` }));
  };

async function bodyOf(door: Door, asked: Asked): Promise<unknown> {
  const { body } = await door.ask(asked);
  return JSON.parse(/^data: (?<data>\{.*)$/m.exec(body)?.groups?.data ?? body);
}

const eras: readonly (readonly [era: string, open: (door: Door) => Ask | Promise<Ask>])[] = [
  ["2025-11-25", sessions],
  ["2026-07-28", single],
];

for (const { on, open } of doors) {
  for (const [era, start] of eras) {
    test(`${on}, ${era}: lists differ from caller to caller, and no cache shares them`, async () => {
      await using door = await open(notes(), { auth });
      const ask = await start(door);
      for (const [method, forBob, forAda] of lists) {
        for (const [user, expected] of [
          ["ada", forAda],
          ["bob", forBob],
          ["ada", forAda],
        ] as const) {
          const { result } = (await ask(method, {}, user)) as Items;
          const items = Object.values(result).find((member) => Array.isArray(member)) ?? [];
          expect(items.map(({ name, uri }) => uri ?? name)).toEqual(expected);
          expect(result.cacheScope).toBe(era === "2026-07-28" ? "private" : undefined);
        }
      }
    });

    test(`${on}, ${era}: S17: a call of what a caller does not see fails as one of what does not exist`, async () => {
      await using door = await open(notes(), { auth });
      const ask = await start(door);
      for (const [method, hidden, unknown] of rows) {
        const text = JSON.stringify(await ask(method, hidden, "bob"));
        const nothing = JSON.stringify(await ask(method, unknown, "bob"));
        expect(text).toContain('"error"');
        expect(text.replaceAll(/erase|notes:\/secret|notes:\/shelf\/(?:1|\{n\})|plan/g, "#")).toBe(
          nothing.replaceAll(/notes:\/nothing|nothing/g, "#"),
        );
      }
    });
  }
}

test("a caller who sees a definition uses it, and learns when it changes", async () => {
  const server = notes();
  const soon = server.tool("soon", { visible: isAdmin }, () => "soon");
  await using http = await serveHttp(server, { auth });
  await using client = await connect(http.url, { headers: { authorization: "Bearer ada" } });
  expect(textOf(await client.tools.call("erase"))).toBe("erased");
  let change: (value: unknown) => void = () => undefined;
  const changed = new Promise((resolve) => {
    change = resolve;
  });
  await client.subscribe({ toolsListChanged: true }, { onChange: change });
  soon.disable();
  await changed;
  expect((await client.tools.list().all()).map(({ name }) => name)).toEqual(["read", "erase"]);
});

test("in memory, where the caller is this program, every definition is visible", async () => {
  await using client = await connect(notes());
  expect((await client.tools.list().all()).map(({ name }) => name)).toEqual(["read", "erase"]);
});

test("what is no function is refused when it is given", () => {
  const server = createServer({ name: "notes", version: "1.0.0" });
  expect(() => server.tool("a", { visible: true as never }, () => "")).toThrow(
    "The tool a: visible: expected a function, got a boolean",
  );
});
