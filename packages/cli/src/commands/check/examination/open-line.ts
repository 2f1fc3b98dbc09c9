import type { Revision } from "@parlance/mcp/protocol";
import { recordedBytes } from "@parlance/wire";
import { ChannelLine } from "./channel-line.js";
import type { Examinee } from "./examinee.js";
import { HttpLine } from "./http-line.js";
import type { Line, Observer } from "./line.js";

/** How a line is opened. */
export interface LineOptions {
  /** Milliseconds to wait for an answer. */
  readonly patience: number;
  /** Milliseconds to wait for the first answer of a server behind a channel, which may have to be started. Default: `patience`. */
  readonly firstPatience?: number;
  readonly observer: Observer;
  /** The name of the session in the recording. */
  readonly session: string;
  /** Once it is aborted, nothing is waited for any more. */
  readonly stop?: AbortSignal;
  /** What will be spoken, as far as it is known. */
  readonly revision: Revision | undefined;
}

/** Opens a line to a server. Nothing is sent. */
export function openLine(examinee: Examinee, options: LineOptions): Line {
  const { patience, firstPatience = patience, observer, session, revision, stop } = options;
  if (examinee.kind === "channel") {
    const channel = examinee.dial((chunk) =>
      observer.see((n, t) => ({ k: "e", n, s: session, t, ...recordedBytes(chunk) })),
    );
    return new ChannelLine({ patience, firstPatience, observer, session, channel, stop });
  }
  const { url, headers } = examinee;
  const isStateless = revision?.era === "stateless";
  const version = isStateless ? revision.version : undefined;
  return new HttpLine({ patience, observer, session, url, headers, mirrors: isStateless, version, stop });
}
