import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, request } from "node:http";
import type { AddressInfo } from "node:net";
import { type Entry, readRecording } from "@parlance/wire";
import { expect, onTestFinished, test } from "vitest";
import { PageClient } from "../../../web/page-client.js";
import { start } from "../../run.js";
import { Scratch } from "../../scratch.js";
import { bodyOf } from "./proxied.js";

interface ProxyWithPage {
  readonly url: string;
  readonly page: PageClient;
  /** The bodies that the server got. */
  readonly got: readonly string[];
  /** Ends the proxy, and gives what it has recorded. */
  entries(): Promise<readonly Entry[]>;
}

/** Starts a server and a proxy with a breakpoint before it, and opens the page. */
async function proxyWithPage(folder: Scratch, answer: RequestListener, ...filters: string[]): Promise<ProxyWithPage> {
  const got: string[] = [];
  const server = createServer((asked, response) => {
    void bodyOf(asked).then((body) => {
      got.push(body.toString());
      answer(asked, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const path = folder.at("run.parlance.jsonl");
  const own = ["--listen", "127.0.0.1:0", "--record", path, ...filters.flatMap((filter) => ["--break", filter])];
  const proxy = start(["proxy", "--ui", "--json", "--target", target, ...own]);
  let errors = "";
  proxy.child.stderr?.on("data", (text: string) => {
    errors += text;
  });
  const { url } = JSON.parse(await proxy.firstLine) as { url: string };
  await proxy.untilError("#token=");
  const page = await PageClient.open(/http:\S+/.exec(errors)?.[0] ?? "");
  onTestFinished(async () => {
    await page[Symbol.asyncDispose]();
    proxy.interrupt();
    await proxy.ended;
    server.closeAllConnections();
    server.close();
  });
  await page.until(({ rules }) => rules.length === filters.length);
  return {
    url,
    page,
    got,
    entries: async () => {
      proxy.interrupt();
      await proxy.ended;
      return readRecording(readFileSync(path)).entries;
    },
  };
}

const ask = (id: number, method = "tools/list"): string => JSON.stringify({ jsonrpc: "2.0", id, method });
const told = (id: number, text = ""): string => JSON.stringify({ jsonrpc: "2.0", id, result: { text } });

const inJson: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-type": "application/json" }).end(told(1, "of the server"));
};

const frames = (entries: readonly Entry[]): readonly unknown[] =>
  entries.flatMap((entry) => (entry.k === "f" ? [[entry.d, entry.raw, entry.by]] : []));
const fates = (entries: readonly Entry[]): readonly unknown[] =>
  entries.flatMap((entry) => (entry.k === "r" && entry.of !== undefined ? [entry.did ?? entry.fault] : []));
const frameNumbers = (entries: readonly Entry[]): readonly number[] =>
  entries.flatMap((entry) => (entry.k === "f" ? [entry.n] : []));
const originals = (entries: readonly Entry[]): readonly (number | undefined)[] =>
  entries.flatMap((entry) => (entry.k === "f" ? [entry.of] : []));

function post(url: string, body: string): Promise<string> {
  return fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } }).then((response) =>
    response.text(),
  );
}

test("a request is held, changed, and sent with its length", async () => {
  using folder = new Scratch();
  const { url, page, got, entries } = await proxyWithPage(folder, inJson, "dir:c2s");
  const answered = post(url, ask(1));
  const { held } = await page.until((state) => state.held.length === 1);
  expect(held[0]).toMatchObject({ kind: "request", isAnswerable: true, method: "tools/list", id: "1" });
  expect(got).toEqual([]);
  const changed = ask(1, "prompts/list of another length");
  await page.call("release", { key: held[0]?.key ?? -1, fate: { did: "change", text: changed } });
  expect(await answered).toBe(told(1, "of the server"));
  expect(got).toEqual([changed]);
  const recorded = await entries();
  expect(frames(recorded)).toEqual([
    ["c2s", ask(1), undefined],
    ["c2s", changed, "mutate"],
    ["s2c", told(1, "of the server"), undefined],
  ]);
  expect(originals(recorded)).toEqual([undefined, frameNumbers(recorded)[0], undefined]);
  expect(fates(recorded)).toEqual(["hold", "change"]);
});

test("a request is answered by hand, and another one dropped: the server gets neither", async () => {
  using folder = new Scratch();
  const { url, page, got, entries } = await proxyWithPage(folder, inJson, "kind:req");
  const answered = post(url, ask(1));
  const first = await page.until((state) => state.held.length === 1);
  await page.call("release", { key: first.held[0]?.key ?? -1, fate: { did: "answer", text: told(1, "by hand") } });
  expect(await answered).toBe(told(1, "by hand"));
  const dropped = request(url, { method: "POST" });
  const closed = new Promise((resolve) => dropped.once("close", resolve));
  dropped.on("error", () => undefined);
  dropped.end(ask(2));
  const second = await page.until((state) => state.held.length === 1 && state.held[0]?.id === "2");
  await page.call("release", { key: second.held[0]?.key ?? -1, fate: { did: "drop" } });
  await page.until((state) => state.held.length === 0);
  dropped.destroy();
  await closed;
  expect(got).toEqual([]);
  const recorded = await entries();
  expect(frames(recorded)).toEqual([
    ["c2s", ask(1), undefined],
    ["s2c", told(1, "by hand"), "inject"],
    ["c2s", ask(2), undefined],
  ]);
});

test("a response is held and changed", async () => {
  using folder = new Scratch();
  const { url, page, entries } = await proxyWithPage(folder, inJson, "kind:res");
  const answered = post(url, ask(1));
  const { held } = await page.until((state) => state.held.length === 1);
  expect(held[0]).toMatchObject({ from: "server", kind: "response", isAnswerable: false, method: "tools/list" });
  await page.call("release", { key: held[0]?.key ?? -1, fate: { did: "change", text: told(1, "changed on its way") } });
  expect(await answered).toBe(told(1, "changed on its way"));
  expect(frames(await entries())).toEqual([
    ["c2s", ask(1), undefined],
    ["s2c", told(1, "of the server"), undefined],
    ["s2c", told(1, "changed on its way"), "mutate"],
  ]);
});

const note = (text: string): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { text } });

