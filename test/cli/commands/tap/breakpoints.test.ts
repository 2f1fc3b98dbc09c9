import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { bytesOf, type Entry, type FrameEntry, readRecording } from "@parlance/wire";
import { expect, onTestFinished, test } from "vitest";
import { PageClient } from "../../../web/page-client.js";
import { parlance } from "../../run.js";
import { Scratch } from "../../scratch.js";
import { command, recordedBytesOf, started, type Tapped } from "./tapped.js";

/** Writes each line that it gets to stderr, and answers what has an id. */
const echo = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  process.stderr.write("got " + line + "\\n");
  let message = {};
  try { message = JSON.parse(line); } catch {}
  if (message.id !== undefined && message.method)
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: {} }) + "\\n");
});`;

/** Gives its stdin back, byte for byte. */
const mirror = "process.stdin.pipe(process.stdout)";

interface TapWithPage extends Tapped {
  readonly path: string;
  readonly page: PageClient;
  /** Resolves as soon as stderr holds the text. */
  untilError(text: string): Promise<void>;
  entries(): Promise<readonly Entry[]>;
}

/** Starts a server behind a tap with breakpoints, and opens its page. */
async function tapWithPage(folder: Scratch, script: string, ...filters: readonly string[]): Promise<TapWithPage> {
  const path = folder.at("tap.parlance.jsonl");
  const own = ["--ui", "--record", path, ...filters.flatMap((filter) => ["--break", filter])];
  const child = spawn(process.execPath, [command, "tap", ...own, "--", process.execPath, "-e", script]);
  onTestFinished(() => void child.kill());
  const tapped = started(child);
  let errors = "";
  child.stderr.on("data", (text: string) => {
    errors += text;
  });
  const untilError = async (text: string): Promise<void> => {
    while (!errors.includes(text)) await once(child.stderr, "data");
  };
  await untilError("#token=");
  const page = await PageClient.open(/http:\S+/.exec(errors)?.[0] ?? "");
  onTestFinished(() => page[Symbol.asyncDispose]());
  await page.until(({ rules }) => rules.length === filters.length);
  return {
    ...tapped,
    path,
    page,
    untilError,
    entries: async () => {
      child.stdin.end();
      await tapped.ended;
      return readRecording(readFileSync(path)).entries;
    },
  };
}

const request = (id: number, method = "ping"): string => JSON.stringify({ jsonrpc: "2.0", id, method });
const response = (id: number): string => JSON.stringify({ jsonrpc: "2.0", id, result: {} });

const frames = (entries: readonly Entry[]): readonly FrameEntry[] =>
  entries.filter((entry): entry is FrameEntry => entry.k === "f");
const fates = (entries: readonly Entry[]): readonly unknown[] =>
  entries.flatMap((entry) => (entry.k === "r" && entry.did !== undefined ? [[entry.did, entry.of]] : []));

test("a request is held, changed, and answered to as it was sent", async () => {
  using folder = new Scratch();
  const { child, page, until, entries, path } = await tapWithPage(folder, echo, "method:ping dir:c2s");
  child.stdin?.write(`${request(1)}\n`);
  const { held } = await page.until((state) => state.held.length === 1);
  expect(held[0]).toMatchObject({
    from: "client",
    method: "ping",
    id: "1",
    kind: "request",
    filter: "method:ping dir:c2s",
  });
  expect(held[0]?.left).toBeGreaterThan(0);
  const key = held[0]?.key ?? -1;
  expect(await page.call("heldText", { key })).toBe(request(1));
  await page.call("release", { key, fate: { did: "change", text: request(2) } });
  await until(response(2));
  const recorded = await entries();
  expect(frames(recorded).map(({ d, raw, by, of }) => ({ d, raw, by, of }))).toEqual([
    { d: "c2s", raw: request(1), by: undefined, of: undefined },
    { d: "c2s", raw: request(2), by: "mutate", of: frames(recorded)[0]?.n },
    { d: "s2c", raw: response(2), by: undefined, of: undefined },
  ]);
  expect(fates(recorded)).toEqual([
    ["hold", frames(recorded)[0]?.n],
    ["change", frames(recorded)[0]?.n],
  ]);
  const { stdout } = await parlance(["check", "--json", path]);
  expect(stdout).not.toContain("request with the id");
});

test("a request is dropped, or answered by hand, and the server sees neither", async () => {
  using folder = new Scratch();
  const { child, page, until, entries } = await tapWithPage(folder, echo, "kind:req");
  child.stdin?.write(`${request(1)}\n${request(2)}\n`);
  const { held } = await page.until((state) => state.held.length === 2);
  const [first, second] = held.map(({ key }) => key);
  await page.call("release", { key: first ?? -1, fate: { did: "drop" } });
  await page.call("release", { key: second ?? -1, fate: { did: "answer", text: response(2) } });
  await until(response(2));
  const recorded = await entries();
  expect(frames(recorded).map(({ raw, by }) => [raw, by])).toEqual([
    [request(1), undefined],
    [request(2), undefined],
    [response(2), "inject"],
  ]);
  expect(recorded.filter(({ k }) => k === "e")).toEqual([]);
});

test("only messages that belong to a held message wait for it", async () => {
  using folder = new Scratch();
  const { child, page, untilError, ended } = await tapWithPage(folder, echo, "id:1 kind:req");
  const cancel = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  child.stdin?.write(`${request(1)}\n${cancel}\n${request(2)}\n`);
  await untilError(`got ${request(2)}`);
  const { held } = await page.until((state) => state.held.length === 2);
  expect(held[1]).toMatchObject({ method: "notifications/cancelled", behind: held[0]?.key });
  expect(held[1]).not.toHaveProperty("filter");
  await page.call("release", { key: held[0]?.key ?? -1, fate: { did: "send" } });
  await untilError(`got ${cancel}`);
  child.stdin?.end();
  const { stderr } = await ended;
  const got = stderr.split("\n").filter((line) => line.startsWith("got "));
  expect(got).toEqual([request(2), request(1), cancel].map((line) => `got ${line}`));
});

test("nothing overtakes a message of the handshake", async () => {
  using folder = new Scratch();
  const { child, page, ended } = await tapWithPage(folder, echo, "method:notifications/initialized");
  const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  child.stdin?.write(`${initialized}\n${request(1)}\n`);
  const { held } = await page.until((state) => state.held.length === 2);
  await page.call("release", { key: held[0]?.key ?? -1, fate: { did: "send" } });
  await page.until((state) => state.held.length === 0);
  child.stdin?.end();
  const { stderr } = await ended;
  expect(stderr.split("\n").filter((line) => line.startsWith("got "))).toEqual([
    `got ${initialized}`,
    `got ${request(1)}`,
  ]);
});

test("when the page is closed, held messages are sent, and the command says so", async () => {
  using folder = new Scratch();
  const { child, page, until, untilError, entries } = await tapWithPage(folder, echo, "method:ping");
  child.stdin?.write(`${request(1)}\n`);
  await page.until((state) => state.held.length === 1);
  await page[Symbol.asyncDispose]();
  await until(response(1));
  await untilError("parlance: no page is open: 1 held message sent");
  // Nobody could release it.
  child.stdin?.write(`${request(2)}\n`);
  await until(response(2));
  const rules = (await entries()).flatMap((entry) => (entry.k === "r" && entry.did === "send" ? [entry.why] : []));
  expect(rules).toEqual(["page"]);
});

test("a flood is not held beyond the bound, and that is said", async () => {
  using folder = new Scratch();
  const { child, page, untilError } = await tapWithPage(folder, echo, "method:ping kind:req");
  const ids = Array.from({ length: 103 }, (_, index) => index + 1);
  child.stdin?.write(ids.map((id) => `${request(id)}\n`).join(""));
  const { held } = await page.until((state) => state.passedOver === 3);
  expect(held.map(({ id }) => Number(id))).toEqual(ids.slice(0, 100));
  for (const id of [101, 102, 103]) await untilError(`got ${request(id)}`);
});

test("bytes stay as they are while no breakpoint matches, and where a breakpoint begins and ends", async () => {
  using folder = new Scratch();
  const { child, page, until, ended, path } = await tapWithPage(folder, mirror);
  const sent: Buffer[] = [];
  // A line that has not ended comes on at once only while there is no rule.
  const write = async (text: string, arrives = text): Promise<void> => {
    const bytes = Buffer.from(text, "latin1");
    sent.push(bytes);
    child.stdin?.write(bytes);
    await until(arrives);
  };
  const rule = { kind: "break", text: "method:never", isOn: true } as const;
  await write("one\r\n\n tw");
  await page.call("setRules", { rules: [rule] });
  await write("o\nthree\r", " two\n");
  await page.call("setRules", { rules: [] });
  await write("\n\u00ff\u00fe\n", "three\r\n");
  await write("the end, without a line break", "");
  child.stdin?.end();
  expect((await ended).stdout).toEqual(Buffer.concat(sent));
  const { entries, damages } = readRecording(readFileSync(path));
  expect(damages).toEqual([]);
  expect(recordedBytesOf(entries, "c2s")).toEqual(Buffer.concat(sent));
  expect(
    frames(entries)
      .filter(({ d }) => d === "s2c")
      .map((frame) => bytesOf(frame).length),
  ).toEqual([3, 0, 4, 5, 2, 29]);
});

test("a page can hold and spoil messages only with its token, and only with rules that can be read", async () => {
  using folder = new Scratch();
  const { page } = await tapWithPage(folder, echo);
  for (const [rule, words] of [
    [{ kind: "break", text: "tool:", isOn: true }, "The filter cannot be read"],
    [{ kind: "fault", text: "tool:x => explode", isOn: true }, "it must be a filter, => and a fault"],
    [{ kind: "fault", text: "tool:x => http 429", isOn: true }, "http is no fault of stdio"],
  ] as const)
    await expect(page.call("setRules", { rules: [rule] })).rejects.toThrow(words);
  await expect(page.call("release", { key: 7, fate: { did: "drop" } })).rejects.toThrow("not held any more");
  expect(await page.call("interception", {})).toMatchObject({ rules: [], held: [] });
});

test("a fault is switched on and off, and the recording names the frames that it touched", async () => {
  using folder = new Scratch();
  const { child, page, until, entries } = await tapWithPage(folder, echo);
  const fault = { kind: "fault", text: "kind:res => string-id", isOn: true } as const;
  await page.call("open", { filter: "" });
  await page.call("setRules", { rules: [fault] });
  child.stdin?.write(`${request(1)}\n`);
  await until('"id":"1"');
  const touched = async (): Promise<readonly number[]> =>
    (await page.call("touched", { rules: [fault.text] }))[0] ?? [];
  await expect.poll(async () => (await touched()).length).toBe(1);
  const [n] = await touched();
  await page.call("setRules", { rules: [{ ...fault, isOn: false }] });
  child.stdin?.write(`${request(2)}\n`);
  await until('"id":2');
  const recorded = await entries();
  expect(frames(recorded).flatMap(({ raw, of }) => (of === undefined ? [] : [[raw, of]]))).toEqual([
    ['{"jsonrpc":"2.0","id":"1","result":{}}', n],
  ]);
  expect(frames(recorded)[1]?.n).toBe(n);
});

test("a breakpoint without a page is refused", async () => {
  const { code, stderr } = await parlance(["tap", "--break", "method:ping", "--", process.execPath, "-e", echo]);
  expect(stderr).toContain("only the page can release held messages");
  expect(code).toBe(1);
});
