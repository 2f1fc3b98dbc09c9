import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { link, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createConnection, createServer as createListener, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, LocalError } from "@parlance/mcp/client";
import { contentLength, createService, describeReport, openConnection, type Reporter } from "@parlance/mcp/jsonrpc";
import { acceptTcp, serveTcp, tcpChannel } from "@parlance/mcp/node";
import { createServer, type Server } from "@parlance/mcp/server";
import { createFakeClock } from "@parlance/mcp/testing";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { SocketAddress } from "../../packages/mcp/src/node/listen.js";
import type { TcpServer } from "../../packages/mcp/src/node/serve-tcp.js";
import { turn } from "../jsonrpc/transports.js";

const folder = mkdtempSync(join(tmpdir(), "tcp-"));
afterAll(() => rmSync(folder, { recursive: true }));

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

/** Closes something when the test is over. */
function held<T extends AsyncDisposable>(resource: T): T {
  open.push(resource);
  return resource;
}

let files = 0;
/** A path where nothing is. */
function freshPath(): string {
  files += 1;
  return join(folder, `${files}.sock`);
}

/** A server with a tool that answers, and one that waits until it is let go. */
function greeter(): { readonly server: Server; readonly calls: string[]; letGo(): void } {
  const calls: string[] = [];
  let letGo: () => void = () => undefined;
  const waiting = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const server = createServer({ name: "greeter", version: "1" });
  server.tool("greet", {}, () => {
    calls.push("greet");
    return "Hello";
  });
  server.tool("wait", {}, async () => {
    calls.push("wait");
    await waiting;
    return "done";
  });
  return { server, calls, letGo: () => letGo() };
}

async function greeting(address: SocketAddress): Promise<unknown> {
  await using client = await connect(() => tcpChannel(address));
  const { content } = await client.tools.call("greet");
  return content;
}

/** A connection by hand, and what has come over it until it ended. */
function socketTo({ address }: TcpServer): { readonly socket: Socket; readonly ended: Promise<string> } {
  const socket = createConnection({ ...address });
  let text = "";
  socket.setEncoding("utf8").on("data", (piece) => {
    text += piece;
  });
  return { socket, ended: once(socket, "close").then(() => text) };
}

const hello = [{ type: "text", text: "Hello" }];

describe("a server on a socket", () => {
  test.each([
    ["a port", () => ({ port: 0 })],
    ["a port of this machine by name", () => ({ port: 0, host: "localhost" })],
    ["a port of IPv6", () => ({ port: 0, host: "::1" })],
    ["a path", () => ({ path: freshPath() })],
  ])("serves any number of clients on %s", async (_what, address) => {
    const listening = held(await serveTcp(greeter().server, address()));
    const answers = await Promise.all(Array.from({ length: 5 }, () => greeting(listening.address)));
    expect(answers).toEqual(Array.from({ length: 5 }, () => hello));
  });

  test("carries any JSON-RPC, framed as both sides agree", async () => {
    const { call } = createService().method("ping", () => "pong");
    const framing = contentLength;
    const listening = held(
      await acceptTcp({ port: 0 }, (channel) => openConnection(channel, { handle: call }), { framing }),
    );
    const connection = held(openConnection(tcpChannel(listening.address, { framing })));
    expect(await connection.call("ping")).toBe("pong");
  });

  test("answers what was asked before the client ended its side", async () => {
    const { call } = createService().method("late", async () => {
      for (let turns = 20; turns > 0; turns -= 1) await turn(); // By then the end has come as well.
      return "here";
    });
    const listening = held(await acceptTcp({ port: 0 }, (channel) => openConnection(channel, { handle: call })));
    const { socket, ended } = socketTo(listening);
    socket.end('{"jsonrpc":"2.0","id":1,"method":"late"}\n');
    expect(await ended).toBe('{"jsonrpc":"2.0","id":1,"result":"here"}\n');
  });

  test("bounds frames as its limits say", async () => {
    const listening = held(await serveTcp(greeter().server, { port: 0 }, { limits: { frameBytes: 1_000 } }));
    const { socket, ended } = socketTo(listening);
    socket.end(`{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(1_000)}"}\n`);
    expect(JSON.parse(await ended)).toMatchObject({ id: 1, error: { code: -32_600 } });
  });

  test("shows its conversations, and forgets them when they are over", async () => {
    const listening = held(await serveTcp(greeter().server, { port: 0 }));
    const client = await connect(() => tcpChannel(listening.address));
    expect(listening.connections.size).toBe(1);
    const [connection] = listening.connections;
    await client.close();
    await connection?.closed;
    expect(listening.connections.size).toBe(0);
  });

  test("that drains lets calls finish, and accepts no new connection", async () => {
    const { server, calls, letGo } = greeter();
    const listening = held(await serveTcp(server, { port: 0 }));
    const client = held(await connect(() => tcpChannel(listening.address)));
    const late = client.tools.call("wait");
    await expect.poll(() => calls).toEqual(["wait"]);
    const drained = listening.drain(60_000);
    await expect(greeting(listening.address)).rejects.toThrow(/ECONNREFUSED/);
    letGo();
    expect((await late).content).toEqual([{ type: "text", text: "done" }]);
    await drained;
    expect(listening.connections.size).toBe(0);
  });

  test("that closes waits for no call, and may be closed again", async () => {
    const { server, calls, letGo } = greeter();
    const listening = await serveTcp(server, { port: 0 });
    const client = held(await connect(() => tcpChannel(listening.address)));
    const late = client.tools.call("wait").catch((error) => error);
    await expect.poll(() => calls).toEqual(["wait"]);
    await listening.close();
    expect(await late).toBeInstanceOf(LocalError);
    await listening.close();
    letGo();
  });
});

