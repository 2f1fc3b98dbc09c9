import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readRecording } from "@parlance/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonLines, parlance, startInForm } from "../../run.js";
import { Scratch } from "../../scratch.js";

/** A server that answers with three events, whatever it is asked. */
let server: Server;
let asked = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on("end", () => {
      asked += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(["one", "two", "three"].map((text) => `data: ${text}\n\n`).join(""));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterAll(() => server.close());

const call = (name: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });

/** The frames that passed a proxy with a fault, and its recording. */
async function through(
  fault: string,
  name: string,
): Promise<{ text: string; status: number; rules: readonly unknown[]; retryAfter: string | null }> {
  using scratch = new Scratch();
  const recording = scratch.at("run.parlance.jsonl");
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const proxy = startInForm([
    "proxy",
    "--json",
    "--target",
    target,
    "--listen",
    "127.0.0.1:0",
    "--record",
    recording,
    "--fault",
    fault,
  ]);
  const [{ url } = {}] = jsonLines(await proxy.firstLine);
  let text = "";
  const response = await fetch(String(url), { method: "POST", body: call(name) }).catch(() => undefined);
  try {
    for await (const chunk of response?.body ?? []) text += new TextDecoder().decode(chunk);
  } catch {
    text += "(broken off)";
  }
  proxy.interrupt();
  await proxy.ended;
  const { entries } = readRecording(readFileSync(recording));
  const rules = entries.flatMap((entry) =>
    entry.k === "r" ? [[entry.fault, entry.of === undefined ? "set" : "applied"]] : [],
  );
  return { text, status: response?.status ?? 0, rules, retryAfter: response?.headers.get("retry-after") ?? null };
}

test("a matching request gets the status, and the server does not receive it", async () => {
  const before = asked;
  const fault = "tool:busy => http 429 retry-after 2";
  expect(await through(fault, "busy")).toEqual({
    text: "",
    status: 429,
    retryAfter: "2",
    rules: [
      [fault, "set"],
      [fault, "applied"],
    ],
  });
  expect(asked).toBe(before);
  expect(await through(fault, "other")).toMatchObject({
    status: 200,
    text: expect.stringContaining("three"),
    rules: [[fault, "set"]],
  });
});

test("a stream is cut after the given number of events", async () => {
  const { status, text } = await through("tool:busy => sse-cut after 2", "busy");
  expect(status).toBe(200);
  expect(text).toBe("data: one\n\ndata: two\n\n(broken off)");
});

test("a connection is closed in the place of an answer", async () => {
  expect(await through("tool:busy => close", "busy")).toMatchObject({ status: 0, text: "" });
});

test("what a proxy cannot do to an exchange is refused", async () => {
  const args = ["proxy", "--target", "http://127.0.0.1:1/mcp", "--fault", "tool:x => exit 3"];
  const { code, stderr } = await parlance(args);
  expect(stderr).toContain("exit is no fault of http");
  expect(code).toBe(1);
});
