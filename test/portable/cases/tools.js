import { bearerAuth } from "@parlance/mcp/auth";
import { bridgeTo } from "@parlance/mcp/bridge";
import { connect, HttpError, textOf } from "@parlance/mcp/client";
import { httpHandler } from "@parlance/mcp/http";
import { memoryChannels } from "@parlance/mcp/jsonrpc";
import { createServer, serveChannel } from "@parlance/mcp/server";
import {
  Conversation,
  compileFilter,
  describeVerdict,
  encodeEntry,
  parseFilter,
  readRecording,
  recordChannel,
  redact,
  violations,
} from "@parlance/wire";
import { equal, match } from "../check.js";
import { createSample } from "../server.js";
import { features, handlers } from "./features.js";

/** @import { Entry } from "@parlance/wire" */
/** @import { Case } from "../run.js" */

const eras = /** @type {const} */ (["2025-11-25", "2026-07-28"]);

/** Bridges, access tokens and recordings. @type {readonly Case[]} */
export const tools = [
  ...eras.flatMap((near) =>
    eras.map((far) => ({
      name: `bridge: a client of ${near} with a server of ${far}: tools and elicitation`,
      async run() {
        const server = createSample();
        const dial = () => {
          const [left, right] = memoryChannels();
          serveChannel(server, right);
          return left;
        };
        const bridge = bridgeTo(dial, { revision: far });
        const client = await connect(bridge, { revision: near, handlers });
        for (const { name, run } of features) if (name === "tools" || name === "elicitation") await run(client, near);
        await client.close();
        await bridge.close();
      },
    })),
  ),
  {
    name: "auth: a bearer token names the caller, and a request without one is refused",
    async run() {
      const server = createServer({ name: "notes", version: "1.0.0" });
      server.tool("whoami", {}, (_args, { auth }) => `${auth?.subject}`);
      const handler = httpHandler(server, {
        auth: bearerAuth({
          resource: "http://localhost/mcp",
          authorizationServers: ["https://login.example.com"],
          verify: (token) => (token === "a-token" ? { subject: "ada", scopes: [] } : undefined),
        }),
      });
      /** @type {(url: string | URL | Request, init?: RequestInit) => Promise<Response>} */
      const fetch = (url, init) => handler(new Request(url, init));
      const client = await connect("http://localhost/mcp", { fetch, headers: { authorization: "Bearer a-token" } });
      equal(textOf(await client.tools.call("whoami")), "ada");
      await client.close();
      const [refused] = await Promise.allSettled([connect("http://localhost/mcp", { fetch })]);
      equal(refused.status === "rejected" && refused.reason instanceof HttpError && refused.reason.status, 401);
    },
  },
  ...eras.map((revision) => ({
    name: `recordings: a conversation of ${revision} breaks no rule, and is the same when it is read again`,
    async run() {
      const entries = await record(revision);
      equal(violations(entries).map(describeVerdict), []);
      const read = readRecording(new TextEncoder().encode(entries.map((entry) => `${encodeEntry(entry)}\n`).join("")));
      equal(violations(read.entries).map(describeVerdict), []);
      equal(read.entries.length, entries.length);
    },
  })),
  {
    name: "recordings: a filter selects frames",
    async run() {
      const entries = await record("2025-11-25");
      const parsed = parseFilter("tool:echo");
      if (!parsed.ok) throw new Error("the filter is not understood");
      const isEcho = compileFilter(parsed.filter);
      const conversation = new Conversation();
      for (const entry of entries) conversation.push(entry);
      equal(conversation.rows.filter((row) => isEcho(row)).length, 2);
    },
  },
  {
    name: "recordings: credentials are covered",
    async run() {
      const { entries, covered } = redact(
        await record("2026-07-28", "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"),
      );
      match({ isCovered: covered > 0 }, { isCovered: true });
      equal(JSON.stringify(entries).includes("abcdefghijklmnopqrstuvwxyz"), false);
    },
  },
];

/**
 * The entries of a call of `echo`.
 *
 * @param {string} revision
 */
async function record(revision, text = "ünïque 🚂") {
  /** @type {Entry[]} */
  const entries = [];
  const [near, far] = memoryChannels();
  serveChannel(createSample(), far);
  const client = await connect(
    recordChannel(near, (entry) => entries.push(entry)),
    { revision },
  );
  await client.tools.call("echo", { text });
  await client.close();
  return entries;
}