describe("a server on a port", () => {
  test("that is taken says so", async () => {
    const listening = held(await serveTcp(greeter().server, { port: 0 }));
    const { port } = listening.address as AddressInfo;
    await expect(serveTcp(greeter().server, { port })).rejects.toThrow(
      `127.0.0.1:${port} is in use: choose another address, or end what listens there`,
    );
  });

  test.each(["0.0.0.0", "::", "", "192.0.2.1", "example.com"])(
    "refuses to be reached from outside by %j",
    async (host) => {
      await expect(serveTcp(greeter().server, { port: 0, host })).rejects.toThrow("plain TCP is not encrypted");
    },
  );

  test("is reached from outside when that is said", async () => {
    const listening = held(await serveTcp(greeter().server, { port: 0, host: "0.0.0.0", exposed: true }));
    expect(await greeting({ port: (listening.address as AddressInfo).port })).toEqual(hello);
  });

  const call = '{"jsonrpc":"2.0","id":1,"method":"act"}';

  test.each([
    ["by a request of a web page", "lines", (url: string) => fetch(url, { method: "POST", body: `\n${call}\n` })],
    ["by one for Content-Length", "Content-Length", (url: string) => fetch(url, { method: "POST", body: call })],
  ] as const)("cannot be reached %s", async (_what, framing, attack) => {
    let acted = 0;
    const { call } = createService().method("act", () => {
      acted += 1;
    });
    const options = framing === "lines" ? {} : { framing: contentLength };
    const accept = (channel: Parameters<Parameters<typeof acceptTcp>[1]>[0]) =>
      openConnection(channel, { handle: call });
    const listening = held(await acceptTcp({ port: 0 }, accept, options));
    const { port } = listening.address as AddressInfo;
    await expect(attack(`http://127.0.0.1:${port}/`)).rejects.toThrow("fetch failed");
    await expect.poll(() => listening.connections.size).toBe(0);
    expect(acted).toBe(0);
  });

  test.each(["lines", "Content-Length"])(
    "does nothing for a handshake of TLS with lines in it, framed by %s",
    async (framing) => {
      let acted = 0;
      const service = createService().method("act", () => {
        acted += 1;
      });
      const options = framing === "lines" ? {} : { framing: contentLength };
      const listening = held(
        await acceptTcp({ port: 0 }, (channel) => openConnection(channel, { handle: service.call }), options),
      );
      const { socket, ended } = socketTo(listening);
      socket.write(`\x16\x03\x01 ticket\n${call}\n${contentLength.encode(call)}`);
      expect(await ended).toBe("");
      expect(acted).toBe(0);
    },
  );

  test("refuses connections when it is full, and accepts the next when there is room", async () => {
    const reports: string[] = [];
    const listening = held(
      await serveTcp(
        greeter().server,
        { port: 0 },
        { maxConnections: 1, report: (each) => reports.push(describeReport(each)) },
      ),
    );
    const first = await connect(() => tcpChannel(listening.address));
    await expect(greeting(listening.address)).rejects.toThrow(LocalError);
    expect(reports.join()).toContain("a connection was refused: there are 1 already");
    const [connection] = listening.connections;
    await first.close();
    await connection?.closed;
    expect(await greeting(listening.address)).toEqual(hello);
  });

  test("lets no address have all places", async () => {
    const reports: string[] = [];
    const options = {
      maxConnectionsPerAddress: 2,
      report: (each: Parameters<typeof describeReport>[0]) => reports.push(describeReport(each)),
    };
    const listening = held(await serveTcp(greeter().server, { port: 0, host: "::", exposed: true }, options));
    const { port } = listening.address as AddressInfo;
    const here = () => tcpChannel({ port });
    held(await connect(here));
    const second = await connect(here);
    await expect(connect(here)).rejects.toThrow(LocalError);
    expect(reports.join()).toContain("there are 2 from 127.0.0.1 already");
    expect(await greeting({ port, host: "::1" })).toEqual(hello);
    await second.close();
    await expect.poll(() => listening.connections.size).toBe(1);
    held(await connect(here));
  });

  test("outlives a connection that is refused", async () => {
    const reports: string[] = [];
    let isFirst = true;
    const open = (channel: Parameters<Parameters<typeof acceptTcp>[1]>[0]) => {
      if (!isFirst) return openConnection(channel, { handle: () => "pong" });
      isFirst = false;
      throw new Error("not you");
    };
    const listening = held(
      await acceptTcp({ port: 0 }, open, { report: (each) => reports.push(describeReport(each)) }),
    );
    expect(await socketTo(listening).ended).toBe("");
    expect(reports.join()).toContain("failed: Error: not you");
    expect(await held(openConnection(tcpChannel(listening.address))).call("ping")).toBe("pong");
  });
});

