/**
 * Bridges: forward to another server over any transport and between any revisions.
 *
 * @module bridge
 */
import "../base/runtime.js";

import { checkMembers, type MembersOf } from "../base/check-members.js";
import { type Bridge, type BridgeOptions as BridgeSettings, bridgeMembers, bridgeOver } from "../bridge/bridge.js";
import { type ChannelFactory, openOnChannel } from "../client/session/open-session.js";
import { type HttpClientOptions, httpClientMembers } from "../http/client/http-target.js";
import { openOverHttp } from "../http/client/open-over-http.js";
import { webSocketChannel } from "../transport/websocket.js";

export type { Bridge } from "../bridge/bridge.js";

/** The upstream server: a URL, or a function that opens a channel to it. */
type UpstreamTarget = string | URL | ChannelFactory;

/** Options of a bridge and, for a URL, of its HTTP requests. */
export interface BridgeOptions extends BridgeSettings, HttpClientOptions {}

/**
 * Creates a server that forwards to the server at `target`. Each downstream client speaks its own revision over its own
 * transport; the upstream server may use others.
 *
 * @example
 * await serveStdio(bridgeTo("https://example.com/mcp"));
 *
 * @throws RangeError for an unknown revision; TypeError for an invalid HTTP or WebSocket URL
 */
export function bridgeTo(target: UpstreamTarget, given: BridgeOptions = {}): Bridge {
  checkMembers("bridgeTo", given, { ...bridgeMembers, ...httpClientMembers } satisfies MembersOf<BridgeOptions>);
  const { auth, fetch, headers, ...options } = given;
  if (typeof target === "function") return bridgeOver((how) => openOnChannel(target, how), false, options);
  const url = new URL(target);
  if (url.protocol === "ws:" || url.protocol === "wss:") {
    return bridgeOver((how) => openOnChannel(() => webSocketChannel(url), how), true, options);
  }
  const requests = { ...(auth && { auth }), ...(fetch && { fetch }), ...(headers && { headers }) };
  return bridgeOver((how) => openOverHttp(url, requests, how), true, options);
}
