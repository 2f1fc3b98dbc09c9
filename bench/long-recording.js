/** Recordings that are long: what the commands that read them are measured with. */

import { closeSync, openSync, writeSync } from "node:fs";
import { latestHandshake } from "@parlance/mcp";
import { encodeEntry } from "@parlance/wire";

/** @import { Entry, FrameEntry } from "@parlance/wire" */

const { version } = latestHandshake;
const info = { name: "bench", version: "1" };

/** Every this many calls one breaks a rule, so that there is something to find. */
const faultEvery = 1_000;

/** Lines that are written together. */
const together = 2_000;

const filler = "Mild, with a light wind from the south-west and a few clouds in the afternoon.";

/**
 * Writes the recording of one conversation on stdio: a handshake, a list of tools, and calls with their results.
 * @param {string} path
 * @param {number} frames
 */
export function writeLongRecording(path, frames) {
  const file = openSync(path, "w");
  let n = 0;
  let bytes = 0;
  /** @type {string[]} */
  let lines = [];
  /** @param {Entry} entry */
  const write = (entry) => {
    lines.push(encodeEntry(entry));
    if (lines.length < together) return;
    writeSync(file, lines.join(""));
    lines = [];
  };
  /**
   * @param {FrameEntry["d"]} d
   * @param {object} message
   */
  const frame = (d, message) => {
    n += 1;
    const raw = JSON.stringify({ jsonrpc: "2.0", ...message });
    const len = Buffer.byteLength(raw);
    bytes += len;
    write({ k: "f", n, s: "1", t: n / 2, d, ch: d === "c2s" ? "stdin" : "stdout", len, nl: "\n", raw });
  };
  const app = { name: "bench", ver: "1" };
  const server = { cmd: "node", args: ["server.js"] };
  write({
    k: "hdr",
    fmt: "parlance/1",
    id: "long",
    t0: new Date(0).toISOString(),
    clock: "monotonic",
    app,
    mode: "tap",
    server,
  });
  frame("c2s", {
    id: 0,
    method: "initialize",
    params: { protocolVersion: version, capabilities: {}, clientInfo: info },
  });
  frame("s2c", { id: 0, result: { protocolVersion: version, capabilities: { tools: {} }, serverInfo: info } });
  frame("c2s", { method: "notifications/initialized" });
  frame("c2s", { id: 1, method: "tools/list" });
  frame("s2c", { id: 1, result: { tools: [tool] } });
  for (let id = 2; n + 2 <= frames; id += 1) {
    const [city, days] = [`city ${id % 977}`, id % 14];
    const args = { city, days: id % faultEvery === 0 ? String(days) : days, api_key: `key-${id % 50}-0123456789` };
    frame("c2s", { id, method: "tools/call", params: { name: "forecast", arguments: args } });
    const structuredContent = { city, celsius: id % 40 };
    frame("s2c", { id, result: { content: [{ type: "text", text: `${city}: ${filler}` }], structuredContent } });
  }
  writeSync(file, lines.join(""));
  closeSync(file);
  return { frames: n, bytes };
}

const tool = {
  name: "forecast",
  inputSchema: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" }, api_key: { type: "string" } },
    required: ["city"],
  },
  outputSchema: {
    type: "object",
    properties: { city: { type: "string" }, celsius: { type: "number" } },
    required: ["city", "celsius"],
  },
};
