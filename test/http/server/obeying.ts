import type { Server } from "@parlance/mcp/server";
import { expect } from "vitest";
import { parse, request } from "../../testing/frames.js";
import { type AskedHeaders, sessionGet, sessionPost, written } from "./asked.js";
import { shop } from "./shop.js";
import type { Site } from "./site.js";
import type { Wire } from "./wire.js";

/** A server with a tool that does what a test tells it: "release", "end", or anything else to be told as progress. */
export interface Obeying {
  readonly server: Server;
  /** By the name that the call gives itself. */
  readonly calls: Map<string, (...steps: readonly string[]) => void>;
}

export function obeying(): Obeying {
  const server = shop();
  const calls: Obeying["calls"] = new Map();
  const inputSchema = { type: "object", properties: { as: { type: "string" } } } as const;
  server.tool("obey", { inputSchema }, ({ as }, context) => {
    let told = 0;
    return new Promise((resolve) => {
      // Bytes of a call are held until its handler ends, so no handler outlasts its test.
      context.signal.addEventListener("abort", () => resolve(`${as} was cancelled`));
      calls.set(`${as}`, (...steps) => {
        for (const step of steps) {
          told += 1;
          if (step === "release") context.release(500);
          else if (step === "end") resolve(`${as} has ended`);
          else void context.progress(told, undefined, step);
        }
      });
    });
  });
  return { server, calls };
}

/** A call of that tool. */
export function obey(session: string, as: string, id = 1): Uint8Array {
  return written(sessionPost(session, obeyFrame(as, id)));
}

export function obeyFrame(as: string, id: number): string {
  return request(id, "tools/call", { name: "obey", arguments: { as }, _meta: { progressToken: as } });
}

/** Opens the stream of a session, or comes back for one. */
export async function read(at: Site, session: string, headers: AskedHeaders = {}): Promise<Wire> {
  const wire = await at.open();
  wire.write(written(sessionGet(session, headers)));
  expect((await wire.head()).status).toBe(200);
  return wire;
}

/** The rest of a stream that ends, each message in a word. */
export async function rest(wire: Wire): Promise<readonly string[]> {
  return (await wire.messages()).map(gist);
}

/** The content of a message, in a word. */
export function gist(data: string): string {
  const { method, params, result } = parse(data);
  const [block] = (result?.content ?? []) as readonly { readonly text?: string }[];
  return block?.text ?? String(params?.message ?? method ?? data);
}
