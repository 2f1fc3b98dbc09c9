import { chmod, readFile, writeFile } from "node:fs/promises";
import { readRecording } from "@parlance/wire";
import { expect, onTestFinished, test } from "vitest";
import { type SignInServer, startProtectedServer, startSignInServer } from "../../auth/client/protected-server.js";
import { parlance } from "../run.js";
import { Scratch } from "../scratch.js";
import { hasTerminals, inTerminal } from "../terminal.js";

/** A user whose browser approves at once, and whose tokens are kept in a folder of their own. */
async function newUser() {
  const scratch = new Scratch();
  onTestFinished(() => scratch[Symbol.dispose]());
  const browser = scratch.at("xdg-open");
  await writeFile(browser, `#!${process.execPath}\nfetch(process.argv[2]).then((page) => page.text());\n`);
  await chmod(browser, 0o755);
  const env = {
    PATH: `${scratch.path}:${process.env.PATH}`,
    PARLANCE_CREDENTIALS: scratch.at("credentials.json"),
  };
  return { scratch, env };
}

/** The exchanges of a recording: the method, the URL without its query, and the status. */
async function exchangesOf(path: string): Promise<readonly string[]> {
  const { entries } = readRecording(await readFile(path));
  const heads = entries.filter((entry) => entry.k === "h");
  return heads.flatMap(({ x, ph, method, url }) => {
    const { status } = heads.find((each) => each.x === x && each.ph === "res") ?? {};
    return ph === "req" ? [`${method} ${url?.replace(/\?.*$/, "")} ${status}`] : [];
  });
}

/** Everything that must not be seen of the sign-ins at an authorization server. */
function secretsOf({ seen, issued }: SignInServer): readonly string[] {
  const names = ["code", "code_verifier", "state", "refresh_token"];
  const sent = seen.flatMap(({ parameters }) => names.map((name) => parameters.get(name) ?? "CANARY"));
  return [...new Set([...sent, ...issued.keys(), "CANARY"])];
}

// The browser is started by the name that Linux has for it.
test.runIf(process.platform === "linux" && hasTerminals)(
  "a run of a protected URL records the sign-in after the response that began it, and its refresh, without secrets",
  async () => {
    await using issuer = await startSignInServer();
    await using server = await startProtectedServer(issuer);
    const { scratch, env } = await newUser();
    const first = scratch.at("first.parlance.jsonl");
    const { code, stdout } = await inTerminal(["run", "--once", "--call", "read", "--record", first, server.url], env)
      .ended;
    expect(stdout).toContain("read by ada");
    expect(code).toBe(0);
    const { origin } = new URL(server.url);
    const exchanges = await exchangesOf(first);
    const metadata = [
      `GET ${origin}/.well-known/oauth-protected-resource/mcp 200`,
      `GET ${issuer.url}/.well-known/oauth-authorization-server 200`,
    ];
    expect(exchanges).toEqual(
      expect.arrayContaining([
        "POST /mcp 401",
        ...metadata,
        `POST ${issuer.url}/register 201`,
        `POST ${issuer.url}/token 200`,
        "POST /mcp 200",
      ]),
    );
    expect(exchanges.indexOf("POST /mcp 401")).toBeLessThan(exchanges.indexOf(metadata[0] ?? ""));
    expect(exchanges.indexOf(`POST ${issuer.url}/token 200`)).toBeLessThan(exchanges.indexOf("POST /mcp 200"));

    issuer.expireAll();
    const second = scratch.at("second.parlance.jsonl");
    const again = await parlance(["run", "--once", "--call", "read", "--record", second, server.url], env);
    expect(again.stdout, again.stderr).toContain("read by ada");
    expect(await exchangesOf(second)).toContain(`POST ${issuer.url}/token 200`);
    expect(issuer.requests("/token").map(({ parameters }) => parameters.get("resource"))).toEqual([
      server.url,
      server.url,
    ]);

    const shown = await parlance(["tail", "--recording", second, "--no-follow"]);
    expect(shown.stdout).toContain(`${issuer.url}/token`);
    // The user opens the authorization request, which is printed and has the state.
    const printed = stdout.replaceAll(/^\s*http\S+\/authorize\?\S+$/gm, "");
    const seen = [printed, again.stdout, again.stderr, shown.stdout, await readFile(first, "utf8")].join("\n");
    const all = seen + (await readFile(second, "utf8"));
    expect(secretsOf(issuer).filter((each) => all.includes(each))).toEqual([]);
  },
);
