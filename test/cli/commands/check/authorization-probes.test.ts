import { bearerAuth, jwtAuth } from "@parlance/mcp/auth";
import { nodeHandler } from "@parlance/mcp/node";
import { revisionOf } from "@parlance/mcp/protocol";
import { createServer } from "@parlance/mcp/server";
import { expect, onTestFinished, test } from "vitest";
import { type Claims, type Issuer, startIssuer } from "../../../auth/authorization-server.js";
import { plainHttp } from "../../plain-http.js";
import { jsonLines, parlance } from "../../run.js";
import { RawServer } from "./probe-server.js";
import { protectedServer } from "./protected-probe-server.js";

interface Probed {
  readonly id: string;
  readonly is: string;
  readonly says?: string;
  readonly why?: string;
  readonly doubt?: string;
  readonly level: string;
  readonly sentence: string;
  readonly spec: string;
}

interface Examined {
  readonly passed: boolean;
  readonly revisions: readonly {
    readonly version: string;
    readonly spoken: boolean;
    readonly probes: readonly Probed[];
  }[];
}

/** The exit code of `parlance check`, and its findings on the authorization of a server in each revision. */
async function check(url: string, words: readonly string[] = [], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await parlance(["check", "--json", "--timeout", "20s", ...words, url], env);
  const [value] = jsonLines(stdout);
  const { passed, revisions } = value as unknown as Examined; // Its own output, asserted on below.
  const found = new Map(
    revisions.map(({ version, probes }) => [version, probes.filter(({ id }) => id.startsWith("XA-"))]),
  );
  return { code, stderr, passed, found };
}

/** A protected server of the library, whose tool needs a scope that no token has. */
async function startNotes(): Promise<{ readonly url: string; readonly token: (claims?: Claims) => Promise<string> }> {
  const issuer: Issuer = await startIssuer();
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("list", { annotations: { readOnlyHint: true }, scopes: ["notes", "notes:list"] }, () => "none");
  let handler: ReturnType<typeof nodeHandler> | undefined;
  const http = await plainHttp((request, response) => handler?.(request, response));
  handler = nodeHandler(server, { auth: jwtAuth({ issuer: issuer.url, audience: http.url, scopes: ["notes"] }) });
  onTestFinished(async () => {
    handler?.close();
    await http[Symbol.asyncDispose]();
  });
  return { url: http.url, token: (claims) => issuer.token({ aud: http.url, ...claims }) };
}

test("a protected server of the library passes every probe of its authorization, in every revision", async () => {
  const { url, token } = await startNotes();
  const env = {
    TOKEN: `Bearer ${await token()}`,
    FOREIGN: await token({ aud: "https://other.example/mcp" }),
    OTHER: await token({ sub: "bob" }),
  };
  const given = ["--header-env", "Authorization=TOKEN"];
  const refused = ["--foreign-token-env", "FOREIGN", "--other-token-env", "OTHER"];
  const { code, found, stderr } = await check(url, [...given, ...refused], env);
  expect(code, stderr).toBe(0);
  const ids = [...found].map(([version, probes]) => [version, probes.map(({ id }) => id.slice(3)).join(" ")]);
  expect(Object.fromEntries(ids)).toEqual({
    "2024-11-05": "",
    "2025-03-26": "",
    "2025-06-18": "1 2 3 4 5 6 7 8 10",
    "2025-11-25": "1 2 3 4 5 6 7 8 9 10",
    "2026-07-28": "1 2 3 4 5 6 7 8 9 11",
  });
  expect([...found.values()].flat().filter(({ is }) => is !== "passed")).toEqual([]);
});

test("without a token only the authorization is examined, by the newest revision, and the command says so", async () => {
  const { url } = await startNotes();
  const { code, found, stderr } = await check(url);
  expect(code).toBe(3);
  expect(stderr).toContain(`${url} requires a token: only its authorization was examined`);
  expect(stderr).toContain(`parlance login ${url}, or for machines --bearer-env TOKEN`);
  expect([...found].flatMap(([version, probes]) => (probes.length > 0 ? [version] : []))).toEqual(["2026-07-28"]);
  const probes = found.get("2026-07-28") ?? [];
  expect(probes.filter(({ is }) => is === "passed").map(({ id }) => id)).toEqual([
    "XA-1",
    "XA-2",
    "XA-3",
    "XA-4",
    "XA-5",
    "XA-6",
    "XA-11",
  ]);
  expect(probes.find(({ id }) => id === "XA-7")).toMatchObject({
    is: "skipped",
    why: "--foreign-token-env gives none",
  });
});

