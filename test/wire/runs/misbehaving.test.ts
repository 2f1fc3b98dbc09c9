import { bytesOf, type Entry, type FrameEntry } from "@parlance/wire";
import { describe, expect, test, vi } from "vitest";
import { fixture } from "../../cli/run.js";
import { expectations } from "../../fixtures/misbehaving/expected.js";
import { driveHttp } from "../../fixtures/misbehaving/http-client.js";
import { startServer } from "../../fixtures/misbehaving/running-server.js";
import { driveStdio, type StdioTranscript } from "../../fixtures/misbehaving/stdio-client.js";
import { isLong } from "../../testing/forms.js";
import { RecordingFolder } from "../recording/recording-folder.js";
import { entriesOf, httpEntriesOf } from "../recording/transcript-entries.js";
import { expectOutcome } from "./outcomes.js";

const { execPath: node } = process;

/** The short form sees each misbehaviour in one of two ways, in turn. */
const both = expectations.map((each, at) => ({
  ...each,
  isTapped: isLong || at % 2 === 0,
  isProxied: isLong || at % 2 === 1,
}));

describe.each(both)("$name", ({ script, noise, stdio, http, isTapped, isProxied }) => {
  const server = [fixture("misbehaving/server.js"), ...(noise ? ["--noise"] : [])];

  test.runIf(isTapped)("is seen by the tap, and in the bytes that its host has seen", async () => {
    using folder = new RecordingFolder();
    const isHeld = stdio.waiting?.source.includes("unterminated") ?? false;
    const beforeEnd = (): Promise<void> =>
      vi.waitFor(() => expect(folder.text).toContain(isHeld ? '"ev":"partial"' : ""), { timeout: 60_000 });
    const transcript = await driveStdio(folder.tap(node, ...server), { ...script, beforeEnd });
    const [entries = []] = folder.read();
    expectOutcome(entries, stdio);
    expectOutcome(entriesOf(transcript), stdio);
    for (const from of ["client", "server"] as const)
      expect(recordedStream(entries, from).equals(crossedStream(transcript, from))).toBe(true);
  });

  test.runIf(isProxied)("is seen by the proxy, and in the bytes that its client has seen", async () => {
    using folder = new RecordingFolder();
    await using running = await startServer([...server, "--http"]);
    const drive = async (): Promise<Awaited<ReturnType<typeof driveHttp>>> => {
      await using proxy = await folder.proxy(running.url);
      return await driveHttp(proxy.url, script);
    };
    const steps = await drive();
    const [entries = []] = folder.read();
    expectOutcome(entries, http);
    expectOutcome(httpEntriesOf(steps), http);
  });
});

test("the tap records where each write of a reply began, and when", async () => {
  using folder = new RecordingFolder();
  const server = [node, fixture("misbehaving/server.js")];
  await driveStdio(folder.tap(...server), { tool: "three-writes", cues: 2 });
  const reply = folder.read()[0]?.find((entry) => entry.k === "f" && entry.raw?.includes("in three writes"));
  const { w = [], len, t, t1 } = reply as FrameEntry;
  const third = Math.floor((len + 1) / 3);
  expect(w.map(([offset]) => offset)).toEqual([third, 2 * third]);
  const times = w.map(([, at]) => at);
  expect([t, ...times, t1]).toEqual([t, ...times, t1].toSorted((one = 0, other = 0) => one - other));
  expect(t1).toBe(times.at(-1));
});

/** The bytes of one side as a recording of stdio holds them. */
function recordedStream(entries: readonly Entry[], from: "client" | "server"): Buffer {
  const frames = entries.flatMap((entry) => (entry.k === "f" && entry.d === ways[from] ? [entry] : []));
  return Buffer.concat(frames.flatMap((frame) => [bytesOf(frame), Buffer.from(frame.nl)]));
}

const ways = { client: "c2s", server: "s2c" } as const;

/** The bytes of one side as the client has written or read them. */
function crossedStream({ crossed }: StdioTranscript, from: "client" | "server"): Buffer {
  return Buffer.concat(crossed.filter((each) => each.from === from).map(({ bytes }) => bytes));
}
