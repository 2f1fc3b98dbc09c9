import type { Revision } from "../revisions/revision.js";
import type { Frame, Party, Sender } from "./frame.js";
import type { ByteRange, JsonNode } from "./json-node.js";
import type { JsonFault } from "./json-scan.js";
import type { Exchange, MessageKind, WireMessage } from "./message.js";
import type { WireSession } from "./session.js";

/** `bad` breaks the protocol. `info` does not: it is what a person looking for a fault would like to know. */
export type Level = "bad" | "info";

/** What a frame is found to be when its bytes are looked at. */
export interface FrameReading {
  readonly frame: Frame;
  /** Undefined where it is JSON. */
  readonly fault: JsonFault | undefined;
  /** What stands where in it; undefined where it is not JSON. */
  readonly root: JsonNode | undefined;
  /** The frame that holds the beginning of the text that this one goes on with. */
  readonly continues: Frame | undefined;
}

/** What the rules can look at. */
export interface Subjects {
  /** The bytes of a frame, whatever they mean. */
  readonly frame: FrameReading;
  /** One message, and what the conversation knows of it. */
  readonly message: WireMessage;
  /** An HTTP exchange, when its response begins, or when there will be none. */
  readonly exchange: Exchange;
}

/** One place where a rule is broken. */
export interface Finding {
  /** What is wrong, in one sentence without its period: what was found, and what should be there. Safe to print. */
  readonly says: string;
  /** JSON pointer to the place, from the message, or from the whole of a frame. Default: all of it. */
  readonly pointer?: string;
  /** Bytes of the frame. Default: those of the pointer, or all. */
  readonly range?: ByteRange;
  /** Of an exchange: the header that it is about, in lower case. */
  readonly header?: string;
  /** Who is at fault, where it is not the sender. Of an exchange it must be said: it has two. */
  readonly party?: Party;
}

interface RuleOn<On extends keyof Subjects> {
  /** Short and lasting: `R-5`. */
  readonly id: string;
  readonly level: Level;
  /** Who can break it. */
  readonly party: Sender | "either";
  /** Of a rule on messages: the kinds that it looks at. Default: all. */
  readonly kinds?: readonly MessageKind[];
  /** What the specification demands, in one sentence. */
  readonly demands: string;
  /** Which revisions have it. Default: all. */
  readonly applies?: (revision: Revision) => boolean;
  /** The page of the specification below its version, with the anchor; or a whole address. May differ by revision. */
  readonly page: string | ((revision: Revision) => string);
  readonly on: On;
  /** Looks, and says every place. Never throws, whatever crossed. `session` is as it was before. */
  readonly check: (subject: Subjects[On], session: WireSession, revision: Revision) => Iterable<Finding>;
}

/** A rule of the protocol as data. */
export type Rule = { readonly [On in keyof Subjects]: RuleOn<On> }[keyof Subjects];

/** What a rule says of something that crossed. */
export interface Verdict {
  readonly rule: Rule;
  readonly level: Level;
  readonly party: Party;
  /** The number of what it is about. */
  readonly n: number;
  /** JSON pointer in the frame. */
  readonly pointer: string | undefined;
  /** Bytes of the frame that it is about. */
  readonly range: ByteRange | undefined;
  readonly header: string | undefined;
  readonly says: string;
  /** The version that it was judged by. */
  readonly version: string;
  /** Where the specification says so. */
  readonly spec: string;
}

const specification = "https://modelcontextprotocol.io/specification";

/** The address of the page that a rule follows in a revision. */
export function specOf({ page }: Rule, revision: Revision): string {
  const path = typeof page === "string" ? page : page(revision);
  return path.startsWith("https:") ? path : `${specification}/${revision.version}/${path}`;
}
