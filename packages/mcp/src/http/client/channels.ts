import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { openMembers } from "../../client/session/open-session.js";
import type { Channel } from "../../jsonrpc/channel.js";
import { type HttpClientOptions, HttpTarget, httpClientMembers } from "./http-target.js";
import { RemoteLegacySse } from "./remote-legacy-sse.js";
import { type HttpTransportOptions, RemoteSession } from "./remote-session.js";

/** Options of a channel to a server at a URL. */
export interface HttpChannelOptions extends HttpClientOptions, HttpTransportOptions {}

const { clock, lenient, limits, random, report } = openMembers;
const channelMembers: MembersOf<HttpChannelOptions> = {
  ...httpClientMembers,
  clock,
  lenient,
  limits,
  random,
  report,
};

/**
 * A Streamable HTTP session with a server as a channel, for programs that inspect or forward its frames. `connect`
 * opens one by itself.
 *
 * @example
 * const client = await connect(() => sessionChannel("https://example.com/mcp"), { era: "handshake", reopen: true });
 *
 * @throws TypeError for an invalid HTTP URL
 */
export function sessionChannel(url: string | URL, options: HttpChannelOptions = {}): Channel {
  checkMembers("sessionChannel", options, channelMembers);
  return new RemoteSession(new HttpTarget(new URL(url), options), options);
}

/**
 * A channel to a server that supports only HTTP+SSE, the HTTP transport of 2024-11-05. `connect` detects such servers
 * by itself.
 *
 * @throws TypeError for an invalid HTTP URL
 */
export function legacySseChannel(url: string | URL, options: HttpChannelOptions = {}): Channel {
  checkMembers("legacySseChannel", options, channelMembers);
  return new RemoteLegacySse(new HttpTarget(new URL(url), options), options);
}
