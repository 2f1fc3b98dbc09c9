/** The revision whose requests speak for themselves. */
export const modern = "2026-07-28";

/** The required metadata of a request of that revision. */
export const claim = {
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientCapabilities": {},
} as const;

export const ping = '{"jsonrpc":"2.0","id":"ping","method":"ping"}';
export const pong = '{"jsonrpc":"2.0","id":"ping","result":{}}';
export const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** A request as it stands on the wire. */
export function request(id: string | number, method: string, params?: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** A request of the stateless era. `meta` is said besides what it must say. */
export function stateless(id: string | number, method: string, params: object = {}, meta: object = {}): string {
  return request(id, method, { ...params, _meta: { ...claim, ...meta } });
}

/** The frames that open a conversation. */
export function initialize(version: string, id: string | number = 0): string {
  return request(id, "initialize", {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  });
}

/** The answer of a server that settles on a version. */
export function initializeResult(id: string | number, version: string, capabilities: object = { tools: {} }): string {
  return success(id, { protocolVersion: version, capabilities, serverInfo: { name: "raw", version: "1" } });
}

/** The answer of a server that speaks for itself. */
export function discoverResult(
  id: string | number,
  supportedVersions: readonly string[] = [modern],
  capabilities: object = { tools: {} },
): string {
  return success(id, { resultType: "complete", supportedVersions, capabilities, ttlMs: 0, cacheScope: "private" });
}

export function notification(method: string, params?: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

export function success(id: string | number, result: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

/** A failure; without an id it answers something that could not be read. */
export function failure(id: string | number | undefined, code: number, message: string, data?: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
}

/** A frame as a value, for what is said of a part of it. */
export function parse(frame: string): Frame {
  return JSON.parse(frame) as Frame;
}

/** The members that tests look at. */
export interface Frame {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The result that a frame carries. */
export function resultOf(frame: string): Readonly<Record<string, unknown>> {
  const { result } = parse(frame);
  if (result === undefined) throw new Error(`no result, but ${frame}`);
  return result;
}

/** The one text of a tool's result. */
export function textOf(frame: string): string {
  const { content } = resultOf(frame);
  const [block] = content as readonly { readonly text?: string }[];
  return block?.text ?? "";
}
