import { nodeAt, type Row } from "@parlance/wire";
import { replaced } from "../../commands/replay/live-bytes.js";
import type { Fault } from "./fault.js";

/** One step that replaces the forwarding of a frame. */
export type Act =
  /** Sends a frame, in pieces that come one after the other. */
  | { readonly is: "send"; readonly pieces: readonly Uint8Array[]; readonly every: number }
  | { readonly is: "stderr"; readonly text: string }
  | { readonly is: "close" }
  | { readonly is: "exit"; readonly code: number };

/** The steps that replace the forwarding of a frame, and their delay in milliseconds. */
export interface FaultyFrame {
  readonly after: number;
  readonly acts: readonly Act[];
}

/** Applies a fault to a frame. `reorder` and the faults of HTTP are applied elsewhere. */
export function faultyFrame(fault: Fault, row: Row, random: () => number): FaultyFrame {
  const bytes = row.frame?.bytes ?? new Uint8Array(0);
  const now = (...acts: readonly Act[]): FaultyFrame => ({ after: 0, acts });
  switch (fault.is) {
    case "delay":
      return { after: Math.max(0, fault.for + (random() * 2 - 1) * fault.spread), acts: [whole(bytes)] };
    case "drop":
      return now();
    case "dup":
      return now(whole(bytes), whole(bytes));
    case "corrupt":
      return now(whole(corrupted(bytes, fault.at ?? Math.floor(random() * bytes.length), random)));
    case "truncate":
      return now(whole(bytes.subarray(0, Math.floor((bytes.length * fault.percent) / 100))));
    case "split":
      return now({ is: "send", pieces: split(bytes, fault.pieces), every: fault.every });
    case "wrong-id":
      return now(whole(withId(row, bytes, (id) => (id.startsWith('"') ? `"wrong ${id.slice(1)}` : `${id}9`))));
    case "string-id":
      return now(whole(withId(row, bytes, (id) => (id.startsWith('"') ? id : JSON.stringify(id)))));
    case "noise":
      return now(whole(Buffer.from(fault.text)), whole(bytes));
    case "stderr":
      return now({ is: "stderr", text: fault.text }, whole(bytes));
    case "close":
      return now({ is: "close" });
    case "exit":
      return now({ is: "exit", code: fault.code });
    default:
      return now(whole(bytes));
  }
}

function whole(bytes: Uint8Array): Act {
  return { is: "send", pieces: [bytes], every: 0 };
}

const newline = 0x0a;

/** Changes one byte, never to a line break: that would be another fault. */
function corrupted(bytes: Uint8Array, at: number, random: () => number): Uint8Array {
  const copy = bytes.slice();
  const before = copy[at];
  if (before === undefined) return copy;
  const after = before ^ (1 + Math.floor(random() * 255));
  copy[at] = after === newline ? before ^ 1 : after;
  return copy;
}

function split(bytes: Uint8Array, pieces: number): readonly Uint8Array[] {
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

function withId({ messages }: Row, bytes: Uint8Array, change: (id: string) => string): Uint8Array {
  return replaced(
    bytes,
    messages.flatMap(({ node, id }) => {
      const at = nodeAt(node, "/id");
      return at === undefined || id === undefined ? [] : [{ range: [at.start, at.end], text: change(id) }];
    }),
  );
}
