import type { Conversation } from "../conversation/conversation.js";
import type { RecordedOperation } from "../conversation/message.js";
import { endOf, isProbe } from "../conversation/pending.js";
import type { LifeEntry } from "../recording/entry.js";

/** A server that could not be started, or that exited with an error while its client was connected. */
export interface Crash {
  /** The number of the entry with its exit. */
  readonly n: number;
  /** The name of the session. */
  readonly session: string;
  /** `exited with code 3`, `was ended by SIGSEGV`, or why it could not be started. */
  readonly how: string;
  /** The requests of the client that it left unanswered, in order. */
  readonly during: readonly RecordedOperation[];
}

/** The side that left a session first, and whether the host has signalled the server to exit. */
interface Leaving {
  first: "client" | "server" | undefined;
  isSignalled: boolean;
}

/** The crashes of a conversation, in order. A server that exits after its client left, or on a signal of the host, did not crash. */
export function crashesOf({ rows, sessions }: Conversation): readonly Crash[] {
  const leaving = new Map<string, Leaving>();
  return rows.flatMap(({ entry }) => {
    if (entry.k !== "l") return [];
    const { s, ev, n } = entry;
    const seen = leaving.get(s) ?? { first: undefined, isSignalled: false };
    leaving.set(s, seen);
    // A crashing server closes its output first, and its client leaves because of that.
    if (ev === "stdin-end") seen.first ??= "client";
    if (ev === "close" && entry.d === "s2c") seen.first ??= "server";
    if (ev === "signal" && seen.first !== "server") seen.isSignalled = true;
    if (ev !== "exit" || seen.first === "client" || seen.isSignalled || isInOrder(entry)) return [];
    const session = sessions.find(({ name }) => name === s);
    const during = session?.pending.filter(({ request }) => request.from === "client" && request.frame.n < n) ?? [];
    if (session !== undefined && during.length > 0 && during.every((each) => isProbe(each, session))) return [];
    return [{ n, session: s, how: endOf(entry), during }];
  });
}

function isInOrder({ code, sig, why }: LifeEntry): boolean {
  return why === undefined && code === 0 && typeof sig !== "string";
}
