import type { Channel } from "../../jsonrpc/channel.js";
import { type HttpClientOptions, HttpTarget } from "./http-target.js";
import { RemoteLegacySse } from "./remote-legacy-sse.js";
import { type HttpCarrierOptions, RemoteSession } from "./remote-session.js";

/** What can be set about a channel to a server at a URL. */
export interface HttpChannelOptions extends HttpClientOptions, HttpCarrierOptions {}

/**
 * A session with a server at a URL as a channel, for whoever looks at its frames or passes them on; `connect` opens it by itself.
 *
 * @example
 * const client = await connect(() => sessionChannel("https://example.com/mcp"), { era: "handshake", reopen: true });
 *
 * @throws TypeError for what is no URL of HTTP
 */
export function sessionChannel(url: string | URL, options: HttpChannelOptions = {}): Channel {
  return new RemoteSession(new HttpTarget(new URL(url), options), options);
}

/**
 * The channel of a server that speaks HTTP+SSE alone, the carrier of the first revision; `connect` finds that out by itself.
 * @throws TypeError for what is no URL of HTTP
 */
export function legacySseChannel(url: string | URL, options: HttpChannelOptions = {}): Channel {
  return new RemoteLegacySse(new HttpTarget(new URL(url), options), options);
}
