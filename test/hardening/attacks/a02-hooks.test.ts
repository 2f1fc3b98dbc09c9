import { readdirSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { bearerAuth } from "@parlance/mcp/auth";
import { bridgeTo } from "@parlance/mcp/bridge";
import { type ConnectOptions, connect } from "@parlance/mcp/client";
import { type Auth, type EventStore, httpHandler, memoryEventStore, rpcHandler } from "@parlance/mcp/http";
import {
  type Call,
  type Channel,
  type Clock,
  type Connection,
  type ConnectionOptions,
  createService,
  lines,
  memoryChannels,
  messagePortChannel,
  openConnection,
  RpcError,
  tapChannel,
} from "@parlance/mcp/jsonrpc";
import { acceptTcp, childChannel, serveTcp, streamChannel, tcpChannel } from "@parlance/mcp/node";
import { type Context, createServer, type Server, type ServerOptions, serveChannel } from "@parlance/mcp/server";
import { createFakeClock } from "@parlance/mcp/testing";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import * as z from "zod";
import { systemClock } from "../../../packages/mcp/src/base/clock.js";
import { deferred } from "../../../packages/mcp/src/base/deferred.js";
import { startedChannel } from "../../../packages/mcp/src/node/process/child-process.js";
import type { ListedResource } from "../../../packages/mcp/src/server/features/resources/resource-definitions.js";
import type { ServeOptions } from "../../../packages/mcp/src/server/session/serve-channel.js";
import type { MessagePortLike } from "../../../packages/mcp/src/transport/message-port.js";
import { authPorts } from "../../auth/auth-ports.js";
import { isLong } from "../../testing/forms.js";
import { type Mode, overridden, Plant, type Port } from "./a02-plant.js";

const eras = ["2025-11-25", "2026-07-28"] as const;

interface Set {
  readonly server?: Partial<ServerOptions>;
  readonly transport?: ServeOptions;
  readonly client?: ConnectOptions;
  readonly register?: (server: Server) => void;
  readonly handlers?: Partial<Handlers>;
  readonly channel?: (channel: Channel, plant: Plant) => Channel;
}

/** The same conversation in both eras: every feature of a server once, then whether it still works. */
function mcp(set: (plant: Plant) => Set): Port["converse"] {
  return async (plant) => {
    for (const revision of eras) await converseIn(revision, plant, set(plant));
  };
}

async function converseIn(revision: string, plant: Plant, set: Set): Promise<void> {
  const server = offering({ ...set.server }, set.handlers);
  set.register?.(server);
  const [near, far] = plant.channels();
  const { report } = plant;
  serveChannel(server, set.channel?.(far, plant) ?? far, { report, ...set.transport });
  const given = { report, revision, handlers: await answers(), ...set.client };
  const client = await connect(near, given).catch((error: unknown) => plant.outcome(Promise.reject(error)));
  if (client === undefined) return;
  const { tools, resources, prompts } = client;
  await plant.outcome(tools.list().all());
  await plant.outcome(tools.call("later", {}, { onProgress: () => undefined }));
  await plant.outcome(tools.call("ask"));
  await plant.outcome(tools.call("fail"));
  await plant.outcome(resources.list().all());
  await plant.outcome(resources.read("note:/one"));
  await plant.outcome(prompts.get("greet", { name: "Ada" }));
  await plant.outcome(client.complete({ type: "ref/prompt", name: "greet" }, { name: "name", value: "A" }));
  await plant.outcome(client.call("acme/double", { number: 2 }));
  const subscribed = client.subscribe();
  await plant.outcome(subscribed);
  server.changed.list("tools");
  await turns();
  await plant.outcome(subscribed.then((each) => each.close()).catch(() => undefined));
  // Of two more calls one may be the failing one.
  const last = [tools.call("plain"), tools.call("plain")];
  for (const each of last) await plant.outcome(each);
  const worked = (await Promise.allSettled(last)).filter(({ status }) => status === "fulfilled");
  expect(worked.length, "the conversation goes on").toBeGreaterThan(0);
  await plant.outcome(client.close());
}

const text = (words: string): object => ({ type: "text", text: words });

async function answers(): Promise<NonNullable<ConnectOptions["handlers"]>> {
  return { elicitation: () => ({ action: "accept", content: { name: "Ada" } }), roots: [] };
}

interface Handlers {
  later(args: object, context: Context): unknown;
  read(): string;
  list(): readonly ListedResource[];
  greet(args: { name?: string | undefined }): string;
  complete(): readonly string[];
  double(params: object): object;
  input: z.ZodObject;
}

function offering(options: Partial<ServerOptions>, handlers: Partial<Handlers> = {}): Server {
  const server = createServer({ name: "hooks", version: "1", ...options });
  const later: Handlers["later"] = async (_args, context) => {
    context.progress(1, 2);
    await Promise.resolve();
    return "later";
  };
  server.tool("plain", {}, () => "plain");
  server.tool("later", { inputSchema: handlers.input ?? z.object({}) }, (handlers.later ?? later) as () => string);
  server.tool(
    "ask",
    {},
    async (_args, context) => (await context.elicit("Who?", z.object({ name: z.string() }))).action,
  );
  server.tool("fail", {}, () => {
    throw new RangeError("as always");
  });
  const list = handlers.list ?? (() => [{ uri: "note:/one", name: "one" }]);
  server.resourceTemplate("note:/{name}", { list }, handlers.read ?? (() => "text"));
  const complete = { name: handlers.complete ?? (() => ["Ada"]) };
  server.prompt("greet", { arguments: { name: {} }, complete }, handlers.greet ?? (({ name }) => `Hello ${name}`));
  server.method("acme/double", (handlers.double ?? (() => ({ doubled: 4 }))) as () => object);
  return server;
}

/** A conversation of plain JSON-RPC, with a channel of the application on the side that answers. */
function plain(
  set: (plant: Plant) => { near?: ConnectionOptions; far?: ConnectionOptions; channel?(channel: Channel): Channel },
): Port["converse"] {
  return async (plant) => {
    const { near = {}, far = {}, channel = (each: Channel) => each } = set(plant);
    const [left, right] = plant.channels();
    const service = createService()
      .method("sum", async (params: readonly number[], exchange) => {
        exchange.notify("news", { tag: "t" });
        void exchange.drained(); // A handler may leave it alone.
        await exchange.drained();
        return params.reduce((sum, each) => sum + each, 0);
      })
      .method("fail", () => {
        throw new RangeError("as always");
      })
      .method("stay", (_params, { signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)));
    const cancellation = { method: "cancel", idMember: "id", error: null };
    const answering = openConnection(channel(right), {
      handle: service.call,
      report: plant.report,
      cancellation,
      ...far,
    });
    const asking = openConnection(left, { report: plant.report, cancellation, ...near });
    await plant.outcome(asking.call("sum", [1, 2], { tag: "t", notify: () => undefined }));
    await plant.outcome(asking.call("fail"));
    const stop = new AbortController();
    const stayed = plant.outcome(asking.call("stay", undefined, { signal: stop.signal }));
    await turns();
    stop.abort();
    await stayed;
    if (asking.phase === "open") await plant.outcome(asking.call("sum", [3]));
    await asking.close();
    await answering.close();
    expect((await answering.closed).reason).toMatch(/closed|ended|failed/);
  };
}

/** A channel one of whose methods is of the application. It pushes back at times, so that all of them are used. */
function channelWith(plant: Plant, method: keyof Channel, isAsync: boolean): (channel: Channel) => Channel {
  const results = isAsync ? () => Promise.resolve() : () => undefined;
  return (channel) => {
    const all: Partial<Channel> = {
      send: (frame, relatedTo, isAnswer) => {
        channel.send(frame, relatedTo, isAnswer);
        return Promise.resolve();
      },
      drained: results as () => Promise<void>,
      ...(method === "release" && { release: () => undefined }),
    };
    const other = overridden(channel, all);
    const own = other[method] as (...given: unknown[]) => unknown;
    return { ...other, [method]: plant.hook(own) };
  };
}

const channelPort = (method: keyof Channel): Port => ({
  port: `Channel.${method}`,
  converse: plain((plant) => ({ channel: channelWith(plant, method, method === "drained" || method === "close") })),
});

/** A store, one of whose methods is the application's, behind sessions over HTTP. */
const storePort = (method: keyof EventStore): Port => ({
  port: `EventStore.${method}`,
  converse: async (plant) => {
    const kept = memoryEventStore();
    const eventStore: EventStore = {
      append: async (name, event) => kept.append(name, event),
      after: async (name, sequence) => kept.after(name, sequence),
      forget: async (session) => kept.forget(session),
    };
    const handle = httpHandler(offering({}), {
      report: plant.report,
      sessions: { eventStore: { ...eventStore, [method]: plant.hook(eventStore[method] as () => Promise<undefined>) } },
    });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const url = "http://localhost/mcp";
    const post = (id: number, name: string, params: object, session = {}): Promise<Response> =>
      handle(
        new Request(url, {
          method: "POST",
          headers: { ...headers, ...session },
          body: JSON.stringify({ jsonrpc: "2.0", id, method: name, params }),
        }),
      );
    const clientInfo = { name: "raw", version: "1" };
    const opened = await post(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    await plant.outcome(opened.text());
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    await handle(
      new Request(url, {
        method: "POST",
        headers: { ...headers, ...session },
        body: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      }),
    );
    const called = await (await post(1, "tools/call", { name: "later", _meta: { progressToken: 1 } }, session)).text();
    expect(called.match(/"result"/g), "one answer").toHaveLength(1);
    const id = /^id: (.*)$/m.exec(called)?.[1] ?? "1-1";
    const again = await handle(
      new Request(url, { headers: { ...session, accept: headers.accept, "last-event-id": id } }),
    );
    // It is all there, or the client is told that it is not.
    if (again.status === 200) expect(await again.text()).toContain('"result"');
    else expect([400, 500]).toContain(again.status);
    expect(await (await post(2, "tools/call", { name: "plain" }, session)).text()).toContain("plain");
    expect((await handle(new Request(url, { method: "DELETE", headers: session }))).status).toBe(204);
    handle.close();
  },
});

/** A client over HTTP in this process. */
function overHttp(
  set: (plant: Plant) => {
    door?: Parameters<typeof httpHandler>[1];
    client?: ConnectOptions;
    register?: Set["register"];
  },
): Port["converse"] {
  return async (plant) => {
    const { door, client: given = {}, register } = set(plant);
    for (const revision of eras) {
      const server = offering({});
      register?.(server);
      const handle = httpHandler(server, { report: plant.report, ...door });
      const fetch: NonNullable<ConnectOptions["fetch"]> = (url, init) => handle(new Request(url, init));
      const options = { fetch, revision, report: plant.report, ...given };
      const opening = connect("http://localhost/mcp", options);
      await plant.outcome(opening);
      const client = await opening.catch(() => undefined);
      await plant.outcome(client?.tools.call("later") ?? Promise.resolve());
      if (register !== undefined) await plant.outcome(client?.tools.call("seen") ?? Promise.resolve());
      const last = client?.tools.call("plain") ?? Promise.resolve();
      await plant.outcome(last);
      await client?.close();
      handle.close();
    }
  };
}

/** A process that writes two lines to stderr before it answers. */
async function commandTalking(plant: Plant): Promise<void> {
  const source =
    'process.stderr.write("one\\ntwo\\n", () => process.stdin.on("data", (line) => process.stdout.write(line)));';
  const heard = deferred<undefined>();
  const own = plant.hook(() => undefined);
  const stderr = (line: string): unknown => {
    if (line === "two") heard.resolve(undefined);
    return (own as (line: string) => unknown)(line);
  };
  const channel = startedChannel({ command: process.execPath, args: ["--eval", source], stderr }, plant.report);
  channel.open({ frame: () => undefined, refuse: () => undefined, end: () => undefined });
  await channel.send('{"jsonrpc":"2.0","method":"news"}');
  await heard.promise;
  await plant.outcome(channel.close());
}

/** A port of a platform, some of whose methods are the application's. */
class WrappedPort extends EventTarget implements MessagePortLike {
  readonly #port: MessagePort;
  readonly postMessage: (message: unknown) => void;

  constructor(port: MessagePort, plant: Plant) {
    super();
    this.#port = port;
    this.postMessage = plant.hook((message: unknown) => port.postMessage(message));
    port.on("message", (data) => this.dispatchEvent(Object.assign(new Event("message"), { data })));
    port.on("close", () => this.dispatchEvent(new Event("close")));
  }

  start(): void {
    this.#port.start();
  }

  close(): void {
    this.#port.close();
  }
}

/** Turns of the event loop: what was set off is done, and what was rejected is known to be unhandled. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const staying = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener("abort", resolve));

/** A question of each other kind, in both eras. */
function answerPort(name: "urlElicitation" | "sampling" | "roots"): Port {
  const converse: Port["converse"] = async (plant) => {
    for (const revision of eras) {
      const server = createServer({ name: "asking", version: "1" });
      server.tool(
        "urlElicitation",
        {},
        async (_args, context) => (await context.elicitUrl("See", "https://example.com")).action,
      );
      const messages = [{ role: "user", content: { type: "text", text: "Hi" } }] as const;
      server.tool("sampling", {}, async (_args, context) => (await context.sample({ messages, maxTokens: 1 })).model);
      server.tool("roots", {}, async (_args, context) => `${(await context.listRoots()).length}`);
      const [near, far] = plant.channels();
      serveChannel(server, far, { report: plant.report });
      const given = {
        urlElicitation: plant.hook(() => ({ action: "accept" }) as const),
        sampling: plant.hook(() => ({ role: "assistant", model: "m", content: { type: "text", text: "Hi" } }) as const),
        roots: plant.hook(() => []),
      };
      const client = await connect(near, { revision, report: plant.report, handlers: { [name]: given[name] } });
      await plant.outcome(client.tools.call(name));
      await plant.outcome(client.tools.call(name));
      await client.close();
    }
  };
  return { port: `InputHandlers.${name}`, shown: `handlers.${name}`, converse };
}

async function progress(plant: Plant): Promise<void> {
  for (const revision of eras) {
    const client = await connect(offering({}), { revision, report: plant.report });
    await plant.outcome(client.tools.call("later", {}, { onProgress: plant.hook(() => undefined) }));
    expect((await client.tools.call("plain")).content).toEqual([text("plain")]);
    await client.close();
  }
}

async function changes(plant: Plant): Promise<void> {
  for (const revision of eras) {
    const server = offering({});
    const client = await connect(server, { revision, report: plant.report });
    const subscription = await client.subscribe({ toolsListChanged: true }, { onChange: plant.hook(() => undefined) });
    for (let change = 0; change < 2; change += 1) {
      server.changed.list("tools");
      await turns();
    }
    await plant.outcome(subscription.close());
    await client.close();
  }
}

/** A subscription whose transport breaks, and that is opened again after a pause. */
async function reopening(plant: Plant): Promise<void> {
  const clock = createFakeClock();
  const server = offering({});
  let far: Channel | undefined;
  const served: Connection[] = [];
  const dial = (): Channel => {
    const [near, other] = memoryChannels();
    far = other;
    served.push(serveChannel(server, other, { report: plant.report }));
    return near;
  };
  const random = plant.hook(() => 0.5);
  const client = await connect(dial, { revision: "2026-07-28", reopen: true, clock, random, report: plant.report });
  const subscription = await client.subscribe({ toolsListChanged: true });
  for (let time = 0; time < 2; time += 1) {
    await far?.close();
    await turns();
    clock.advance(10_000);
    await turns();
  }
  await plant.outcome(client.tools.call("plain"));
  await subscription.close();
  await client.close();
  for (const connection of served) await connection.close();
}

async function checkedParams(plant: Plant): Promise<void> {
  const service = createService().method("sum", () => 3, { check: plant.hook(() => []) });
  const [left, right] = plant.channels();
  const answering = openConnection(right, { handle: service.call, report: plant.report });
  const asking = openConnection(left, { report: plant.report });
  for (let time = 0; time < 3; time += 1) await plant.outcome(asking.call("sum", [1]));
  await asking.close();
  await answering.close();
}

async function told(plant: Plant): Promise<void> {
  const [left, right] = plant.channels();
  const handle: Call = (method, _params, exchange) => {
    if (method === "call") for (const tag of ["t", "t"]) exchange.notify("news", { tag });
    return 1;
  };
  const answering = openConnection(right, { handle, report: plant.report });
  const relatedTo = (_method: string, params: unknown): string => (params as { tag: string }).tag;
  const asking = openConnection(left, { report: plant.report, relatedTo });
  await plant.outcome(asking.call("call", undefined, { tag: "t", notify: plant.hook(() => undefined) }));
  expect(await asking.call("again")).toBe(1);
  await asking.close();
  await answering.close();
}

async function rpcOverHttp(plant: Plant, auth?: Auth, addressOf?: () => string): Promise<void> {
  const options = addressOf === undefined ? { auth: auth ?? plant.hook(() => ({ principal: "me" })) } : { addressOf };
  const handle = rpcHandler(createService().method("ping", () => "pong").call, { ...options, report: plant.report });
  for (let id = 0; id < 3; id += 1) {
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
    const headers = { "content-type": "application/json", authorization: "Bearer token" };
    const answer = await handle(new Request("http://localhost/rpc", { method: "POST", headers, body }));
    expect([200, 401, 500]).toContain(answer.status);
    expect(await answer.json()).toMatchObject({ jsonrpc: "2.0" });
  }
  handle.close();
}

async function overWebSocket(plant: Plant): Promise<void> {
  const authenticate = plant.hook(() => ({ principal: "me" }));
  await using listener = await serveWebSocket(offering({}), { auth: authenticate, report: plant.report });
  for (let time = 0; time < 2; time += 1) {
    const opening = connect(() => nodeWebSocketChannel(listener.url), { revision: "2025-11-25", report: plant.report });
    await plant.outcome(opening);
    const client = await opening.catch(() => undefined);
    await plant.outcome(client?.tools.call("plain") ?? Promise.resolve());
    await client?.close();
  }
}

async function overTcp(plant: Plant): Promise<void> {
  const auth = plant.hook(() => ({ principal: "me" }));
  await using listening = await serveTcp(offering({}), { port: 0 }, { auth, report: plant.report });
  for (let time = 0; time < 2; time += 1) {
    const opening = connect(() => tcpChannel(listening.address), { revision: "2025-11-25", report: plant.report });
    await plant.outcome(opening);
    const client = await opening.catch(() => undefined);
    await plant.outcome(client?.tools.call("plain") ?? Promise.resolve());
    await client?.close();
  }
}

const ownFetch: Port["converse"] = async (plant) => {
  for (const revision of eras) {
    const handle = httpHandler(offering({}), { report: plant.report });
    const own = plant.hook((url: URL, init: RequestInit) => handle(new Request(url, init)));
    // A stream that cannot be had is asked for again, without a word.
    const fetch = (url: URL, init: RequestInit): Promise<Response> =>
      init.method === "GET" ? handle(new Request(url, init)) : own(url, init);
    const opening = connect("http://localhost/mcp", { fetch, revision, report: plant.report });
    await plant.outcome(opening);
    const client = await opening.catch(() => undefined);
    for (let time = 0; time < 2; time += 1) await plant.outcome(client?.tools.call("plain") ?? Promise.resolve());
    await client?.close();
    handle.close();
  }
};

/** Bytes in this process, cut into frames by a framing of the application on the side that answers. */
function ownFraming(method: "encode" | "push" | "end"): Port["converse"] {
  return async (plant) => {
    const [there, back] = [new PassThrough(), new PassThrough()];
    const framing: typeof lines = {
      ...lines,
      ...(method === "encode"
        ? { encode: plant.hook((frame: string) => lines.encode(frame)) }
        : {
            decoder: (sink, bytes) => {
              const decoder = lines.decoder(sink, bytes);
              const push = (chunk: Uint8Array): void => decoder.push(chunk);
              const end = (): void => decoder.end();
              return method === "push" ? { push: plant.hook(push), end } : { push, end: plant.hook(end) };
            },
          }),
    };
    const handle = createService().method("ping", () => "pong").call;
    const answering = openConnection(streamChannel(there, back, { framing }), { handle, report: plant.report });
    const asking = openConnection(streamChannel(back, there), { report: plant.report });
    void answering.closed.then(({ error }) => error && plant.outcome(Promise.reject(error)));
    for (let time = 0; time < 2; time += 1) await plant.outcome(asking.call("ping"));
    await turns();
    await asking.close();
    if (method === "end") await answering.closed;
    await answering.close();
  };
}

async function overPorts(plant: Plant): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const handle = createService().method("ping", () => "pong").call;
  const answering = openConnection(messagePortChannel(new WrappedPort(port1, plant)), { handle, report: plant.report });
  const asking = openConnection(messagePortChannel(port2 as unknown as MessagePortLike), { report: plant.report });
  const failed = answering.closed.then(({ error }) => error && plant.outcome(Promise.reject(error)));
  for (let time = 0; time < 2; time += 1) {
    // One whose answer is lost fails with the connection.
    const lost = answering.closed.then(() => asking.close());
    await plant.outcome(asking.call("ping"));
    void lost;
  }
  await Promise.all([asking.close(), answering.close()]);
  await failed;
}

async function overOwnSocket(plant: Plant): Promise<void> {
  class OwnSocket extends WebSocket {
    readonly #send = plant.hook((text: string) => super.send(text));
    // A platform may return what it likes, whatever its types say.
    override readonly send = ((text: string) => this.#send(text)) as WebSocket["send"];
  }
  await using listener = await serveWebSocket(offering({}), { report: plant.report });
  const dial = (): Channel => nodeWebSocketChannel(listener.url, { WebSocket: OwnSocket });
  for (let time = 0; time < 2; time += 1) {
    const opening = connect(dial, { revision: "2025-11-25", report: plant.report });
    await plant.outcome(opening);
    const client = await opening.catch(() => undefined);
    await plant.outcome(client?.tools.call("plain") ?? Promise.resolve());
    await client?.close();
  }
}

async function losing(plant: Plant): Promise<void> {
  const ends: Channel[] = [];
  const server = offering({});
  await using bridge = bridgeTo(
    () => {
      const [near, far] = memoryChannels();
      ends.push(far);
      serveChannel(server, far, { report: plant.report });
      return near;
    },
    { onLost: plant.hook(() => undefined), report: plant.report },
  );
  for (let time = 0; time < 2; time += 1) {
    const client = await connect(bridge, { revision: "2025-11-25", report: plant.report });
    await plant.outcome(client.tools.call("plain"));
    await ends.at(-1)?.close();
    await client.closed;
    await turns();
  }
}

async function childTalking(plant: Plant): Promise<void> {
  const source = 'process.stderr.write("one", () => process.stdin.on("data", (line) => process.stdout.write(line)));';
  const command = { command: process.execPath, args: ["--eval", source] };
  const heard = deferred<unknown>();
  const onStderr = plant.hook(() => undefined);
  const channel = childChannel(command, {
    report: plant.report,
    onStderr(chunk) {
      heard.resolve(undefined);
      return (onStderr as (chunk: Uint8Array) => unknown)(chunk);
    },
  });
  const echoed = deferred<string>();
  channel.open({ frame: (frame) => echoed.resolve(frame), refuse: () => undefined, end: () => undefined });
  await channel.send('{"jsonrpc":"2.0","method":"news"}');
  await plant.outcome(echoed.promise);
  await heard.promise;
  await channel.close();
}

async function accepting(plant: Plant): Promise<void> {
  const handle = createService().method("ping", () => "pong").call;
  const open = plant.hook((channel: Channel) => openConnection(channel, { handle, report: plant.report }));
  await using listening = await acceptTcp({ port: 0 }, open, { report: plant.report });
  for (let time = 0; time < 2; time += 1) {
    await using asking = openConnection(tcpChannel(listening.address), { report: plant.report });
    await plant.outcome(asking.call("ping"));
  }
}

/** The machine's time, by a clock of the application. */
function clockWith(plant: Plant, method: keyof Clock): Clock {
  const clock: Clock = {
    now: () => systemClock.now(),
    setTimer: (fire, milliseconds) => systemClock.setTimer(fire, milliseconds),
    clearTimer: (timer) => systemClock.clearTimer(timer),
  };
  return { ...clock, [method]: plant.hook(clock[method] as () => unknown) };
}

/** Runs a conversation over channels without a `report`: what fails in them shows on the console. */
async function onConsole(plant: Plant, run: () => Promise<void>): Promise<void> {
  const { error } = console;
  const failed: Promise<void>[] = [];
  console.error = (line: string) => void failed.push(plant.outcome(Promise.reject(new TypeError(line))));
  try {
    await run();
    await turns();
    await Promise.all(failed);
  } finally {
    console.error = error;
  }
}

/** Two calls to a server that a listener serves, on connections of their own. */
async function callTwice(plant: Plant, dial: () => Channel, clock: Clock): Promise<void> {
  for (let time = 0; time < 2; time += 1) {
    const opening = connect(dial, { revision: "2025-11-25", clock, report: plant.report });
    await plant.outcome(opening);
    const client = await opening.catch(() => undefined);
    expect((await client?.tools.call("plain"))?.content).toEqual([text("plain")]);
    await client?.close();
  }
}

/** Conversations whose timeouts are of one clock, on every transport. */
const clockConversations: Readonly<Record<string, (plant: Plant, clock: Clock) => Promise<void>>> = {
  "in memory": (plant, clock) => mcp(() => ({ transport: { clock }, client: { clock } }))(plant),
  "plain JSON-RPC": (plant, clock) => plain(() => ({ near: { clock }, far: { clock } }))(plant),
  HTTP: (plant, clock) =>
    overHttp(() => ({ door: { report: plant.report, clock }, client: { clock, report: plant.report } }))(plant),
  WebSocket: (plant, clock) =>
    onConsole(plant, async () => {
      await using listener = await serveWebSocket(offering({}), { clock, report: plant.report });
      await callTwice(plant, () => nodeWebSocketChannel(listener.url, { clock }), clock);
    }),
  TCP: (plant, clock) =>
    onConsole(plant, async () => {
      const options = { auth: () => ({ principal: "me" }), clock, report: plant.report };
      await using listening = await serveTcp(offering({}), { port: 0 }, options);
      await callTwice(plant, () => tcpChannel(listening.address, { clock }), clock);
    }),
  "a child process": async (plant, clock) => {
    const command = { command: process.execPath, args: ["--eval", "process.stdin.pipe(process.stdout)"] };
    const channel = childChannel(command, { report: plant.report, clock });
    const echoed = deferred<string>();
    channel.open({ frame: (frame) => echoed.resolve(frame), refuse: () => undefined, end: () => undefined });
    await channel.send('{"jsonrpc":"2.0","method":"news"}');
    await plant.outcome(echoed.promise);
    await plant.outcome(channel.close());
  },
};

const clockPorts: readonly Port[] = (["now", "setTimer", "clearTimer"] as const).flatMap((method) => [
  ...Object.entries(clockConversations).map(([where, converse], index) => ({
    port: index === 0 ? `Clock.${method}` : `Clock.${method}, ${where}`,
    shown: `Clock.${method}`,
    isTimed: ["WebSocket", "TCP", "a child process"].includes(where),
    converse: (plant: Plant) => converse(plant, clockWith(plant, method)),
  })),
]);

/** A schema whose check is the application's. */
function checkedBy(plant: Plant): z.ZodObject {
  const schema: z.ZodObject = z.object({});
  const standard = schema["~standard"];
  const own = { ...standard, validate: plant.hook((value: unknown) => standard.validate(value)) };
  return new Proxy(schema, { get: (target, key) => (key === "~standard" ? own : Reflect.get(target, key)) });
}

const handler = (port: string, shown: string, set: (plant: Plant) => Partial<Handlers>): Port => ({
  port,
  shown,
  converse: mcp((plant) => ({ handlers: set(plant) })),
});

const ports: readonly Port[] = [
  {
    port: "Hooks.onCall",
    shown: "onCall",
    converse: mcp((plant) => ({ server: { onCall: plant.hook(() => undefined) } })),
  },
  {
    port: "Hooks.onEnd",
    shown: "onEnd",
    converse: mcp((plant) => ({ server: { onEnd: plant.hook(() => undefined) } })),
  },
  {
    port: "Middleware",
    shown: "middleware",
    converse: mcp((plant) => ({ register: (server) => server.use((next) => plant.hook(next)) })),
  },
  {
    port: "StateSealOptions.now",
    shown: "requestState.now",
    converse: mcp((plant) => ({ server: { requestState: { now: plant.hook(() => 1) } } })),
  },
  {
    port: "RequestStateStore.use",
    shown: "requestState.store.use",
    converse: mcp((plant) => ({ server: { requestState: { store: { use: plant.hook(async () => true) } } } })),
  },
  {
    port: "PeerOptions.mapError",
    shown: "mapError",
    converse: mcp((plant) => ({ transport: { mapError: plant.hook(() => undefined) } })),
  },
  {
    port: "ServeOptions.onNegotiated",
    shown: "onNegotiated",
    converse: mcp((plant) => ({ transport: { onNegotiated: plant.hook(() => undefined) } })),
  },
  handler("ToolHandler", "tools/call", (plant) => ({ later: plant.hook(() => "later") })),
  handler("ResourceReader", "resources/read", (plant) => ({ read: plant.hook(() => "text") })),
  handler("ResourceTemplateDefinition.list", "resources/list", (plant) => ({ list: plant.hook(() => []) })),
  handler("PromptHandler", "prompts/get", (plant) => ({ greet: plant.hook(() => "Hello") })),
  handler("PromptDefinition.complete", "completion/complete", (plant) => ({ complete: plant.hook(() => ["Ada"]) })),
  handler("MethodHandler", "acme/double", (plant) => ({ double: plant.hook(() => ({})) })),
  handler("Schema.validate", "tools/call", (plant) => ({ input: checkedBy(plant) })),
  {
    port: "InputHandlers.elicitation",
    shown: "handlers.elicitation",
    converse: mcp((plant) => {
      const elicit = plant.hook(() => ({ action: "accept", content: { name: "Ada" } }) as const);
      return { client: { handlers: { elicitation: elicit, roots: [] } } };
    }),
  },
  ...(["urlElicitation", "sampling", "roots"] as const).map((each) => answerPort(each)),
  {
    port: "Routing.onNotification",
    shown: "onNotification",
    converse: mcp((plant) => ({ client: { onNotification: plant.hook(() => undefined) } })),
  },
  { port: "ClientCallOptions.onProgress", shown: "onProgress", converse: progress },
  { port: "SubscribeOptions.onChange", shown: "onChange", converse: changes },
  {
    port: "CacheOptions.principal",
    shown: "cache.principal",
    converse: mcp((plant) => ({ client: { cache: { principal: plant.hook(() => "me") } } })),
  },
  { port: "OpenOptions.random", shown: "random", converse: reopening },
  {
    port: "Routing.relatedTo",
    shown: "relatedTo",
    converse: plain((plant) => ({ near: { relatedTo: plant.hook(() => undefined) } })),
  },
  {
    port: "PeerOptions.nameOf",
    shown: "nameOf",
    converse: plain((plant) => ({ far: { nameOf: plant.hook(() => undefined) } })),
  },
  {
    port: "ConnectionOptions.lossy",
    shown: "lossy",
    converse: plain((plant) => ({
      // It is asked where a channel has streams of its own.
      channel: (channel) => overridden(channel, { drained: () => Promise.resolve() }),
      far: { lossy: plant.hook(() => undefined) },
    })),
  },
  {
    port: "ConnectionOptions.handle",
    shown: "sum",
    converse: plain((plant) => {
      const sum = plant.hook(() => 3);
      const handle: Call = (method, _params, { signal }) => {
        if (method === "fail") throw new RpcError(1, "as always");
        return method === "stay" ? staying(signal) : sum();
      };
      return { far: { handle } };
    }),
  },
  { port: "MethodOptions.check", shown: "check", converse: checkedParams },
  { port: "CallOptions.notify", shown: "notify", converse: told },
  {
    port: "tapChannel observer",
    converse: plain((plant) => ({
      channel: (channel) =>
        tapChannel(
          channel,
          plant.hook(() => undefined),
          plant.report,
        ),
    })),
  },
  ...(["send", "close", "pause", "resume", "drained", "unanswered", "failed"] as const).map(channelPort),
  ...(["append", "after", "forget"] as const).map(storePort),
  {
    port: "HttpOptions.auth",
    shown: "auth",
    converse: overHttp((plant) => ({
      door: { report: plant.report, auth: plant.hook(() => ({ principal: "me" })) },
    })),
  },
  {
    port: "BearerAuthOptions.verify",
    shown: "auth",
    converse: (plant) =>
      rpcOverHttp(
        plant,
        bearerAuth({
          resource: "https://mcp.example/rpc",
          authorizationServers: ["https://login.example"],
          verify: plant.hook(() => ({ subject: "me" })),
        }),
      ),
  },
  {
    port: "ScopedDefinition.visible",
    shown: "visible",
    converse: overHttp((plant) => ({
      register: (server) => server.tool("seen", { visible: plant.hook(() => true) }, () => "seen"),
    })),
  },
  { port: "RpcOptions.auth", shown: "auth", converse: (plant) => rpcOverHttp(plant) },
  ...authPorts,
  {
    port: "HttpOptions.addressOf",
    shown: "addressOf",
    converse: overHttp((plant) => ({ door: { report: plant.report, addressOf: plant.hook(() => "192.0.2.1") } })),
  },
  {
    port: "RpcOptions.addressOf",
    shown: "addressOf",
    converse: (plant) =>
      rpcOverHttp(
        plant,
        undefined,
        plant.hook(() => "192.0.2.1"),
      ),
  },
  {
    port: "HttpClientOptions.auth",
    shown: "auth",
    converse: overHttp((plant) => ({
      // What it returns takes the place of HttpClientOptions.fetch.
      client: { auth: plant.hook((fetch) => fetch) },
    })),
  },
  {
    port: "ClientOptions.notifications",
    shown: "notifications/tools/list_changed",
    converse: mcp((plant) => ({
      client: { notifications: { "notifications/tools/list_changed": plant.hook(() => undefined) } },
    })),
  },
  { port: "CommandTarget.stderr", shown: "onStderr", converse: commandTalking },
  { port: "WebSocketUpgradeOptions.auth", shown: "auth", converse: overWebSocket },
  { port: "AcceptOptions.auth", shown: "auth", converse: overTcp },
  {
    port: "HttpClientOptions.headers",
    shown: "its headers cannot be made",
    converse: overHttp((plant) => ({ client: { headers: plant.hook(() => ({ "x-own": "1" })) } })),
  },
  { port: "HttpClientOptions.fetch", shown: "cannot be reached", converse: ownFetch },
  { port: "Framing.encode", shown: "Channel.send", converse: ownFraming("encode") },
  { port: "Framing.decoder", converse: ownFraming("push") },
  { port: "FrameDecoder.end", shown: "Framing.decoder", converse: ownFraming("end") },
  { port: "MessagePortLike.postMessage", shown: "MessagePort.postMessage", converse: overPorts },
  { port: "WebSocketLike.send", shown: "WebSocket.send", converse: overOwnSocket },
  { port: "BridgeOptions.onLost", shown: "onLost", converse: losing },
  { port: "ChildChannelOptions.onStderr", shown: "onStderr", converse: childTalking },
  { port: "acceptTcp open", shown: "accept", converse: accepting },
  ...clockPorts,
];

describe("A2: a hook that fails on its N-th call", () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);

  beforeAll(() => void process.on("unhandledRejection", note).on("uncaughtException", note));
  afterAll(() => void process.off("unhandledRejection", note).off("uncaughtException", note));

  async function run(port: Port, nth: number, mode: Mode): Promise<Plant> {
    const plant = new Plant(nth, mode);
    await port.converse(plant);
    await turns();
    return plant;
  }

  describe.each(ports)("$port", (port) => {
    const { shown = port.port, port: name, isTimed = false } = port;
    test.each<Mode>(["throws", "rejects"])(
      `%s: the process lives, each call has one outcome, ${shown} is named`,
      async (mode) => {
        const { calls } = await run(port, 0, mode);
        expect(calls, `${name} is called`).toBeGreaterThan(0);
        // In the short form the first call throws, and the last one rejects.
        const [first, last] = isLong ? [1, calls] : mode === "throws" ? [1, 1] : [calls, calls];
        for (let nth = first; nth <= last; nth += 1) {
          const plant = await run(port, nth, mode);
          const where = `call ${nth} of ${calls} ${mode}`;
          expect(unhandled.splice(0), where).toEqual([]);
          expect(plant.pending, where).toBe(0);
          expect(
            [...plant.answers].filter(([, count]) => count > 1),
            where,
          ).toEqual([]);
          if (isTimed && plant.calls < nth) continue; // None has failed in this run.
          expect(plant.shows(shown), `${where}: ${JSON.stringify([plant.reports, plant.outcomes])}`).toBe(true);
        }
      },
    );
  });
});

