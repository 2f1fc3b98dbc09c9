import { bearerAuth } from "@parlance/mcp/auth";
import { type Client, connect, type ServerChange } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { serveHttp } from "@parlance/mcp/node";
import { createServer, type Registration, type ResourceDefinition, type Server } from "@parlance/mcp/server";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { describe, expect, test } from "vitest";

/** Who may see what is not for everybody. A test changes it. */
interface Rights {
  readonly admins: Set<string>;
}

const auth = bearerAuth({
  resource: "https://mcp.example/mcp",
  authorizationServers: ["https://login.example"],
  verify: (token) => {
    const [subject = "", ...scopes] = token.split(".");
    return { subject, clientId: "app", scopes };
  },
});

interface Notes {
  readonly server: Server;
  readonly secret: Registration<ResourceDefinition>;
}

function notes({ admins }: Rights): Notes {
  const visible: ResourceDefinition["visible"] = (caller) => admins.has(caller?.subject ?? "");
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("read", {}, () => "read");
  server.prompt("plan", {}, () => "plan");
  server.resource("notes:/open", {}, () => "open");
  const secret = server.resource("notes:/secret", { visible }, () => "a secret");
  server.resourceTemplate("notes:/shelf/{n}", { visible }, () => "a secret");
  return { server, secret };
}

interface Served extends AsyncDisposable {
  connect(token: string): Promise<Client>;
  readonly reports: string[];
}

type Serve = (server: Server) => Promise<Served>;

const overHttp =
  (revision: string): Serve =>
  async (server) => {
    const reports: string[] = [];
    const http = await serveHttp(server, { auth, report: (each) => void reports.push(describeReport(each)) });
    return {
      reports,
      connect: (token) => connect(http.url, { revision, headers: { authorization: `Bearer ${token}` } }),
      [Symbol.asyncDispose]: () => http.close(),
    };
  };

const overWebSocket =
  (revision: string): Serve =>
  async (server) => {
    const reports: string[] = [];
    const listener = await serveWebSocket(server, { auth, report: (each) => void reports.push(describeReport(each)) });
    return {
      reports,
      connect: (token) => {
        const headers = { authorization: `Bearer ${token}` };
        return connect(() => nodeWebSocketChannel(listener.url, { headers }), { revision });
      },
      [Symbol.asyncDispose]: () => listener.close(),
    };
  };

const places: readonly (readonly [where: string, serve: Serve])[] = [
  ["HTTP with sessions", overHttp("2025-11-25")],
  ["stateless HTTP", overHttp("2026-07-28")],
  ["a WebSocket, 2025-11-25", overWebSocket("2025-11-25")],
  ["a WebSocket, 2026-07-28", overWebSocket("2026-07-28")],
];

/** The changes that a client receives until the one of `notes:/open`, which `end` causes after all others. */
async function changesUntilOpen(server: Server, changes: AsyncIterator<ServerChange>): Promise<readonly string[]> {
  server.changed.resource("notes:/open");
  const seen: string[] = [];
  for (;;) {
    const { value, done } = await changes.next();
    if (done === true) throw new Error(`the subscription has ended after ${seen.join()}`);
    if (value.kind === "resource" && value.uri === "notes:/open") return seen;
    seen.push(value.kind === "resource" ? value.uri : value.kind === "list" ? value.list : value.kind);
  }
}

const filter = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ["notes:/open", "notes:/secret", "notes:/shelf/1"],
};
const secrets = ["notes:/secret", "notes:/shelf/1"];

