import { Conversation, type Entry, EntryWriter } from "@parlance/wire";
import { openRawClient, rawServerOf } from "../../shared/target/raw-server.js";
import type { Target } from "../../shared/target/target.js";
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
  const writer = new EntryWriter((entry) => {
    entries.push(entry);
    conversation.push(entry);
  });
  const server = await rawServerOf(options.target);
  for (const session of recording.sessions) {
    if (session.operations.length === 0) continue;
    const { name, revision } = session;
    const client = openRawClient(server, { timeout: options.timeout, writer, session: name, revision });
    await new ClientPlayer(recording, session, client).play();
    await client.close();
  }
  conversation.finish();
  return { entries, conversation };
}
