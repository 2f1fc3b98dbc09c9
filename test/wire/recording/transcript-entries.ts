import type { Entry, FrameEntry } from "@parlance/wire";
import { recordedBytes } from "@parlance/wire";
import type { HttpEntry } from "../../../packages/wire/src/recording/entry.js";
import type { HttpStep } from "../../fixtures/misbehaving/http-client.js";
import type { Crossed, StdioTranscript } from "../../fixtures/misbehaving/stdio-client.js";
import { header } from "./recorded.js";

const newline = 0x0a;

/** The entries of a recorder for a conversation on stdio: each line when its end has come. */
export function entriesOf({ crossed, code }: Pick<StdioTranscript, "crossed" | "code">): readonly Entry[] {
  const entries: Entry[] = [header];
  const open = { client: Buffer.alloc(0), server: Buffer.alloc(0) };
  const next = (): { readonly n: number; readonly s: string; readonly t: number } => {
    const n = entries.length;
    return { n, s: "1", t: n };
  };
  for (const { from, bytes } of crossed) {
    let rest = Buffer.concat([open[from], bytes]);
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      entries.push({ ...next(), ...frameEntry(from, rest.subarray(0, end), "\n") });
      rest = rest.subarray(end + 1);
    }
    open[from] = rest;
  }
  const { server } = open;
  if (server.length > 0) entries.push({ ...next(), k: "l", ev: "partial", d: "s2c", len: server.length });
  // One that fails has not waited for the end of its input.
  if (code === 0) entries.push({ ...next(), k: "l", ev: "stdin-end", d: "c2s" });
  if (server.length > 0) entries.push({ ...next(), ...frameEntry("server", server, "") });
  entries.push({ ...next(), k: "l", ev: "exit", code, sig: null });
  return entries;
}

/** The entries of a recorder for exchanges of HTTP. Of an event stream each event is a frame, at its end. */
export function httpEntriesOf(steps: readonly HttpStep[]): readonly Entry[] {
  const entries: Entry[] = [header];
  const streams = new Map<number, { readonly isEvents: boolean; readonly bytes: Buffer }>();
  const add = (x: number, make: (place: Place) => Entry): void => {
    const n = entries.length;
    entries.push(make({ n, s: "1", t: n, x }));
  };
  const addFrame = (x: number, bytes: Buffer, way: Pick<FrameEntry, "d" | "ch" | "cut">): void =>
    add(x, ({ n, s, t }) => ({ k: "f", n, s, t, ...way, len: bytes.length, nl: "", req: x, ...recordedBytes(bytes) }));
  for (const step of steps) {
    const { x } = step;
    const stream = streams.get(x);
    if (step.is === "request") {
      const { method, headers, body } = step;
      add(x, (place) => ({ ...place, k: "h", ph: "req", method, url: "/mcp", headers }));
      if (body !== "") addFrame(x, Buffer.from(body), { d: "c2s", ch: "http" });
    } else if (step.is === "head") {
      const { status, headers } = step;
      add(x, (place) => ({ ...place, k: "h", ph: "res", status, headers }));
      const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
      streams.set(x, { isEvents: type === "text/event-stream", bytes: Buffer.alloc(0) });
    } else if (step.is === "piece" && stream !== undefined) {
      let bytes = Buffer.concat([stream.bytes, step.bytes]);
      for (let end = bytes.indexOf("\n\n"); stream.isEvents && end >= 0; end = bytes.indexOf("\n\n")) {
        addFrame(x, dataOf(bytes.subarray(0, end)), { d: "s2c", ch: "sse" });
        bytes = bytes.subarray(end + 2);
      }
      streams.set(x, { ...stream, bytes });
    } else if (step.is === "end" || step.is === "broken") {
      const cut = step.is === "broken" ? "aborted" : "ended";
      if (stream !== undefined && stream.bytes.length > 0) {
        if (stream.isEvents) addFrame(x, dataOf(stream.bytes), { d: "s2c", ch: "sse", cut });
        else addFrame(x, stream.bytes, { d: "s2c", ch: "http", ...(cut === "aborted" && { cut }) });
      }
      add(x, (place) => ({ ...place, k: "h", ph: step.is === "end" ? "end" : "abort" }));
    }
  }
  return entries;
}

type Place = Pick<HttpEntry, "n" | "s" | "t" | "x">;

/** The data of an event that holds lines of data, and its name. */
function dataOf(event: Buffer): Buffer {
  const lines = event.toString("latin1").split("\n");
  const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice("data: ".length));
  return Buffer.from(data.join("\n"), "latin1");
}

function frameEntry(
  from: Crossed["from"],
  bytes: Buffer,
  nl: FrameEntry["nl"],
): Omit<FrameEntry, "n" | "s" | "t" | "raw" | "b64"> & ReturnType<typeof recordedBytes> {
  const way = from === "client" ? ({ d: "c2s", ch: "stdin" } as const) : ({ d: "s2c", ch: "stdout" } as const);
  return { k: "f", ...way, len: bytes.length, nl, ...recordedBytes(bytes) };
}
