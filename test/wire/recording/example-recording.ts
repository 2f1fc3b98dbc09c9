import { createHash } from "node:crypto";
import { type Entry, encodeEntry, type FrameEntry } from "@parlance/wire";
import { header, stdioFrame } from "./recorded.js";

const call = (id: number, name: string): string =>
  `→ {"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{"q":"x"},"_meta":{"progressToken":${id}}}}`;

const result =
  '← {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"warm"}],"big":12345678901234567890}}';

/** The recording that the page on filters shows. */
export const exampleEntries: readonly Entry[] = [
  { ...header, mode: "tap", server: { cmd: "node", args: ["server.mjs"] } },
  { k: "l", n: 1, s: "1", t: 0.2, ev: "spawn", pid: 4242 },
  frame(
    2,
    1,
    '→ {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}',
  ),
  frame(
    3,
    13.3,
    '← {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"weather","version":"1"}}}',
  ),
  frame(4, 14.3, '→ {"jsonrpc":"2.0","method":"notifications/initialized"}'),
  frame(5, 1_204.3, call(7, "search")),
  frame(
    6,
    1_204.8,
    '← {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1,"total":3}}',
  ),
  frame(7, 1_204.82, "← [debug] got a call"),
  {
    ...frame(8, 1_820.1, result),
    t1: 1_824.1,
    w: [
      [20, 1_821],
      [60, 1_824.1],
    ],
  },
  frame(9, 1_825, result),
  frame(10, 1_826, call(8, "sum")),
  frame(11, 1_900, '← {"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"a must be a number"}}'),
  frame(12, 2_000, call(9, "sum")),
  { k: "e", n: 13, s: "1", t: 2_080, raw: "about to crash\n" },
  { k: "l", n: 14, s: "1", t: 2_081, ev: "exit", code: 3, sig: null },
];

function frame(n: number, t: number, said: `→ ${string}` | `← ${string}` | string): FrameEntry {
  return { ...stdioFrame(n, said as `→ ${string}`), t }; // Each begins with one of the two.
}

/** A recording as a file holds it, with its last line. */
export function recordingText(entries: readonly Entry[]): string {
  const lines = entries.map(encodeEntry).join("");
  const frames = entries.filter(({ k }) => k === "f").length;
  const sha256 = createHash("sha256").update(lines).digest("hex");
  return lines + encodeEntry({ k: "end", t: 2_082, frames, bytes: Buffer.byteLength(lines), sha256 });
}
