import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { parlance, toolsServer } from "../../cli/run.js";
import { Scratch } from "../../cli/scratch.js";
import { PageClient } from "../../web/page-client.js";
import { ServedPage, ServedRun } from "../../web/served-page.js";

/** A page with a recording. */
async function served(folder: Scratch): Promise<ServedPage> {
  const path = folder.at("run.parlance.jsonl");
  expect(await parlance(["run", "--once", "--record", path, ...toolsServer])).toMatchObject({ code: 0 });
  return ServedPage.open(path);
}

async function dialed(at: ServedPage): Promise<Socket> {
  const socket = connect({ port: Number(new URL(at.origin).port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined); // The close follows.
  await once(socket, "connect");
  return socket;
}

/** What a page of another site sends for `new WebSocket("ws://127.0.0.1:…")`. */
const foreignUpgrade = [
  "GET /connection HTTP/1.1",
  "Host: evil.example",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
  "\r\n",
].join("\r\n");

describe("A19: strangers at the page of the command", () => {
  test("cannot end it by resetting the connection of a refused upgrade", async () => {
    using folder = new Scratch();
    await using page = await served(folder);
    for (let time = 0; time < 100; time += 1) {
      const socket = await dialed(page);
      socket.write(foreignUpgrade);
      socket.resetAndDestroy();
      await once(socket, "close");
    }
    expect((await fetch(page.origin)).status).toBe(200);
  });

  test("cannot keep the connection of a refused upgrade open", async () => {
    using folder = new Scratch();
    await using page = await served(folder);
    const socket = await dialed(page);
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    socket.write(foreignUpgrade);
    await once(socket, "end");
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
    // A socket that the server only half closes takes these bytes for ever.
    await new Promise((resolve) => {
      const write = (): void => {
        socket.write("x", (error) => (error ? resolve(error) : setImmediate(write)));
      };
      write();
    });
  });

  test("have 256 connections in all, and those that there are go on", async () => {
    using folder = new Scratch();
    await using page = await served(folder);
    const first = await dialed(page);
    const others: Socket[] = [];
    let ended = 0;
    const areEnded = new Promise<void>((resolve) => {
      const end = (): void => {
        ended += 1;
        if (ended === 300 - 256) resolve();
      };
      for (let count = 1; count < 300; count += 1) {
        const socket = connect(Number(new URL(page.origin).port), "127.0.0.1");
        others.push(socket.on("error", () => undefined).on("close", end));
      }
    });
    await areEnded;
    first.write(`HEAD / HTTP/1.1\r\nHost: ${new URL(page.origin).host}\r\n\r\n`);
    expect(String((await once(first, "data"))[0])).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of [first, ...others]) socket.destroy();
  });
});

/** Sends 2,000 notifications that its tools have changed during one call, and counts how often they are listed. */
const restless = `
import { createInterface } from "node:readline";
let lists = 0;
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const tool = { name: "lists", inputSchema: { type: "object" } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "initialize") {
    const capabilities = { tools: { listChanged: true } };
    const serverInfo = { name: "restless", version: "1" };
    send({ id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
  }
  if (method === "tools/list") {
    lists += 1;
    setTimeout(() => send({ id, result: { tools: [tool] } }), 20);
  }
  if (method !== "tools/call") return;
  for (let time = 0; time < 2_000; time += 1) send({ method: "notifications/tools/list_changed" });
  // The client has read all of them when it answers this.
  send({ id: "over", method: "ping" });
  process.once("over", () => send({ id, result: { content: [{ type: "text", text: String(lists) }] } }));
}).on("line", (line) => {
  if (JSON.parse(line).id === "over") process.emit("over");
});
`;

test("A19: a server whose lists change all the time is asked for them one after the other", async () => {
  using folder = new Scratch();
  const path = folder.at("restless.mjs");
  writeFileSync(path, restless);
  await using run = await ServedRun.open(["--revision", "2025-11-25", "--", process.execPath, path], folder);
  await using client = await PageClient.open(run.url);
  const counted = async (): Promise<number> => {
    const key = await client.call("request", { method: "tools/call", params: { name: "lists" } });
    const result = await client.call("result", { key });
    const { json = "" } = result as { readonly json?: string };
    return Number(JSON.parse(json).content[0].text);
  };
  while ((await client.call("acting", {}))?.phase !== "open");
  await counted();
  expect(await counted()).toBeLessThan(20);
});
