import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { type ConnectOptions, connect } from "@parlance/mcp/client";
import type { Channel } from "@parlance/mcp/jsonrpc";
import { childChannel, streamChannel } from "@parlance/mcp/node";
import { afterAll, describe, expect, test } from "vitest";
import { fixture } from "../../cli/run.js";
import { play } from "../../fixtures/quirky-server.js";
import { isLong } from "../../testing/forms.js";
import {
  type HttpAnswer,
  type HttpPeer,
  httpPeers,
  type Outcome,
  type StdioPeer,
  sessionHeaders,
  soundAnswers,
  stdioPeers,
} from "./quirky-peers.js";

/** Connects, lists and calls once. Gives what became of it: `served`, or the message. */
async function use(target: Parameters<typeof connect>[0], options: ConnectOptions): Promise<string> {
  try {
    await using client = await connect(target, options);
    const [tool] = await client.tools.list().all();
    const { content } = await client.tools.call(tool?.name ?? "t");
    return Array.isArray(content) ? "served" : "no content";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function overStdio(peer: StdioPeer, lenient: boolean): Promise<string> {
  const sound = Object.fromEntries(Object.entries(soundAnswers).map(([method, line]) => [method, [line]]));
  const script: StdioPeer = { ...peer, answers: { ...sound, ...peer.answers } };
  // In the short form, only peers whose quirk is about the process are one.
  const isProcess = isLong || peer.exit !== undefined || peer.stderr !== undefined;
  return use(() => (isProcess ? startedPeer(script) : playedPeer(script)), { lenient });
}

function startedPeer(script: StdioPeer): Channel {
  const args = [fixture("quirky-server.js"), JSON.stringify(script)];
  return childChannel({ command: process.execPath, args }, { exitGrace: 100 });
}

function playedPeer(script: StdioPeer): Channel {
  const [input, output] = [new PassThrough(), new PassThrough()];
  void play(script, input, output).then(() => output.end());
  return streamChannel(output, input);
}

async function overHttp(peer: HttpPeer, lenient: boolean): Promise<string> {
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => void answer(peer, request, response, streams));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const outcome = await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, { lenient });
  server.close();
  server.closeAllConnections();
  await once(server, "close");
  return outcome;
}

async function answer(
  { answers }: HttpPeer,
  request: IncomingMessage,
  response: ServerResponse,
  streams: Set<ServerResponse>,
): Promise<void> {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { id, method = request.method } = (body === "" ? {} : JSON.parse(body)) as { id?: unknown; method?: string };
  const needsStream = Object.values(answers).some(({ onStream }) => onStream);
  if (method === "GET" && needsStream) {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    streams.add(response);
    return;
  }
  const quirky = answers[method ?? ""];
  const isRedirected = quirky?.headers?.location !== undefined && request.url !== "/mcp";
  const given = quirky === undefined || isRedirected ? soundHttp(method) : quirky;
  const { status = 200, type = "application/json", headers = {}, ...how } = given;
  const text = (how.body ?? "").replaceAll("$id", JSON.stringify(id));
  response.writeHead(status, { ...headers, ...(type !== "" && { "content-type": type }) });
  if (how.onStream === true) {
    response.end();
    for (const stream of streams) stream.write(`data: ${text}\n\n`);
    return;
  }
  const bytes = Buffer.from(text, how.latin1 === true ? "latin1" : "utf8");
  for (let at = 0; how.pieces !== undefined && at < bytes.length; at += how.pieces) {
    response.write(bytes.subarray(at, at + how.pieces));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end(how.pieces === undefined ? bytes : undefined);
}

function soundHttp(method: string | undefined): HttpAnswer {
  if (method === "GET" || method === "DELETE") return { status: 405, type: "", body: "" };
  if (method === "notifications/initialized") return { status: 202, type: "", body: "" };
  if (method === undefined || method.startsWith("notifications/")) return { status: 202, type: "", body: "" };
  const sound = soundAnswers[method];
  if (sound !== undefined) return { body: sound, headers: method === "initialize" ? sessionHeaders : {} };
  const refusal = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}';
  return { status: 400, body: refusal };
}

const tally = { peers: 0, strict: 0, lenient: 0, refused: 0 };

function expectOutcome(found: string, expected: Outcome = "served"): void {
  if (expected === "served") expect(found).toBe("served");
  else expect(found).toContain(expected.refused);
  // Nothing waits for its time to be over.
  expect(found).not.toMatch(/no answer and no response or notification|no response within/);
}

async function judge<P extends { readonly strict?: Outcome; readonly lenient?: Outcome }>(
  peer: P,
  play: (peer: P, lenient: boolean) => Promise<string>,
): Promise<void> {
  tally.peers += 1;
  // In the short form, a peer with the same outcome for both is tried by a strict or a lenient client, in turn.
  if (!isLong && JSON.stringify(peer.strict) === JSON.stringify(peer.lenient)) {
    const isLenient = tally.peers % 2 === 0;
    expectOutcome(await play(peer, isLenient), isLenient ? peer.lenient : peer.strict);
    return;
  }
  const [strict, lenient] = await Promise.all([play(peer, false), play(peer, true)]);
  if (strict === "served") tally.strict += 1;
  if (lenient === "served") tally.lenient += 1;
  else tally.refused += 1;
  expectOutcome(strict, peer.strict);
  expectOutcome(lenient, peer.lenient);
}

describe.concurrent("C11: on stdio, a server is served or refused at once:", () => {
  test.each(stdioPeers.map((peer) => [peer.quirk, peer] as const))("%s", (_, peer) => judge(peer, overStdio));
});

describe.concurrent("C11: over HTTP, a server is served or refused at once:", () => {
  test.each(httpPeers.map((peer) => [peer.quirk, peer] as const))("%s", (_, peer) => judge(peer, overHttp));
});

describe("C11: of all of these servers", () => {
  test("at least a hundred have one deviation each, and nine in ten serve a lenient client", () => {
    const peers = [...stdioPeers, ...httpPeers];
    const served = peers.filter(({ lenient = "served" }) => lenient === "served").length;
    expect(new Set(peers.map((peer) => `${"start" in peer} ${peer.quirk}`)).size).toBeGreaterThanOrEqual(100);
    expect(served / peers.length).toBeGreaterThanOrEqual(0.9);
  });

  afterAll(() => {
    if (!isLong) return;
    const { peers, strict, lenient, refused } = tally;
    const share = (part: number): string => `${part} (${Math.round((100 * part) / peers)} %)`;
    console.log(
      `${peers} quirky peers: ${share(strict)} served, ${share(lenient)} served with lenient, ${share(refused)} refused`,
    );
  });
});
