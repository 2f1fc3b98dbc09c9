import { initialize, notification, ping, request } from "../../../testing/frames.js";
import { sessionGet, sessionPost } from "../asked.js";
import type { Row } from "./row.js";

const stranger = "00000000-0000-4000-8000-000000000000";

/** Requests that need a session, and have none or a wrong one. */
export const sessionRows: readonly Row[] = [
  {
    name: "a request without a session",
    asked: { body: ping },
    status: 400,
    code: -32_600,
    says: "Mcp-Session-Id is missing",
  },
  {
    name: "a notification without a session",
    asked: { body: notification("notifications/initialized") },
    status: 400,
    code: -32_600,
  },
  {
    name: "a GET without a session",
    asked: { method: "GET", headers: { accept: "text/event-stream" } },
    status: 400,
    code: -32_600,
  },
  { name: "a DELETE without a session", asked: { method: "DELETE" }, status: 400, code: -32_600 },
  {
    name: "a request in no session",
    asked: sessionPost(stranger, ping),
    status: 404,
    code: -32_600,
    says: "there is no such session",
  },
  { name: "a GET of no session", asked: sessionGet(stranger), status: 404, code: -32_600 },
  {
    name: "a DELETE of no session",
    asked: { method: "DELETE", headers: { "mcp-session-id": stranger } },
    status: 404,
    code: -32_600,
  },
  {
    name: "the name of a session in another case",
    asked: ({ session }) => sessionPost(session.toUpperCase(), ping),
    status: 404,
    code: -32_600,
  },
  { name: "an empty name of a session", asked: sessionPost("", ping), status: 404, code: -32_600 },
  {
    name: "initialize in no session",
    asked: sessionPost(stranger, initialize("2025-11-25")),
    status: 404,
    code: -32_600,
  },
  {
    name: "a second initialize that cannot be answered",
    asked: ({ session }) => sessionPost(session, request(5, "initialize", {})),
    status: 200,
    code: -32_602,
    id: 5,
  },
  {
    name: "an unknown version",
    asked: ({ session }) => sessionPost(session, ping, { "mcp-protocol-version": "1900-01-01" }),
    status: 400,
    code: -32_600,
    says: "MCP-Protocol-Version is none of 2026-07-28",
  },
  {
    name: "a GET in an unknown version",
    asked: ({ session }) => sessionGet(session, { "mcp-protocol-version": "2025-11-25, 2025-11-25" }),
    status: 400,
    code: -32_600,
  },
  {
    name: "a DELETE in an unknown version",
    asked: ({ session }) => ({
      method: "DELETE",
      headers: { "mcp-session-id": session, "mcp-protocol-version": "x" },
    }),
    status: 400,
    code: -32_600,
  },
  {
    name: "an unknown method: in a session the status is 200",
    asked: ({ session }) => sessionPost(session, request(8, "acme/none")),
    status: 200,
    code: -32_601,
    id: 8,
  },
  ...["x", "0", "0-", "-1", "0-1-2", "0-99", "7-1", "0-1.5", "0-1e1", "0-%31", "00000000000000000-1", "0-1\t0"].map(
    (id) => ({
      name: `a Last-Event-ID that was never given: ${JSON.stringify(id)}`,
      asked: ({ session }: { readonly session: string }) => sessionGet(session, { "last-event-id": id }),
      status: 400,
      code: -32_600,
      says: "Last-Event-ID",
    }),
  ),
];