test("a token that no probe can use is named, with the reason", async () => {
  const server = createServer({ name: "notes", version: "1.0.0" });
  const handler = nodeHandler(server, {
    auth: ({ header }) => (header("x-api-key") ? { principal: "ada" } : undefined),
  });
  await using http = await plainHttp(handler);
  const given = ["--header", "x-api-key: a", "--other-token-env", "OTHER", "--foreign-token-env", "OTHER"];
  const { stderr } = await parlance(["check", ...given, "--revision", "2025-11-25", http.url], { OTHER: "b" });
  handler.close();
  expect(stderr).toContain("! --other-token-env is not used: the server requires no token in Authorization\n");
  expect(stderr).toContain("! --foreign-token-env is not used: the server requires no token in Authorization\n");
});

test("without a token the text passes nothing that was not examined, and a failed probe does not hide the remedy", async () => {
  const { url } = await startNotes();
  expect((await parlance(["check", url])).stdout).toContain("\n! 0 revisions · ");
  // A key without an authorization server: XA-2 fails.
  const handler = nodeHandler(createServer({ name: "notes", version: "1.0.0" }), { auth: () => undefined });
  await using http = await plainHttp(handler);
  const { code, stdout, stderr } = await parlance(["check", "--timeout", "20s", http.url]);
  expect(code).toBe(2);
  expect(stdout).toContain("\n✖ 0 revisions · ");
  expect(stderr).toContain("→ authenticate: --bearer-env TOKEN sends the key or token in that variable");
  handler.close();
});

test("a token that the server refuses is named as the reason, and not the lack of one", async () => {
  const { url, token } = await startNotes();
  const env = { TOKEN: `Bearer ${await token({ aud: "https://other.example/mcp" })}` };
  const { code, stderr } = await check(url, ["--header-env", "Authorization=TOKEN"], env);
  expect(code).toBe(3);
  expect(stderr).toContain(`${url} refuses the token: only its authorization was examined`);
});

test("a 401 without a message is said to be one in each revision, however long the line", async () => {
  await using http = await plainHttp((_request, response) =>
    response.writeHead(401, { "content-type": "text/plain" }).end("who are you?"),
  );
  const { stdout } = await parlance(["check", "--timeout", "20s", http.url]);
  expect(stdout).toContain("2025-11-25  not examined: initialize got 401 Unauthorized, without a message\n");
  expect(stdout).toContain("2026-07-28  not examined: server/discover got 401 Unauthorized, without a message\n");
});

test("a server that accepts every token fails with the sentence that it breaks", async () => {
  let handler: ReturnType<typeof nodeHandler> | undefined;
  const http = await plainHttp((request, response) => handler?.(request, response));
  handler = nodeHandler(createServer({ name: "notes", version: "1.0.0" }), {
    auth: bearerAuth({
      resource: "https://mcp.example.com/mcp",
      authorizationServers: ["https://login.example.com"],
      verify: () => ({ subject: "anyone" }),
    }),
  });
  onTestFinished(async () => {
    handler?.close();
    await http[Symbol.asyncDispose]();
  });
  const { code, found } = await check(http.url, ["--revision", "2025-11-25"]);
  expect(code).toBe(2);
  const probes = new Map(found.get("2025-11-25")?.map((each) => [each.id, each]));
  expect(probes.get("XA-5")).toMatchObject({
    is: "failed",
    level: "must",
    sentence: "Invalid or expired tokens MUST receive a HTTP 401 response.",
    spec: "https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#token-handling",
  });
});

test("a server that does only what the sentences require fails no probe of its authorization", async () => {
  const revision = revisionOf("2025-11-25");
  if (revision === undefined) throw new Error("it is a revision");
  // Metadata at the well-known places only, which that revision allows, and challenges without an error.
  const quirk = protectedServer({ challenge: () => "Bearer" });
  await using http = await plainHttp(new RawServer(revision, quirk).listener);
  const header = ["--header", "Authorization: Bearer good"];
  const { found } = await check(http.url, ["--revision", "2025-11-25", ...header]);
  const failed = found.get("2025-11-25")?.filter(({ is }) => is === "failed");
  expect(failed).toMatchObject([{ id: "XA-6", level: "should" }]);
});

test("a server that requires no token is not examined for its authorization", async () => {
  const revision = revisionOf("2025-11-25");
  if (revision === undefined) throw new Error("it is a revision");
  await using http = await plainHttp(new RawServer(revision).listener);
  const { found } = await check(http.url, ["--revision", "2025-11-25"]);
  expect(new Set(found.get("2025-11-25")?.map(({ why }) => why))).toEqual(
    new Set(["the server requires no token in Authorization"]),
  );
});
