import type { Server } from "@parlance/mcp/server";
import { initialized, request, stateless } from "../../testing/frames.js";
import { type Talk, talkTo } from "../../testing/talks.js";

/** A client of one revision that declares capabilities, and a server that it calls. */
export interface Asked extends AsyncDisposable {
  readonly talk: Talk;
  /** Writes a request as the era wants it, and reads the next frame. */
  ask(method: string, params?: object, id?: number, meta?: object): Promise<string>;
}

/** @param isStateless whether every request speaks for itself */
export async function openAsked(
  server: Server,
  { version, isStateless }: { readonly version: string; readonly isStateless: boolean },
  capabilities: object,
): Promise<Asked> {
  const talk = talkTo(server);
  if (!isStateless) {
    const clientInfo = { name: "raw", version: "1" };
    await talk.ask(request(0, "initialize", { protocolVersion: version, capabilities, clientInfo }));
    talk.peer.send(initialized);
  }
  const claimed = { "io.modelcontextprotocol/clientCapabilities": capabilities };
  return {
    talk,
    ask: (method, params, id = 1, meta = {}) =>
      talk.ask(
        isStateless
          ? stateless(id, method, params, { ...claimed, ...meta })
          : request(id, method, { ...params, _meta: meta }),
      ),
    [Symbol.asyncDispose]: () => talk[Symbol.asyncDispose](),
  };
}
