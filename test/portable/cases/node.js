import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jwtAuth } from "@parlance/mcp/auth";
import { connect, textOf } from "@parlance/mcp/client";
import { connectStdio, serveHttp, serveTcp, tcpChannel } from "@parlance/mcp/node";
import { revisions } from "@parlance/mcp/protocol";
import { createServer } from "@parlance/mcp/server";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { equal, match, rejects } from "../check.js";
import { overTransport } from "./sessions.js";

/** @import { ConnectOptions } from "@parlance/mcp/client" */
/** @import { Case, Platform } from "../run.js" */
/** @import { Transport } from "./sessions.js" */

const needs = /** @type {const} */ ("Node's modules");

/** @type {readonly Transport[]} */
const transports = [
  {
    name: "stdio, a child process",
    needs,
    open: (_server, platform) => ({ connect: (options) => start(platform, options) }),
  },
  {
    name: "node:http",
    needs,
    async open(server) {
      const http = await serveHttp(server, { legacySse: true });
      return { connect: (options) => connect(http.url, options), close: () => http.close() };
    },
  },
  {
    name: "TCP",
    needs,
    async open(server) {
      const tcp = await serveTcp(server, { port: 0 });
      return { connect: (options) => connect(tcpChannel(tcp.address), options), close: () => tcp.close() };
    },
  },
  {
    name: "a Unix socket",
    needs,
    async open(server) {
      const folder = await mkdtemp(join(tmpdir(), "portable-"));
      const path = join(folder, "mcp.sock");
      const listening = await serveTcp(server, { path });
      return {
        connect: (options) => connect(tcpChannel({ path }), options),
        async close() {
          await listening.close();
          await rm(folder, { recursive: true });
        },
      };
    },
  },
  {
    name: "the package ws",
    needs,
    async open(server) {
      const listener = await serveWebSocket(server, { port: 0 });
      return {
        connect: (options) => connect(nodeWebSocketChannel(listener.url), options),
        close: () => listener.close(),
      };
    },
  },
];

const curve = { name: "ECDSA", namedCurve: "P-256" };
const signing = { name: "ECDSA", hash: "SHA-256" };

/** @param {object} part */
function encoded(part) {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

/** @type {readonly Case[]} */
export const node = [
  ...revisions.flatMap(({ version }) => transports.map((transport) => overTransport(transport, version))),
  {
    name: "stdio: a server that exits ends the connection",
    needs,
    async run(platform) {
      const client = await start(platform, {});
      await rejects(client.call("sample/exit"), { name: "LocalError", reason: "closed" });
      match(await client.closed, { reason: "failed" });
    },
  },
  {
    name: "stdio: the server process ends with its client",
    needs,
    async run(platform) {
      const client = await start(platform, {});
      const { pid } = /** @type {{ pid: number }} */ (await client.call("sample/pid"));
      equal(isRunning(pid), true);
      await client.close();
      equal(isRunning(pid), false);
    },
  },
  {
    name: "auth: a signed token is verified with the keys of its issuer",
    needs,
    async run() {
      const { publicKey, privateKey } = await crypto.subtle.generateKey(curve, true, ["sign", "verify"]);
      const key = { ...(await crypto.subtle.exportKey("jwk", publicKey)), kid: "1", alg: "ES256" };
      const issuer = createHttpServer((_request, response) => {
        response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: [key] }));
      });
      await once(issuer.listen(0, "127.0.0.1"), "listening");
      const address = issuer.address();
      const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`;

      const server = createServer({ name: "notes", version: "1.0.0" });
      server.tool("whoami", {}, (_args, { auth }) => `${auth?.subject}`);
      const audience = "http://localhost/mcp";
      const http = await serveHttp(server, { auth: jwtAuth({ issuer: origin, audience, jwksUri: `${origin}/keys` }) });
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: origin, aud: audience, sub: "ada", iat: now, exp: now + 600 };
      const signed = [{ alg: "ES256", typ: "at+jwt", kid: "1" }, claims].map(encoded).join(".");
      const signature = await crypto.subtle.sign(signing, privateKey, new TextEncoder().encode(signed));
      const token = `${signed}.${Buffer.from(signature).toString("base64url")}`;
      const client = await connect(http.url, { headers: { authorization: `Bearer ${token}` } });
      equal(textOf(await client.tools.call("whoami")), "ada");
      await client.close();
      const altered = `${signed}.${Buffer.from(signature).fill(1, 0, 4).toString("base64url")}`;
      await rejects(connect(http.url, { headers: { authorization: `Bearer ${altered}` } }), { status: 401 });
      await http.close();
      issuer.close();
    },
  },
];

/**
 * @param {Platform} platform
 * @param {ConnectOptions} options
 */
function start({ command: [command, ...args] = [""] }, options) {
  const program = new URL("../programs/stdio-server.js", import.meta.url).pathname;
  return connectStdio({ command, args: [...args, program] }, options);
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // There is no such process.
  }
}
