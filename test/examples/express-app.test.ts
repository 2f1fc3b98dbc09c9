import { existsSync } from "node:fs";
import { join } from "node:path";
import { latest, latestHandshake } from "@parlance/mcp";
import { connect, textOf } from "@parlance/mcp/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Program } from "./program.js";

// The frameworks are installed by `npm ci --prefix examples/http-adapters`; without them these tests are skipped.

const folder = join(import.meta.dirname, "../../examples/http-adapters");
const isInstalled = existsSync(join(folder, "node_modules/express-session"));
const origin = "https://app.example.com";

describe.skipIf(!isInstalled)("an Express application with sessions, CORS, a body parser and MCP", () => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.start(process.execPath, ["--import", "tsx", "express-app.ts"], { cwd: folder });
  });
  afterAll(() => program?.[Symbol.asyncDispose]());

  function at(path: string): string {
    return new URL(path, program.line).href;
  }

  /** Signs a user in, and returns the cookie. */
  async function signIn(user: string): Promise<string> {
    const headers = { "content-type": "application/json" };
    const response = await fetch(at("/login"), { method: "POST", headers, body: JSON.stringify({ user }) });
    expect(await response.json()).toEqual({ user });
    return response.headers.getSetCookie().map((cookie) => cookie.split(";")[0])[0] ?? "";
  }

  test.each([latest.version, latestHandshake.version])(
    "calls tools as the user of the session in %s",
    async (revision) => {
      const [ada, bob] = [await signIn(`ada ${revision}`), await signIn(`bob ${revision}`)];
      const text = `Buy ${"milk ".repeat(40_000)}`; // Longer than the body parser of the application allows.
      await using client = await connect(program.line, { revision, headers: { cookie: ada } });
      expect(textOf(await client.tools.call("add_note", { text }))).toBe("Added");
      expect(await (await fetch(at("/notes"), { headers: { cookie: ada } })).json()).toEqual([text]);
      expect(await (await fetch(at("/notes"), { headers: { cookie: bob } })).json()).toEqual([]);
    },
  );

  test("answers calls without a user with 401, as its own routes do", async () => {
    await expect(connect(program.line)).rejects.toThrow(/401/);
    expect((await fetch(at("/notes"))).status).toBe(401);
  });

  test("is open to its page, and closed to others", async () => {
    const asked = { "access-control-request-method": "POST", "access-control-request-headers": "mcp-protocol-version" };
    const preflight = await fetch(program.line, { method: "OPTIONS", headers: { origin, ...asked } });
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("mcp-protocol-version");
    const cookie = await signIn("eve");
    const calls = {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json", accept: "*/*", cookie },
    };
    const ours = await fetch(program.line, { ...calls, headers: { ...calls.headers, origin } });
    expect(ours.status).toBe(400);
    expect(ours.headers.get("access-control-expose-headers")).toContain("mcp-session-id");
    expect(ours.headers.get("access-control-allow-credentials")).toBe("true");
    const foreign = await fetch(program.line, {
      ...calls,
      headers: { ...calls.headers, origin: "https://evil.example" },
    });
    expect(foreign.status).toBe(403);
  });

  test("ends when it is asked to", async () => {
    await using other = await Program.start(process.execPath, ["--import", "tsx", "express-app.ts"], { cwd: folder });
    expect(await other.end()).toBe("");
  });
});
