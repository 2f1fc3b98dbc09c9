import { Conversation, type Entry, type WireSession } from "@parlance/mcp/wire";
import { HttpLine } from "../examination/http-line.js";
import { type Line, Observer } from "../examination/line.js";
import { StdioLine } from "../examination/stdio-line.js";
import { usageFailure } from "../failure.js";
import type { Target } from "../target.js";
import { ClientPlayer } from "./client-player.js";

/** How a server is driven. */
export interface DriveOptions {
  readonly target: Target;
  /** Milliseconds to wait for an answer. */
  readonly timeout: number;
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** The conversation that came of it. */
export interface Driven {
  readonly entries: readonly Entry[];
  readonly conversation: Conversation;
}

/** Says to a server everything that the client of a recording has said, session by session. @throws Failure */
export async function drive(recording: Conversation, options: DriveOptions): Promise<Driven> {
  const entries: Entry[] = [];
  const conversation = new Conversation();
  const observer = new Observer((entry) => {
    entries.push(entry);
    conversation.push(entry);
  });
  for (const session of recording.sessions) {
    if (session.operations.length === 0) continue;
    const line = lineTo(session, observer, options);
    await new ClientPlayer(recording, session, line).play();
    await line.close();
  }
  conversation.finish();
  return { entries, conversation };
}

function lineTo(session: WireSession, observer: Observer, { target, timeout, env, headers }: DriveOptions): Line {
  const shared = { observer, session: session.name, patience: timeout };
  if (target.kind === "command") return new StdioLine({ ...shared, command: target.command, args: target.args, env });
  if (target.kind !== "url" || !target.url.protocol.startsWith("http"))
    throw usageFailure(`${target.title} cannot be driven by a recording`, "name a command, or a URL of HTTP");
  const isStateless = session.era === "stateless";
  const version = isStateless ? session.revision?.version : undefined;
  return new HttpLine({ ...shared, url: target.url.href, headers, mirrors: isStateless, version });
}