describe("A2: the listener of reports itself", () => {
  test.each<Mode>(["throws", "rejects"])("%s: the call goes on, and the console has both faults", async (mode) => {
    const written: string[] = [];
    const { error } = console;
    console.error = (line: string) => void written.push(line);
    try {
      const report = new Plant(1, mode).hook(() => undefined);
      const client = await connect(offering({}), { report });
      await expect(client.tools.call("fail")).rejects.toThrow("Internal error");
      await turns();
      expect((await client.tools.call("plain")).content).toEqual([text("plain")]);
      await client.close();
    } finally {
      console.error = error;
    }
    expect(written).toEqual([
      expect.stringContaining('"report" failed: Planted: call 1 was to fail'),
      expect.stringContaining('"tools/call" of "fail" failed: RangeError: as always'),
    ]);
  });
});

/** Functions in options that are no hooks, and those that have another test than the table. */
const apart: Readonly<Record<string, string>> = {
  "BrowserSignInOptions.open": "ends the sign-in with its error: test/auth/browser-sign-in.test.ts",
  "FileTokenStore.entries": "called by the application alone",
  "PublicFetchOptions.lookup": "ends the request with its error, as a name that does not resolve",
  "RevocationOptions.fetch": "is a failed revocation with its error: test/auth/client/revocation.test.ts",
  "EnterpriseManagedOptions.idToken": "fails the call, as an assertion: test/auth/client/machine-grants.test.ts",
  "TokenOptions.onStep": "goes to the console, and the sign-in goes on: test/auth/client/hooks.test.ts",
  "TokenStore.delete": "called by the application alone",
  "AcceptOptions.report": "as PeerOptions.report",
  "Channel.open": "it opens the conversation: what it throws is thrown by openConnection",
  "Channel.release": "called for HTTP alone, under the guard of Channel.unanswered",
  "CheckBounds.clock": "as CompileOptions.clock",
  "ChildChannelOptions.report": "as PeerOptions.report",
  "CompileOptions.clock": "a check is called by the program itself, and throws to it",
  "CompileOptions.validator": "compile() is called by the program itself, and throws to it",
  "FakeClock.advance": "called by a test",
  "FrameDecoder.push": "Framing.decoder",
  "ClientConnectionOptions.onNotification": "as Routing.onNotification",
  "MemoryRequestStatesOptions.now": "called within RequestStateStore.use",
  "MessagePortLike.close": "Channel.close reports it",
  "MessagePortLike.start": "called by messagePortChannel(), which throws to the program",
  "ProbeOptions.onOutcome": "internal",
  "QueueBounds.clock": "the methods of Clock",
  "RawOptions.onFrame": "a tool's own function, called while it waits for the server",
  "ReportOptions.lineOf": "called by a report of the command, without a conversation",
  "RecordOptions.clock": "called by recordChannel(), which throws to the program, and within the tapChannel observer",
  "ResourceTemplateDefinition.complete": "as PromptDefinition.complete",
  "ResourceServer.servedAt": "called by serveHttp(), which throws to the program",
  "SessionOptions.eventStore": "the methods of EventStore",
  "StateSealOptions.store": "the methods of RequestStateStore",
  "StreamChannelOptions.framing": "the methods of Framing",
  "PeerOptions.clock": "the methods of Clock",
  "PeerOptions.report": "the test above",
  "WebSocketLike.addEventListener": "called by nodeWebSocketChannel(), which throws to the program",
  "WebSocketLike.close": "as WebSocketLike.send",
  "WebSocketLike.pause": "Channel.pause reports it",
  "WebSocketLike.resume": "Channel.resume reports it",
  "WebSocketLike.terminate": "what cannot be ended any more is left alone",
  "WebSocketOptions.WebSocket": "called by nodeWebSocketChannel(), which throws to the program",
  "WebStreamOptions.framing": "a failure ends the channel, as everything that breaks the stream does",
};

