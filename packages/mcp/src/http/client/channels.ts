import { checkMembers, type MembersOf } from "../../base/members.js";
import type { Channel } from "../../jsonrpc/channel.js";
import { openMembers } from "../../lifecycle/open.js";
import { type HttpClientOptions, HttpTarget, httpClientMembers } from "./http-target.js";
import { RemoteLegacySse } from "./remote-legacy-sse.js";
import { type HttpCarrierOptions, RemoteSession } from "./remote-session.js";

/** What can be set about a channel to a server at a URL. */
export interface HttpChannelOptions extends HttpClientOptions, HttpCarrierOptions {}

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
 * A session with a server at a URL as a channel, for whoever looks at its frames or passes them on; `connect` opens it by itself.
 *
 * @example
 * const client = await connect(() => sessionChannel("https://example.com/mcp"), { era: "handshake", reopen: true });
 *
 * @throws TypeError for what is no URL of HTTP
 */
export function sessionChannel(url: string | URL, options: HttpChannelOptions = {}): Channel {
  checkMembers("sessionChannel", options, channelMembers);
  return new RemoteSession(new HttpTarget(new URL(url), options), options);
}

/**
 * The channel of a server that speaks HTTP+SSE alone, the carrier of the first revision; `connect` finds that out by itself.
 * @throws TypeError for what is no URL of HTTP
 */
export function legacySseChannel(url: string | URL, options: HttpChannelOptions = {}): Channel {
  checkMembers("legacySseChannel", options, channelMembers);
  return new RemoteLegacySse(new HttpTarget(new URL(url), options), options);
}
