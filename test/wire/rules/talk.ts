import { versions } from "@parlance/mcp";
import type { Entry, FrameEntry } from "@parlance/wire";
import { recorded, type Said } from "../recording/recorded.js";

type Fields = Readonly<Record<string, unknown>>;

/** The words of a conversation in one revision, with all that the revision wants in them. */
export interface Talk {
  readonly version: string;
  readonly isStateless: boolean;
  /** The opening: a handshake, or a first look at the server. Ids 0. */
  opening(capabilities?: { readonly client?: Fields; readonly server?: Fields }): readonly Said[];
  /** A request of the client. */
  request(id: unknown, method: string, params?: Fields): Said;
  /** A result of the server. */
  result(id: unknown, result?: Fields): Said;
  /** `tools/list`, and its answer. */
  list(id: unknown): Said;
  listed(id: unknown, tools?: readonly Fields[]): Said;
  /** A call of a tool, and its answer. */
  call(id: unknown, name?: string, meta?: Fields): Said;
  called(id: unknown, more?: Fields): Said;
}

/** A message of the client, as it is. */
export function client(message: unknown): Said {
  return `→ ${JSON.stringify(message)}`;
}

/** A message of the server, as it is. */
export function server(message: unknown): Said {
  return `← ${JSON.stringify(message)}`;
}

/** A notification of the client. */
export function told(method: string, params?: Fields): Said {
  return client({ jsonrpc: "2.0", method, params });
}

/** A notification of the server. */
export function heard(method: string, params?: Fields): Said {
  return server({ jsonrpc: "2.0", method, params });
}

/** A request of the server, and the answer of the client. */
export function asked(id: unknown, method: string, params?: Fields): Said {
  return server({ jsonrpc: "2.0", id, method, params });
}

/** A result of the client. */
export function answered(id: unknown, result: Fields = {}): Said {
  return client({ jsonrpc: "2.0", id, result });
}

/** An error of the server. */
export function failed(id: unknown, code: number, data?: unknown): Said {
  return server({ jsonrpc: "2.0", id, error: { code, message: "m", data } });
}

const info = { name: "peer", version: "1" };
const newest = versions[0] ?? "";

/** The words of a revision. */
export function talkOf(version: string): Talk {
  const isStateless = version === newest;
  let declared: Fields = {};
  const meta = (): Fields =>
    isStateless
      ? {
          "io.modelcontextprotocol/protocolVersion": version,
          "io.modelcontextprotocol/clientCapabilities": declared,
          "io.modelcontextprotocol/clientInfo": info,
        }
      : {};
  const complete = isStateless ? { resultType: "complete" } : {};
  const kept = isStateless ? { ttlMs: 0, cacheScope: "private" } : {};
  const talk: Talk = {
    version,
    isStateless,
    opening({ client: asks = {}, server: offers = { tools: {} } } = {}) {
      declared = asks;
      if (isStateless) {
        const discovered = { supportedVersions: [version], capabilities: offers, ...kept };
        return [talk.request(0, "server/discover"), talk.result(0, discovered)];
      }
      const params = { protocolVersion: version, capabilities: asks, clientInfo: info };
      return [
        client({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
        talk.result(0, { protocolVersion: version, capabilities: offers, serverInfo: info }),
        client({ jsonrpc: "2.0", method: "notifications/initialized" }),
      ];
    },
    request(id, method, params = {}) {
      const { _meta: own = {}, ...rest } = params;
      return client({ jsonrpc: "2.0", id, method, params: { ...rest, _meta: { ...meta(), ...(own as Fields) } } });
    },
    result: (id, result = {}) => server({ jsonrpc: "2.0", id, result: { ...complete, ...result } }),
    list: (id) => talk.request(id, "tools/list"),
    listed: (id, tools = []) => talk.result(id, { ...kept, tools }),
    call: (id, name = "add", own = {}) => talk.request(id, "tools/call", { name, arguments: {}, _meta: own }),
    called: (id, more = {}) => talk.result(id, { content: [], ...more }),
  };
  return talk;
}

/** Lines of a transcript as the lines of another transport, with other ends. */
export function frames(
  said: readonly Said[],
  change: (frame: FrameEntry, index: number) => FrameEntry,
): readonly Entry[] {
  return recorded(...said).map((entry, index) => (entry.k === "f" ? change(entry, index) : entry));
}