describe("a server on a path", () => {
  test("is for this user alone, unless more is said", async () => {
    const [own, shared] = [freshPath(), freshPath()];
    held(await serveTcp(greeter().server, { path: own }));
    held(await serveTcp(greeter().server, { path: shared, mode: 0o660 }));
    expect(((await stat(own)).mode & 0o777).toString(8)).toBe("600");
    expect(((await stat(shared)).mode & 0o777).toString(8)).toBe("660");
  });

  test("leaves no file", async () => {
    const path = freshPath();
    await (await serveTcp(greeter().server, { path })).close();
    expect(await readdir(folder)).not.toContain(path.split("/").at(-1));
  });

  test("takes the place of one that is dead", async () => {
    const path = await deadSocket();
    const listening = held(await serveTcp(greeter().server, { path }));
    expect(await greeting(listening.address)).toEqual(hello);
  });

  test("leaves one alone that lives", async () => {
    const path = freshPath();
    const listening = held(await serveTcp(greeter().server, { path }));
    await expect(serveTcp(greeter().server, { path })).rejects.toThrow(`${JSON.stringify(path)} is in use`);
    expect(await greeting(listening.address)).toEqual(hello);
  });

  test("leaves files alone that are no sockets", async () => {
    const [file, link] = [freshPath(), freshPath()];
    await writeFile(file, "precious");
    await symlink(await deadSocket(), link);
    await expect(serveTcp(greeter().server, { path: file })).rejects.toThrow("is in use");
    await expect(serveTcp(greeter().server, { path: link })).rejects.toThrow("is in use");
    expect((await stat(file)).size).toBe(8);
  });

  test("refuses a path that the system would cut, and one without a file", async () => {
    const long = join(folder, "x".repeat(100));
    await expect(serveTcp(greeter().server, { path: long })).rejects.toThrow("at most 103 bytes");
    await expect(serveTcp(greeter().server, { path: "\0abstract" })).rejects.toThrow("has no permissions");
  });

  test("does not count where its clients come from", async () => {
    const listening = held(await serveTcp(greeter().server, { path: freshPath() }, { maxConnectionsPerAddress: 1 }));
    held(await connect(() => tcpChannel(listening.address)));
    expect(await greeting(listening.address)).toEqual(hello);
  });
});