describe.each(places)("over %s", (_where, serve) => {
  const change = (server: Server): void => {
    for (const uri of secrets) server.changed.resource(uri);
  };

  test("S17: the updates of a resource end when the caller may not see it any more, and go on when the caller may", async () => {
    const admins = new Set(["ada", "bob"]);
    const { server } = notes({ admins });
    await using served = await serve(server);
    await using ada = await served.connect("ada");
    await using bob = await served.connect("bob");
    const [ofAda, ofBob] = [await ada.subscribe(filter), await bob.subscribe(filter)].map((each) =>
      each[Symbol.asyncIterator](),
    ) as [AsyncIterator<ServerChange>, AsyncIterator<ServerChange>];
    change(server);
    expect(await changesUntilOpen(server, ofBob)).toEqual(secrets);
    admins.delete("bob");
    change(server);
    expect(await changesUntilOpen(server, ofBob)).toEqual([]);
    admins.add("bob");
    change(server);
    expect(await changesUntilOpen(server, ofBob)).toEqual(secrets);
    // Ada sees all of it, all the time. What comes before she reads is merged by the server or queued by the client.
    expect(new Set(await changesUntilOpen(server, ofAda))).toEqual(new Set(secrets));
  });

  test("S17: the updates of a resource end when it is disabled, or needs a scope that the caller lacks", async () => {
    const { server, secret } = notes({ admins: new Set(["ada"]) });
    await using served = await serve(server);
    await using ada = await served.connect("ada.notes");
    const changes = (await ada.subscribe(filter))[Symbol.asyncIterator]();
    change(server);
    expect(await changesUntilOpen(server, changes)).toEqual(secrets);
    secret.disable();
    expect(await changesUntilOpen(server, changes)).toEqual(["resources"]);
    server.changed.resource("notes:/secret");
    expect(await changesUntilOpen(server, changes)).toEqual([]);
    secret.enable();
    secret.update({ scopes: ["notes", "notes:secret"] });
    expect(await changesUntilOpen(server, changes)).toEqual(["resources"]);
    server.changed.resource("notes:/secret");
    expect(await changesUntilOpen(server, changes)).toEqual([]);
    secret.update({ scopes: ["notes"] });
    expect(await changesUntilOpen(server, changes)).toEqual(["resources"]);
    server.changed.resource("notes:/secret");
    expect(await changesUntilOpen(server, changes)).toEqual(["notes:/secret"]);
  });

  test("S17: a change is told to the callers that its author names, and to no other", async () => {
    const { server } = notes({ admins: new Set(["ada", "bob"]) });
    await using served = await serve(server);
    await using ada = await served.connect("ada");
    await using bob = await served.connect("bob");
    const [ofAda, ofBob] = [await ada.subscribe(filter), await bob.subscribe(filter)].map((each) =>
      each[Symbol.asyncIterator](),
    ) as [AsyncIterator<ServerChange>, AsyncIterator<ServerChange>];
    server.changed.resource("notes:/secret", (caller) => caller?.subject === "ada");
    server.changed.list("resources", (caller) => caller?.subject === "ada");
    // Neither does it reach who may not see the definition.
    server.changed.resource("notes:/shelf/1", () => false);
    expect(await changesUntilOpen(server, ofBob)).toEqual([]);
    expect(new Set(await changesUntilOpen(server, ofAda))).toEqual(new Set(["notes:/secret", "resources"]));
    expect(served.reports).toEqual([]);
  });

  test("S17: a change whose author cannot say to whom it is told is told to nobody, and reported", async () => {
    const { server } = notes({ admins: new Set(["ada"]) });
    await using served = await serve(server);
    await using ada = await served.connect("ada");
    const changes = (await ada.subscribe(filter))[Symbol.asyncIterator]();
    server.changed.resource("notes:/secret", () => {
      throw new Error("no owner");
    });
    server.changed.list("tools", (async () => true) as unknown as () => boolean);
    expect(await changesUntilOpen(server, changes)).toEqual([]);
    expect(served.reports.join("\n")).toMatch(/no owner.*promise/s);
  });

  test("S17: a caller is not told that a list changed in which the caller sees no difference", async () => {
    const admins = new Set(["ada"]);
    const { server } = notes({ admins });
    const visible = (caller: { readonly subject?: string } | undefined): boolean => admins.has(caller?.subject ?? "");
    await using served = await serve(server);
    await using ada = await served.connect("ada");
    await using bob = await served.connect("bob");
    const only = { ...filter, resourceSubscriptions: ["notes:/open"] };
    const [ofAda, ofBob] = [await ada.subscribe(only), await bob.subscribe(only)].map((each) =>
      each[Symbol.asyncIterator](),
    ) as [AsyncIterator<ServerChange>, AsyncIterator<ServerChange>];
    const both = async (): Promise<readonly (readonly string[])[]> => {
      const forAda = await changesUntilOpen(server, ofAda);
      const forBob: string[] = [];
      // The change that ends the list of Ada is one of Bob's too.
      for (;;) {
        const { value } = await ofBob.next();
        if (value.kind === "resource") break;
        forBob.push(value.kind === "list" ? value.list : value.kind);
      }
      return [forAda, forBob];
    };
    const tool = server.tool("erase", { visible }, () => "erased");
    expect(await both()).toEqual([["tools"], []]);
    tool.disable();
    server.prompt("secret plan", { visible }, () => "plan");
    server.resource("notes:/other", { visible }, () => "other");
    server.resourceTemplate("notes:/cellar/{n}", { visible }, () => "other");
    expect(await both()).toEqual([["tools", "prompts", "resources"], []]);
    tool.enable();
    expect(await both()).toEqual([["tools"], []]);
    // From here on it is in the list of Bob.
    tool.update({ visible: () => true });
    expect(await both()).toEqual([["tools"], ["tools"]]);
    // And from here on it is not.
    tool.update({ visible });
    expect(await both()).toEqual([["tools"], ["tools"]]);
    // A change that he does not see takes nothing away from one at the same time that he sees, and the reverse.
    server.tool("open", {}, () => "open").update({ title: "Open" });
    tool.remove();
    expect(await both()).toEqual([["tools"], ["tools"]]);
    // A change that the application reports may be of anything.
    server.changed.list("prompts");
    expect(await both()).toEqual([["prompts"], ["prompts"]]);
  });

  test("a visible that throws while something changes hides the change from the caller, and is reported", async () => {
    let isBroken = false;
    const { server } = notes({
      admins: {
        has: () => {
          if (isBroken) throw new Error("the directory is away");
          return true;
        },
      } as never,
    });
    await using served = await serve(server);
    await using ada = await served.connect("ada");
    const changes = (await ada.subscribe(filter))[Symbol.asyncIterator]();
    change(server);
    expect(await changesUntilOpen(server, changes)).toEqual(secrets);
    isBroken = true;
    change(server);
    expect(await changesUntilOpen(server, changes)).toEqual([]);
    expect(served.reports).toEqual(expect.arrayContaining([expect.stringMatching(/visible.*the directory is away/s)]));
  });
});

test("S17: in a session, the latest request decides which scopes its updates need", async () => {
  const { server, secret } = notes({ admins: new Set(["ada"]) });
  secret.update({ scopes: ["notes"] });
  await using http = await serveHttp(server, { auth, report: () => undefined });
  let token = "ada.notes";
  await using client = await connect(http.url, {
    revision: "2025-11-25",
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", `Bearer ${token}`);
      return fetch(input, { ...init, headers });
    },
  });
  const changes = (await client.subscribe(filter))[Symbol.asyncIterator]();
  server.changed.resource("notes:/secret");
  expect(await changesUntilOpen(server, changes)).toEqual(["notes:/secret"]);
  token = "ada";
  await client.ping();
  server.changed.resource("notes:/secret");
  expect(await changesUntilOpen(server, changes)).toEqual([]);
});
