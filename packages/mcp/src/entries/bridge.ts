/**
 * Bridges: a server that is another one, behind any carrier and in any revision.
 *
 * @module
 */
import "../base/runtime.js";

import { checkMembers, type MembersOf } from "../base/members.js";
import { type Bridge, type BridgeOptions as BridgeSettings, bridgeMembers, bridgeOver } from "../bridge/bridge.js";
import { type HttpClientOptions, httpClientMembers } from "../http/client/http-target.js";
import { openOverHttp } from "../http/client/open-over-http.js";
import { type Dial, openOnChannel } from "../lifecycle/open.js";
import { webSocketChannel } from "../transports/websocket.js";

export type { Bridge } from "../bridge/bridge.js";

/** What a bridge leads to: a server at a URL, or a function that makes channels to one. */
export type FarTarget = string | URL | Dial;

/** What can be set about a bridge and, for a server at a URL, about its requests. */
export interface BridgeOptions extends BridgeSettings, HttpClientOptions {}

/**
 * Makes a server of another one: whoever is served by it speaks to the server at `target`, each in its own revision and over its
 * own carrier.
 *
 * @example
 * await serveStdio(bridgeTo("https://example.com/mcp"));
 *
 * @throws RangeError for a revision that does not exist; TypeError for what is no URL of HTTP or WebSocket
 */
export function bridgeTo(target: FarTarget, given: BridgeOptions = {}): Bridge {
  checkMembers("bridgeTo", given, { ...bridgeMembers, ...httpClientMembers } satisfies MembersOf<BridgeOptions>);
  const { fetch, headers, ...options } = given;
  if (typeof target === "function") return bridgeOver((how) => openOnChannel(target, how), false, options);
  const url = new URL(target);
  if (url.protocol === "ws:" || url.protocol === "wss:") {
    return bridgeOver((how) => openOnChannel(() => webSocketChannel(url), how), true, options);
  }
  const requests = { ...(fetch && { fetch }), ...(headers && { headers }) };
  return bridgeOver((how) => openOverHttp(url, requests, how), true, options);
}
