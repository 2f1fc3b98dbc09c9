import { devAuth } from "@parlance/mcp/auth";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";

/** Two users: ada may do everything, bob may only read. In production, `jwtAuth` and a real authorization server take this place. */
export const auth = devAuth({
  users: ["ada", { name: "bob", scopes: ["notes:read"] }],
  scopes: ["notes:read"], // what every request needs
});

/** The protected server. Its authorization server is at the same origin. */
export async function serveNotes() {
  /** @type {Map<string, string[]>} */
  const notes = new Map();
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("list_notes", {}, (_, { auth: caller }) => {
    const own = notes.get(caller?.subject ?? "") ?? [];
    return `${own.length} notes of ${caller?.subject}${own.map((each) => `, ${each}`).join("")}`;
  });
  server.tool(
    "add_note",
    {
      scopes: ["notes:write"],
      inputSchema: { type: "object", properties: { text: { type: "string" } } },
    },
    ({ text }, { auth: caller }) => {
      const subject = caller?.subject ?? "";
      notes.set(subject, [...(notes.get(subject) ?? []), String(text)]);
      return `added for ${subject}`;
    },
  );
  return serveHttp(server, { auth });
}
