/**
 * Posts to a contestant over HTTP: connections that stay, one request on its way on each. Requests are bytes before the
 * clock starts, and of an answer no more is read than its status and its end, so that the server is never waiting.
 */

import { setTimeout } from "node:timers/promises";
import { exchange, HttpConnection, isSuccess } from "./http-connection.js";
import { initialize, initialized, newestHandshake, statelessVersion } from "./mcp.js";
import { takePart } from "./program.js";
import { add, asStateless, asTelling, faultIn } from "./samples.js";
import { roundsOf, startServer } from "./server-host.js";

/** @import { ServerHost } from "./server-host.js" */
/** @import { Case, Round, Sample } from "./types.d.ts" */

const heldSessions = 1_000;

/** Seconds for which they are held before the heap is measured: a server may keep less of a session that is not used. */
const heldSeconds = 12;

/** @typedef {Readonly<Record<string, string>>} Headers */

/**
 * @param {string} method
 * @param {Headers} headers
 * @param {string} [body]
 */
function requestBytes(method, headers, body = "") {
  const all = {
    host: "localhost",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...headers,
    "content-length": Buffer.byteLength(body),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

/**
 * Opens a session; the headers of everything in it.
 * @param {HttpConnection} connection
 * @returns {Promise<Headers>}
 */
async function openSession(connection) {
  const opening = JSON.stringify(initialize(newestHandshake));
  const { head, body } = await exchange(connection, requestBytes("POST", {}, opening));
  const id = /\r\nmcp-session-id: *(\S+)/i.exec(head)?.[1];
  const version = /"protocolVersion":"([^"]+)"/.exec(body)?.[1];
  if (id === undefined || version === undefined) throw new Error(`no session was opened: ${head} ${body}`);
  const headers = { "mcp-session-id": id, "mcp-protocol-version": version };
  await exchange(connection, requestBytes("POST", headers, JSON.stringify(initialized)));
  return headers;
}

/**
 * How a case is posted to a contestant that speaks that revision.
 * @param {Case} work
 * @param {string} revision
 * @returns {{ sample: (id: number) => Sample, headersOn: (connection: HttpConnection) => Promise<Headers> }}
 */
function termsOf(work, revision) {
  if (work.kind === "session") return { sample: add, headersOn: openSession };
  const [name, sample] = work.kind === "sse" ? ["add-and-tell", asTelling(add)] : ["add", add];
  const isStateless = revision === statelessVersion;
  const headers = {
    "mcp-protocol-version": revision,
    ...(isStateless ? { "mcp-method": "tools/call", "mcp-name": name } : {}),
  };
  return { sample: isStateless ? asStateless(sample) : sample, headersOn: async () => headers };
}

/** One connection, and what is posted on it over and over. */
class Lane {
  #connection;
  #requests;
  #next = 0;

  /**
   * @param {HttpConnection} connection
   * @param {readonly Buffer[]} requests
   */
  constructor(connection, requests) {
    this.#connection = connection;
    this.#requests = requests;
  }

  /** @param {(answer: Buffer) => void} answered */
  post(answered) {
    const request = /** @type {Buffer} */ (this.#requests[this.#next]);
    this.#next = (this.#next + 1) % this.#requests.length;
    this.#connection.send(request, answered);
  }
}

/**
 * Opens the lanes of a case, and looks at every answer once.
 * @param {Case} work
 * @param {number} port
 * @param {string} revision
 */
function openLanes(work, port, revision) {
  const { sample, headersOn } = termsOf(work, revision);
  const { inFlight: count = 1, pool } = work;
  const open = async (/** @type {number} */ first) => {
    const connection = new HttpConnection(port);
    const headers = await headersOn(connection);
    const requests = [];
    for (let id = first; id <= pool; id += count) {
      const message = sample(id);
      const request = requestBytes("POST", headers, message.text);
      const fault = faultIn(messageOf(work, await exchange(connection, request)), message);
      if (fault !== undefined) throw new Error(fault);
      requests.push(request);
    }
    return new Lane(connection, requests);
  };
  return Promise.all(Array.from({ length: count }, (_, index) => open(index + 1)));
}

/**
 * The answer in a body: JSON, or the last event of a stream, which must have told of progress before.
 * @param {Case} work
 * @param {{ head: string, body: string }} answer
 */
function messageOf(work, { head, body }) {
  if (work.kind === "sse" && !body.includes("notifications/progress")) throw new Error(`no progress: ${head} ${body}`);
  const data = body.lastIndexOf("data: ");
  return data === -1 || body.startsWith("{") ? body : body.slice(data + "data: ".length);
}

/**
 * Posts so many requests, the next one on a lane as soon as the one before is answered.
 * @param {readonly Lane[]} lanes
 * @param {number} count
 * @returns {Promise<void>}
 */
function post(lanes, count) {
  return new Promise((resolve, reject) => {
    let unsent = count;
    let unanswered = count;
    /** @param {Lane} lane */
    const next = (lane) => {
      if (unsent === 0) return;
      unsent -= 1;
      lane.post((answer) => {
        if (!isSuccess(answer)) reject(new Error(`refused: ${answer.toString("latin1")}`));
        unanswered -= 1;
        if (unanswered === 0) resolve();
        else next(lane);
      });
    };
    for (const lane of lanes) next(lane);
  });
}

/**
 * The cost of opening a session, and of each of many while it is held.
 * @param {ServerHost} host
 * @param {readonly HttpConnection[]} connections
 * @returns {Promise<Round>}
 */
async function holdSessions(host, connections) {
  const onEach = (/** @type {(connection: HttpConnection) => Promise<unknown>} */ work) =>
    Promise.all(connections.map(work));
  const end = requestBytes("DELETE", { "mcp-session-id": "none" });
  await onEach((connection) => exchange(connection, end)); // A connection that is opened later would count too.
  const empty = await host.cost("heap");
  const before = await host.cost();
  /** @type {Headers[]} */
  const sessions = [];
  await onEach(async (connection) => {
    for (let made = 0; made < heldSessions / connections.length; made += 1)
      sessions.push(await openSession(connection));
  });
  const after = await host.cost();
  // The sessions are not used; the connections are, or servers would close them.
  for (let waited = 0; waited < heldSeconds; waited += 1) {
    await setTimeout(1_000);
    await onEach((connection) => exchange(connection, end));
  }
  const full = await host.cost("heap");
  const [first] = connections;
  for (const headers of sessions)
    await exchange(/** @type {HttpConnection} */ (first), requestBytes("DELETE", headers));
  return {
    microseconds: (after.microseconds - before.microseconds) / sessions.length,
    bytes: (full.bytes - empty.bytes) / sessions.length,
  };
}

await takePart(async ({ work, contestant, core }) => {
  const host = await startServer("http", contestant, work.kind, core);
  const { serves, port = 0, revision = "" } = host.served;
  if (!serves) return {};
  const opened = { package: host.served.package };
  if (work.inFlight === undefined) {
    const connections = Array.from({ length: 50 }, () => new HttpConnection(port));
    return { ...opened, runRound: () => holdSessions(host, connections) };
  }
  const lanes = await openLanes(work, port, revision);
  const run = roundsOf(host, {
    // A server closes connections on which nothing happens, as while it waits for its round.
    ready: () => post(lanes, lanes.length),
    run: (count) => post(lanes, count),
  });
  return { ...opened, runRound: async () => ({ microseconds: (await run()).microseconds }) };
});