test("an event of a stream is held while others go on, and the stream ends after it", async () => {
  using folder = new Scratch();
  const inEvents: RequestListener = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end([note("one"), note("two"), told(1)].map((text, id) => `id: ${id}\ndata: ${text}\n\n`).join(""));
  };
  const { url, page } = await proxyWithPage(folder, inEvents, "one", "kind:res");
  const answered = post(url, ask(1));
  const { held } = await page.until((state) => state.held.length === 2);
  expect(held.map(({ kind }) => kind)).toEqual(["notification", "response"]);
  const [first, last] = held.map(({ key }) => key);
  await page.call("release", { key: first ?? -1, fate: { did: "change", text: note("changed") } });
  await page.call("release", { key: last ?? -1, fate: { did: "send" } });
  expect(await answered).toBe(
    `id: 1\ndata: ${note("two")}\n\nid: 0\ndata: ${note("changed")}\n\nid: 2\ndata: ${told(1)}\n\n`,
  );
});

test("a stream that began before the breakpoint is held from the next event on, and its bytes stay", async () => {
  using folder = new Scratch();
  const writes = [": hello\n\ndata: on", "e\r\n\r\n", `data: ${note("held")}\n\n`];
  let next = (): void => undefined;
  const inEvents: RequestListener = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    next = () => {
      const text = writes.shift();
      if (text === undefined) response.end();
      else response.write(text);
    };
    next();
  };
  const { url, page } = await proxyWithPage(folder, inEvents);
  const response = await fetch(url, { method: "POST", body: ask(1) });
  let text = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const until = async (words: string): Promise<void> => {
    while (!text.includes(words)) text += (await reader?.read())?.value ?? "";
  };
  await until("on");
  await page.call("setRules", { rules: [{ kind: "break", text: "held", isOn: true }] });
  next();
  await until("one\r\n\r\n");
  next();
  const { held } = await page.until((state) => state.held.length === 1);
  await page.call("release", { key: held[0]?.key ?? -1, fate: { did: "send" } });
  next();
  await until(`data: ${note("held")}\n\n`);
  expect(text).toBe(`: hello\n\ndata: one\r\n\r\ndata: ${note("held")}\n\n`);
});

test("when the client goes, its held request is let go, and the server does not get it", async () => {
  using folder = new Scratch();
  const { url, page, got, entries } = await proxyWithPage(folder, inJson, "kind:req");
  const sent = request(url, { method: "POST" });
  sent.on("error", () => undefined);
  sent.end(ask(1));
  await page.until((state) => state.held.length === 1);
  sent.destroy();
  await page.until((state) => state.held.length === 0);
  expect(got).toEqual([]);
  expect(fates(await entries())).toEqual(["hold", "send"]);
});

test("a fault of the page is switched on and off", async () => {
  using folder = new Scratch();
  const { url, page } = await proxyWithPage(folder, inJson);
  const fault = { kind: "fault", text: "method:tools/list => http 503", isOn: true } as const;
  const status = async (): Promise<number> => (await fetch(url, { method: "POST", body: ask(1) })).status;
  expect(await status()).toBe(200);
  await page.call("setRules", { rules: [fault] });
  expect(await status()).toBe(503);
  await page.call("setRules", { rules: [{ ...fault, isOn: false }] });
  expect(await status()).toBe(200);
});