test("A2: the table has every function that the options of the library take", () => {
  const found = optionFunctions();
  expect(found.length).toBeGreaterThan(50);
  const known = new Set([...ports.map(({ port }) => port), ...Object.keys(apart)]);
  expect(found.filter((each) => !known.has(each))).toEqual([]);
  expect(Object.keys(apart).filter((each) => !found.includes(each))).toEqual([]);
});

const sources = ["mcp", "wire"].map((name) => new URL(`../../../packages/${name}/src/`, import.meta.url));
const optionInterface =
  /^export interface (\w*(?:Options|Hooks|Handlers|Store|Channel|Like|Routing|Framing|FrameDecoder|Bounds|Definition|Clock)|RedirectReceiver|ResourceServer|CommandTarget)\b[^{]*\{\n(.*?)^\}/gms;
const functionType = /^(?:export )?type (\w+)(?:<[^=]*>)? =\s[^;]*?=>/gm;
const member = /^ {2}(?:readonly )?(\w+)\??(?:\(|: ([^;]*);)/gm;

/** Interfaces of the library that take functions. */
const ofFunctions = [
  "Completers",
  "EventStore",
  "Framing",
  "JsonSchemaValidator",
  "RequestStateStore",
  "Clock",
  "WebSocketLike",
];

/** `Interface.member` of every member that takes a function, or an object of functions. */
function optionFunctions(): readonly string[] {
  const files = sources.flatMap((source) =>
    readdirSync(source, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => new URL(path, source)),
  );
  const texts = files.map((file) => readFileSync(file, "utf8"));
  const types = [...ofFunctions, ...texts.flatMap((text) => [...text.matchAll(functionType)].map(([, name]) => name))];
  const takesFunction = new RegExp(`^\\(\\n|=>|\\b(?:${types.join("|")})\\b`);
  return texts.flatMap((text) =>
    [...text.matchAll(optionInterface)].flatMap(([, name, body = ""]) =>
      [...body.matchAll(member)]
        .filter(([, , type]) => type === undefined || takesFunction.test(type))
        .map(([, each]) => `${name}.${each}`),
    ),
  );
}
