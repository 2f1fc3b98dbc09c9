import type { RequestListener, ServerResponse } from "node:http";
import { bytesOf, type Entry } from "@parlance/wire";
import { expect, test } from "vitest";
import { parlance } from "../../run.js";
import { ask, bodyOf, proxied } from "./proxied.js";

// Bodies and events that are no JSON, as they cross a proxy, and what `parlance check` says of the recording.

const version = "2025-11-25";
const info = { name: "peer", version: "1" };
const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: version, capabilities: {}, clientInfo: info },
};
const hello = { jsonrpc: "2.0", id: 0, result: { protocolVersion: version, capabilities: {}, serverInfo: info } };
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const pong = '{"jsonrpc":"2.0","id":1,"result":{}}';

const json = "application/json";
const events = "text/event-stream";

type Send = (response: ServerResponse) => unknown;

/** Answers with this content, whole. */
function content(type: string, text: string): Send {
  return (response) => response.writeHead(200, { "Content-Type": type }).end(text);
}

/** Opens a conversation through a proxy, and asks for a `ping` that the server answers in its way. */
async function checked(
  answer: Send,
  body = ping,
): Promise<{
  readonly code: number | null;
  readonly verdicts: readonly unknown[];
  readonly pending: readonly unknown[];
}> {
  const listener: RequestListener = async (request, response) => {
    const text = (await bodyOf(request)).toString();
    if (text.includes('"initialize"')) response.writeHead(200, { "Content-Type": json }).end(JSON.stringify(hello));
    else if (text.includes("initialized")) response.writeHead(202).end();
    else answer(response);
  };
  await using stand = await proxied(listener);
  const headers = {
    "Content-Type": json,
    Accept: `${json}, ${events}`,
  };
  const agreed = { ...headers, "MCP-Protocol-Version": version };
  const post = (text: string, own: typeof headers): Promise<unknown> =>
    ask(`${stand.near}/mcp`, { method: "POST", headers: own }, [Buffer.from(text)]);
  await post(JSON.stringify(initialize), headers);
  await post('{"jsonrpc":"2.0","method":"notifications/initialized"}', agreed);
  await post(body, agreed).catch(() => undefined); // A server may break off.
  const entries = await stand.recorded();
  const { code, stdout } = await parlance(["check", stand.recording, "--json"]);
  const report = JSON.parse(stdout) as {
    readonly verdicts: readonly { rule: string; party: string; n: number; range: readonly [number, number] }[];
    readonly pending: readonly { reason: string }[];
  };
  return {
    code,
    verdicts: report.verdicts.map(({ rule, party, n, range }) => [rule, party, covered(entries, n, range)]),
    pending: report.pending.map(({ reason }) => reason),
  };
}

function covered(entries: readonly Entry[], n: number, range: readonly [number, number]): string | undefined {
  const frame = entries.find((entry) => entry.k === "f" && entry.n === n);
  return frame?.k === "f" ? Buffer.from(bytesOf(frame).slice(...range)).toString() : undefined;
}

const half = pong.slice(0, 20);

test.each([
  ["half of a message in a body", content(json, half), "H-15", half],
  ["two messages in a body", content(json, `${pong}\n${pong}`), "H-15", `${pong}\n${pong}`],
  ["noise before a message in a body", content(json, `[debug] ${pong}`), "H-15", `[debug] ${pong}`],
  ["noise behind a message in a body", content(json, `${pong} done`), "H-15", `${pong} done`],
  ["half of a message in an event", content(events, `data: ${half}\n\n`), "H-13", half],
  ["half of a message where a stream ends", content(events, `data: ${half}`), "H-13", half],
  ["a whole message in an event that has no end", content(events, `data: ${pong}\n`), "H-13", pong],
  ["two messages in an event", content(events, `data: ${pong}${pong}\n\n`), "H-13", `${pong}${pong}`],
  [
    "two messages in the lines of an event",
    content(events, `data: ${pong}\ndata: ${pong}\n\n`),
    "H-13",
    `${pong}\n${pong}`,
  ],
  ["noise in an event", content(events, `data: [debug]\n\ndata: ${pong}\n\n`), "H-13", "[debug]"],
])("%s is the server's violation", async (_what, answer, rule, bytes) => {
  const { code, verdicts } = await checked(answer);
  expect(verdicts).toEqual([[rule, "server", bytes]]);
  expect(code).not.toBe(0);
});

test("what is no JSON in the body of a POST is the client's violation", async () => {
  const { code, verdicts } = await checked((response) => response.writeHead(400).end(), `${ping}${ping}`);
  expect(verdicts).toEqual([["H-16", "client", `${ping}${ping}`]]);
  expect(code).not.toBe(0);
});

test.each([
  ["body", { "Content-Type": json, "Content-Length": "100" }, pong],
  ["event", { "Content-Type": events }, `data: ${pong}`],
])("a connection that breaks in the middle of a %s breaks no rule, and answers nothing", async (_what, head, text) => {
  const { verdicts, pending } = await checked((response) => {
    response.writeHead(200, head).write(text);
    setImmediate(() => response.destroy());
  });
  expect(verdicts).toEqual([]);
  expect(pending).toEqual([expect.stringMatching(/^no response: its HTTP exchange was broken off: aborted/)]);
});

test("a server that answers with an error of HTTP has not answered", async () => {
  const { verdicts, pending } = await checked((response) =>
    response.writeHead(500, { "Content-Type": json }).end("{}"),
  );
  expect(verdicts).toEqual([]);
  expect(pending).toEqual(["no response: the server refused it with HTTP 500"]);
});
