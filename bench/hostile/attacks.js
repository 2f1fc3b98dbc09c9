/**
 * The attacks of a hostile or broken client, repeated at the rate that its line says. Each attack gets the ports of a server
 * and runs until its process is killed; it comes from 127.0.0.1, while the victim calls from another address.
 */

import { connect } from "node:net";
import { initialize, initialized, newestHandshake, stateless, statelessVersion } from "../mcp.js";

/** @import { Socket } from "node:net" */

/** @typedef {{ http: number, tcp: number }} Ports */
/** @typedef {{ says: string, run: (ports: Ports) => void }} Attack */

const megabyte = 1024 * 1024;

/**
 * A request of the stateless revision.
 * @param {number | string} id
 * @param {string} method
 * @param {object} [params]
 */
const request = (id, method, params = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: stateless.requestMeta } });

/**
 * @param {number | string} id
 * @param {string} name
 * @param {object} [args]
 */
const call = (id, name, args = {}) => request(id, "tools/call", { name, arguments: args });

/**
 * A POST as bytes.
 * @param {string} body
 * @param {Readonly<Record<string, string | number>>} [headers]
 */
export function post(body, headers = {}) {
  const { method, params } = body.startsWith("{") ? JSON.parse(body) : { method: "", params: {} };
  const all = {
    host: "localhost",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(params?._meta === undefined
      ? {}
      : {
          "mcp-protocol-version": statelessVersion,
          "mcp-method": method,
          ...(params.name === undefined ? {} : { "mcp-name": params.name }),
        }),
    "content-length": Buffer.byteLength(body),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/**
 * A connection that is opened again about a second after it has closed. What comes back is read and thrown away.
 * @param {number} port
 * @param {(socket: Socket) => void} opened
 */
function keep(port, opened) {
  const socket = connect(port, "127.0.0.1");
  socket.on("connect", () => opened(socket));
  socket.on("error", () => undefined);
  socket.on("close", () => setTimeout(keep, 500 + 1_000 * Math.random(), port, opened));
  socket.resume();
}

/**
 * @param {number} perSecond
 * @param {() => void} act
 */
function repeat(perSecond, act) {
  act();
  setInterval(act, 1_000 / perSecond);
}

/**
 * One request on a connection of its own.
 * @param {number} port
 * @param {string} bytes
 */
function once(port, bytes) {
  const socket = connect(port, "127.0.0.1", () => socket.end(bytes));
  socket.on("error", () => undefined);
  socket.resume();
}

const handshake = JSON.stringify(initialize(newestHandshake));
const opened = JSON.stringify(initialized);
const listen = (/** @type {number} */ id) =>
  request(id, "subscriptions/listen", { notifications: { toolsListChanged: true } });

/** By the number of what they attack in docs/design/security.md. @type {Readonly<Record<string, Attack>>} */
export const attacks = {
  "A1 questions": {
    says: "50 calls a second of a tool that asks twice, by a client that cannot be asked",
    run: ({ http }) => repeat(50, () => once(http, post(call(1, "ask"), { connection: "close" }))),
  },
  "A3 unique items": {
    says: "0.9 MiB of objects that must all differ, once a second",
    run({ http }) {
      const items = Array.from({ length: 34_000 }, (_, index) => ({ index, even: index % 2 === 0 }));
      const bytes = post(call(1, "unique", { items }), { connection: "close" });
      repeat(1, () => once(http, bytes));
    },
  },
  "A4 waiting frames": {
    says: "frames of 3.8 MB behind 128 calls that do not end, as many as are taken",
    run({ tcp }) {
      const text = "x".repeat(3.8 * megabyte);
      keep(tcp, (socket) => {
        let id = 1;
        for (; id <= 128; id += 1) socket.write(`${call(id, "wait")}\n`);
        const more = () => {
          do id += 1;
          while (!socket.destroyed && socket.write(`${call(id, "wait", { text })}\n`));
        };
        socket.on("drain", more);
        more();
      });
    },
  },
  "A4 stalled bodies": {
    says: "300 bodies of 4 MB that stop before their last byte",
    run({ http }) {
      const bytes = post(call(1, "add", { text: "x".repeat(3.9 * megabyte) })).slice(0, -1);
      for (let count = 0; count < 300; count += 1) keep(http, (socket) => void socket.write(bytes));
    },
  },
  "A5 listens": {
    says: "4,096 streams of subscriptions/listen",
    run({ http }) {
      for (let id = 0; id < 4_096; id += 1) keep(http, (socket) => void socket.write(post(listen(id))));
    },
  },
  "A5 idle connections": {
    says: "4,096 connections that say nothing",
    run({ http }) {
      for (let count = 0; count < 4_096; count += 1) keep(http, () => undefined);
    },
  },
  "A5 sessions": {
    says: "200 sessions opened a second",
    run: ({ http }) => repeat(200, () => once(http, post(handshake, { connection: "close" }))),
  },
  "A5 one connection": {
    says: "128 listens on each of 64 connections",
    run({ tcp }) {
      for (let count = 0; count < 64; count += 1) {
        keep(tcp, (socket) => {
          for (let id = 1; id <= 128; id += 1) socket.write(`${listen(id)}\n`);
        });
      }
    },
  },
  "A6 burst": {
    says: "64 MB of progress, asked for once every four seconds by a client that reads",
    run({ tcp }) {
      keep(tcp, (socket) => {
        socket.write(`${handshake}\n${opened}\n`);
        repeat(0.25, () => {
          const params = { name: "burst", arguments: {}, _meta: { progressToken: 1 } };
          socket.write(`${JSON.stringify({ jsonrpc: "2.0", id: Date.now(), method: "tools/call", params })}\n`);
        });
      });
    },
  },
  "A7 half-open peers": {
    says: "250 clients that subscribe, and then neither read nor close",
    run({ http }) {
      for (let id = 0; id < 250; id += 1) {
        keep(http, (socket) => {
          socket.write(post(listen(id)));
          socket.pause();
        });
      }
    },
  },
  "A8 oversized bodies": {
    says: "bodies of 5 MB, ten a second",
    run({ http }) {
      const bytes = post(call(1, "add", { text: "x".repeat(5 * megabyte) }), { connection: "close" });
      repeat(10, () => once(http, bytes));
    },
  },
};
