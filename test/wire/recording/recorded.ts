import type { Entry, FrameEntry, HeaderEntry } from "@parlance/wire";
import type { Direction } from "../../../packages/wire/src/recording/entry.js";

/** The header of a recording that a test writes by hand. */
export const header: HeaderEntry = {
  k: "hdr",
  fmt: "parlance/1",
  id: "test",
  t0: "2026-01-01T00:00:00.000Z",
  clock: "monotonic",
  app: { name: "test", ver: "1" },
  mode: "import",
};

/** One line of a transcript: `"→ text"` of the client, `"← text"` of the server. */
export type Said = `→ ${string}` | `← ${string}`;

/** The lines of stdio as entries, a millisecond apart. */
export function recorded(...said: readonly Said[]): readonly Entry[] {
  return said.map((line, index) => stdioFrame(index + 1, line));
}

/** One line of stdio. */
export function stdioFrame(n: number, said: Said): FrameEntry {
  const d: Direction = said.startsWith("→") ? "c2s" : "s2c";
  const raw = said.slice(2);
  const len = new TextEncoder().encode(raw).length;
  return { k: "f", n, s: "1", t: n, d, ch: d === "c2s" ? "stdin" : "stdout", len, nl: "\n", raw };
}

/** The three frames that open a conversation of the handshake era. */
export function opening(
  version: string,
  { client = {}, server = {} }: { readonly client?: object; readonly server?: object } = {},
): readonly Said[] {
  const info = { name: "peer", version: "1" };
  const text = (value: object): string => JSON.stringify({ jsonrpc: "2.0", ...value });
  const asked = { protocolVersion: version, capabilities: client, clientInfo: info };
  const answered = { protocolVersion: version, capabilities: server, serverInfo: info };
  return [
    `→ ${text({ id: 0, method: "initialize", params: asked })}`,
    `← ${text({ id: 0, result: answered })}`,
    `→ ${text({ method: "notifications/initialized" })}`,
  ];
}
