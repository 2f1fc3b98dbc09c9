import { type AskedHeaders, statelessCall } from "../asked.js";
import type { Row } from "./row.js";

const call = (headers: AskedHeaders): Row["asked"] => statelessCall("echo", { text: "no" }, headers);

const hosts = [
  "evil.com",
  "localhost.evil.com",
  "localhost.",
  "127.0.0.1@evil.com",
  "evil.com#@localhost",
  "localhost/evil",
  "localhost evil.com",
  "localhost,evil.com",
  "localhost:80:80",
  "[::1",
  "[::1].evil.com",
  "0x7f.1",
  "127.0.0.1.nip.io",
];

const origins = [
  "https://evil.com",
  "null",
  "https://localhost.evil.com",
  "http://localhost@evil.com",
  "http://localhost, https://evil.com",
  "http://localhost://evil.com",
  "http://localhost/evil.com",
  "file://localhost",
  "localhost",
];

/** Requests that the name of the host or the origin of the page excludes (DNS rebinding). */
export const guardRows: readonly Row[] = [
  ...hosts.map((host) => ({
    name: `Host ${host}`,
    asked: call({ host }),
    status: 403,
    code: -32_600,
    says: "Host ",
  })),
  ...origins.map((origin) => ({
    name: `Origin ${origin}`,
    asked: call({ origin }),
    status: 403,
    code: -32_600,
    says:
      origin === "null" ? "may not call: open the page from a web server" : "may not call: name it in allowedOrigins",
  })),
  {
    name: "a Host and the Origin that is equal to it, both foreign",
    asked: call({ host: "evil.com", origin: "http://evil.com" }),
    status: 403,
    code: -32_600,
    says: "name it in allowedHosts",
  },
  {
    name: "a GET for a foreign Host",
    asked: ({ session }) => ({
      method: "GET",
      headers: { host: "evil.com", accept: "text/event-stream", "mcp-session-id": session },
    }),
    status: 403,
    code: -32_600,
  },
  {
    name: "a DELETE from a foreign page",
    asked: ({ session }) => ({ method: "DELETE", headers: { origin: "https://evil.com", "mcp-session-id": session } }),
    status: 403,
    code: -32_600,
  },
  {
    name: "the question of a foreign page whether it may call",
    asked: {
      method: "OPTIONS",
      headers: { origin: "https://evil.com", "access-control-request-method": "POST" },
    },
    status: 403,
    code: -32_600,
  },
];