describe("a client", () => {
  test.each(["127.0.0.1", "localhost"])("fails with an error if no server listens at %s", async (host) => {
    const listener = createListener().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    listener.close();
    await expect(connect(() => tcpChannel({ host, port }))).rejects.toThrow(
      new RegExp(`no connection to ${host}:${port}: .*ECONNREFUSED`),
    );
  });

  test("gets an error if the path does not exist", async () => {
    const path = freshPath();
    await expect(connect(() => tcpChannel({ path }))).rejects.toThrow(`no connection to "${path}": connect ENOENT`);
  });

  test("does not wait for ever to be accepted", async () => {
    const clock = createFakeClock();
    const ended = new Promise<Error | undefined>((resolve) => {
      // An address for documentation: nobody answers there, or there is no way to it.
      const channel = tcpChannel({ port: 9, host: "192.0.2.1" }, { clock });
      channel.open({ frame: () => undefined, refuse: () => undefined, end: resolve });
    });
    clock.advance(10_000);
    expect((await ended)?.message).toMatch(
      /^no connection to 192.0.2.1:9: (it was not accepted within 10000 ms|.*E[A-Z]+)/,
    );
    expect(clock.armed).toBe(0);
  });

  test("refuses an invalid port", () => {
    expect(() => tcpChannel({ port: 70_000 })).toThrow(RangeError);
  });
});

/** A socket file that its process has left behind. */
async function deadSocket(): Promise<string> {
  const path = freshPath();
  const listener = createListener().listen(`${path}.lives`);
  await once(listener, "listening");
  await link(`${path}.lives`, path);
  await new Promise((resolve) => listener.close(resolve));
  return path;
}

describe("a server on a socket with auth", () => {
  const whoami = (): Server => {
    const server = createServer({ name: "notes", version: "1" });
    server.tool("whoami", {}, (_, { auth }) => JSON.stringify(auth ?? null));
    return server;
  };

  test.each([
    ["a port", () => ({ port: 0 })],
    ["a path", () => ({ path: freshPath() })],
  ])("shows handlers who calls: %s", async (_what, address) => {
    const seen: (string | undefined)[] = [];
    const auth = async ({ remoteAddress }: Socket) => {
      seen.push(remoteAddress);
      await turn();
      return { principal: "ada", scopes: ["notes"] };
    };
    const listening = held(await serveTcp(whoami(), address(), { auth }));
    await using client = await connect(() => tcpChannel(listening.address));
    const { content } = await client.tools.call("whoami");
    expect(JSON.parse((content[0] as { text: string }).text)).toEqual({ principal: "ada", scopes: ["notes"] });
    expect(seen).toEqual(["port" in listening.address ? "127.0.0.1" : undefined]);
  });

  test("closes the connections of clients that it does not know, and serves the others", async () => {
    const known = new Set<number>();
    const listening = held(
      await serveTcp(
        whoami(),
        { port: 0 },
        { auth: ({ remotePort = 0 }) => (known.has(remotePort) ? { principal: "ada" } : undefined) },
      ),
    );
    const stranger = socketTo(listening);
    stranger.socket.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    expect(await stranger.ended).toBe("");
    expect(listening.connections.size).toBe(0);
  });

  test.each([{ principal: undefined }, {}, "ada"])("takes %j for no identity, and reports it", async (given) => {
    const reports: string[] = [];
    const auth = (): never => given as never;
    const report: Reporter = (each) => reports.push(describeReport(each));
    const listening = held(await serveTcp(whoami(), { port: 0 }, { auth, report }));
    const stranger = socketTo(listening);
    stranger.socket.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    stranger.socket.end();
    expect(await stranger.ended).toBe("");
    expect(reports).toEqual([expect.stringContaining("principal")]);
  });

  test("closes the connection when auth fails, and reports it", async () => {
    const reports: string[] = [];
    const auth = (): never => {
      throw new Error("the directory is away");
    };
    const listening = held(
      await serveTcp(whoami(), { port: 0 }, { auth, report: (each) => reports.push(describeReport(each)) }),
    );
    expect(await socketTo(listening).ended).toBe("");
    expect(reports).toEqual([expect.stringMatching(/auth.*the directory is away/s)]);
  });

  test("gives up after 10 s, and waits for no authentication when it closes", async () => {
    const clock = createFakeClock();
    const reports: string[] = [];
    const asked: (() => void)[] = [];
    const auth = () =>
      new Promise<undefined>(() => {
        for (const each of asked.splice(0)) each();
      });
    const whenAsked = (): Promise<void> => new Promise((resolve) => asked.push(resolve));
    const listening = await serveTcp(
      whoami(),
      { port: 0 },
      { auth, clock, report: (each) => reports.push(describeReport(each)) },
    );
    const first = [whenAsked(), socketTo(listening)] as const;
    await first[0];
    clock.advance(10_000);
    expect(await first[1].ended).toBe("");
    expect(reports).toEqual([expect.stringContaining("not authenticated within 10000 ms")]);
    const second = [whenAsked(), socketTo(listening)] as const;
    await second[0];
    await listening.close();
    expect(await second[1].ended).toBe("");
  });
});
