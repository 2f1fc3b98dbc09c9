import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { latest, latestHandshake } from "@parlance/mcp";
import { connect, textOf } from "@parlance/mcp/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// Next is installed by `npm ci --prefix examples/nextjs`; without it these tests are skipped.

const root = join(import.meta.dirname, "../..");
const folder = join(root, "examples/nextjs");
const next = join(folder, "node_modules/next/dist/bin/next");
const env = { ...process.env, NODE_ENV: "production" as const, NEXT_TELEMETRY_DISABLED: "1" };

test("the route handler is that of the guide", async () => {
  const guide = await readFile(join(root, "docs/guides/nextjs.md"), "utf8");
  const route = await readFile(join(folder, "app/mcp/route.ts"), "utf8");
  expect(guide).toContain(`\`\`\`typescript\n// app/mcp/route.ts\n${route}\`\`\`\n`);
});

describe.skipIf(!existsSync(next))("a route handler of Next", () => {
  let url = "";
  let stop = async (): Promise<void> => undefined;

  beforeAll(async () => {
    await rm(join(folder, ".next"), { recursive: true, force: true });
    await promisify(execFile)(process.execPath, [next, "build"], { cwd: folder, env });
    const child = spawn(process.execPath, [next, "start", "--hostname", "127.0.0.1", "--port", "0"], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(child, "close");
    stop = async () => {
      child.kill("SIGTERM");
      await closed;
    };
    for await (const line of createInterface({ input: child.stdout })) {
      const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (origin === undefined) continue;
      url = `${origin}/mcp`;
      child.stdout.resume();
      return;
    }
  }, 300_000);
  afterAll(() => stop(), 30_000);

  test.each([latest.version, latestHandshake.version])("calls a tool with progress in %s", async (revision) => {
    await using client = await connect(url, { revision });
    const steps: unknown[] = [];
    const onProgress = ({ message }: { readonly message?: string }): unknown => steps.push(message);
    expect(textOf(await client.tools.call("hour", {}, { onProgress }))).toBe("It is seven");
    expect(steps).toEqual(["looking"]);
  });

  test("refuses a page of another origin", async () => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, origin: "https://evil.example" },
      body: "{}",
    });
    expect(response.status).toBe(403);
  });
});
