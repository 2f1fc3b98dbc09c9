import { Conversation, type Entry } from "@parlance/wire";
import type { Target } from "../../shared/target/target.js";
import { examineeOf } from "../check/examination/examinee.js";
import { Observer } from "../check/examination/line.js";
import { openLine } from "../check/examination/open-line.js";
import { ClientPlayer } from "./client-player.js";

/** How a server is driven. */
export interface DriveOptions {
  readonly target: Target;
  /** Milliseconds to wait for an answer. */
  readonly timeout: number;
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
  const examinee = await examineeOf(options.target);
  for (const session of recording.sessions) {
    if (session.operations.length === 0) continue;
    const { name, revision } = session;
    const line = openLine(examinee, { patience: options.timeout, observer, session: name, revision });
    await new ClientPlayer(recording, session, line).play();
    await line.close();
  }
  conversation.finish();
  return { entries, conversation };
}
