import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { devAuth, oauth, type TokenStore } from "@parlance/mcp/auth";
import { connect } from "@parlance/mcp/client";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, test } from "vitest";
import { UserAgent } from "../../../auth/user-agent.js";
import { RecordingFolder } from "../../../wire/recording/recording-folder.js";
import { parlance, startInForm } from "../../run.js";
import { Scratch } from "../../scratch.js";
import { headsOf } from "./proxied.js";

const redirectUrl = "http://127.0.0.1:33418/callback";
const secretParameters = ["state", "code", "code_verifier", "code_challenge", "refresh_token"];

/** Signs in through a proxy, refreshes the token, and collects every secret that crossed. */
async function signIn(server: string): Promise<ReadonlyMap<string, string>> {
  const secrets = new Map<string, string>();
  const collect = (parameters: URLSearchParams): void => {
    for (const name of secretParameters) if (parameters.has(name)) secrets.set(name, parameters.get(name) ?? "");
  };
  const store: TokenStore = {
    get: async () => undefined,
    async set(_, { tokens }) {
      secrets.set("access token", tokens?.accessToken ?? "");
      secrets.set("new refresh token", tokens?.refreshToken ?? "");
    },
    delete: async () => undefined,
    exclusive: (_, run) => run(),
  };
  const authorize = async (url: URL): Promise<string> => {
    collect(url.searchParams);
    const agent = new UserAgent();
    await agent.open(url, redirectUrl);
    const back = await agent.submit({ user: "ada" }, redirectUrl);
    if (back === undefined) throw new Error(agent.html);
    collect(back.searchParams);
    return back.href;
  };
  const auth = oauth({
    redirectUrl,
    authorize,
    store,
    fetch(url, init) {
      if (init.body instanceof URLSearchParams) collect(init.body);
      return fetch(url, init);
    },
  });
  await using client = await connect(server, { auth, reopen: false });
  await client.tools.call("read");
  return secrets;
}

const formats = ["html", "har", "otlp", "markdown", "curl", "jsonl", "junit", "sarif"];

test("no secret of a sign-in through the proxy is in its recording, its output, or anything that is made of it", async () => {
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("read", {}, () => "read");
  await using http = await serveHttp(server, { auth: devAuth({ users: ["ada"] }) });
  using folder = new RecordingFolder();
  const recording = join(folder.path, "proxy.parlance.jsonl");
  const proxy = startInForm([
    "proxy",
    "--target",
    http.url,
    "--listen",
    "127.0.0.1:0",
    "--record",
    recording,
    "--json",
  ]);
  const { url } = JSON.parse(await proxy.firstLine) as { url: string };
  const secrets = await signIn(url).finally(() => proxy.interrupt());
  const said = await proxy.ended;
  const found = new Set<string>();
  const search = (text: string): void => {
    for (const [name, secret] of secrets) {
      const written = [secret, encodeURIComponent(secret), btoa(secret)];
      if (written.some((each) => text.includes(each))) found.add(name);
    }
  };
  const entries = folder.read().flat();
  search(said.stdout + said.stderr + JSON.stringify(entries));
  using scratch = new Scratch();
  const copy = scratch.at("copy.parlance.jsonl");
  const commands = [
    ["tail", "--recording", recording, "--no-follow"],
    ["show", recording, "7"],
    ["check", recording, "--json"],
    ["redact", recording, "-o", copy],
    ...formats.map((format) => ["export", recording, "-T", format, "--no-redact"]),
  ];
  for (const words of commands) {
    const { code, stdout, stderr } = await parlance(words);
    expect({ code, words }, stderr).toEqual({ code: words[0] === "check" ? expect.any(Number) : 0, words });
    search(stdout + stderr);
  }
  search(await readFile(copy, "utf8"));
  expect([...found]).toEqual([]);
  // The secrets have crossed, and their names are there.
  expect([...secrets.values()].every((each) => each.length > 8)).toBe(true);
  expect([...secrets.keys()]).toEqual(expect.arrayContaining(["state", "code", "code_verifier", "access token"]));
  const authorization = headsOf(entries, "req").find(({ url }) => url?.includes("code_challenge="))?.url;
  expect(authorization).toMatch(/[?&]state=[█*]+/);
});
