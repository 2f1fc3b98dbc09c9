import { randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type Connection, openConnection } from "@parlance/mcp/jsonrpc";
import { webSocketUpgrade } from "@parlance/mcp/websocket";
import { pageProtocol, tokenPrefix } from "@parlance/web/protocol";
import { PageService, type Shown } from "./page-service.js";

/** The page, and the recordings that it shows. */
export interface PageServer {
  /** The address of the page. The token is in its fragment, which browsers do not send. */
  readonly url: string;
  close(): Promise<void>;
}

const types = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

/** The files of the page, all small and not secret. */
const files: ReadonlyMap<string, readonly [type: string, name: string]> = new Map([
  ["/", [types.html, "index.html"]],
  ["/page.js", [types.js, "page.js"]],
  ["/act-panel.js", [types.js, "act-panel.js"]],
  ["/later-panels.js", [types.js, "later-panels.js"]],
  ["/page.css", [types.css, "page.css"]],
]);

/** https://owasp.org/www-project-secure-headers */
const headers = {
  "cache-control": "no-cache",
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** The most connections, with and without the token: other users of this machine can connect too. A page needs two. */
const mostConnections = 256;

/** Serves the page on a port of this machine. Rejects if it cannot listen. */
export async function servePage(shown: Shown, port: number): Promise<PageServer> {
  const token = randomBytes(32).toString("base64url");
  const server = createServer((request, response) => {
    if (!isOwn(request)) return void response.writeHead(403, headers).end();
    const path = (request.url ?? "/").replace(/\?.*$/s, "");
    if (path === "/") shown.interception?.load();
    answer(path, request.method, response);
  });
  server.maxConnections = mostConnections;
  const upgrade = webSocketUpgrade(
    (channel) => {
      const page = new PageService(shown, () => connection);
      const connection: Connection = openConnection(channel, {
        handle: page.service.call,
        exactNumbers: true,
      });
      void connection.closed.then(() => page.close());
      return connection;
    },
    {
      protocol: pageProtocol,
      path: "/connection",
      auth: ({ header }) => {
        const given = (header("sec-websocket-protocol") ?? "").split(",").map((each) => each.trim());
        return given.some((each) => isSame(each, tokenPrefix + token)) ? { principal: "page" } : undefined;
      },
    },
  );
  server.on("upgrade", (request, socket, head) => {
    if (isOwn(request)) upgrade(request, socket, head);
    else {
      // Node leaves the socket to this listener: an error without a handler would end the process, and `end` closes one half only.
      socket.on("error", () => socket.destroy());
      socket.once("finish", () => socket.destroy());
      socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: bound } = server.address() as AddressInfo; // A TCP server has an address with a port.
  return {
    url: `http://127.0.0.1:${bound}/#token=${token}`,
    async close() {
      server.close();
      await upgrade.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Whether a request comes from the page itself or a program of this machine. The host is checked against DNS rebinding, and the
 * origin against pages of other local servers.
 */
function isOwn({ headers: { host = "", origin }, socket }: IncomingMessage): boolean {
  const hosts = ["127.0.0.1", "localhost"].map((name) => `${name}:${socket.localPort}`);
  return hosts.includes(host) && (origin === undefined || origin === `http://${host}`);
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function answer(path: string, method: string | undefined, response: ServerResponse): void {
  const file = files.get(path);
  if (method !== "GET" && method !== "HEAD") response.writeHead(405, { ...headers, allow: "GET, HEAD" }).end();
  else if (file === undefined) response.writeHead(404, headers).end();
  else {
    const [type, name] = file;
    const content = readFileSync(fileURLToPath(new URL(`page/${name}`, import.meta.url)));
    response.writeHead(200, { ...headers, "content-type": type }).end(method === "HEAD" ? undefined : content);
  }
}
