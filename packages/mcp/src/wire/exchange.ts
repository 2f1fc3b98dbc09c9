import { mcpHeaders } from "../protocol/http-headers.js";
import { revisionOf } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import type { HttpEntry } from "./entry.js";
import type { Frame } from "./frame.js";
import type { WireMessage } from "./message.js";

/** A request of HTTP and its response, as far as they have crossed. */
export interface Exchange {
  readonly number: number;
  readonly request: HttpEntry;
  readonly response: HttpEntry | undefined;
  readonly end: HttpEntry | undefined;
  /** What its bodies held, both ways, in order. */
  readonly frames: readonly Frame[];
  readonly messages: readonly WireMessage[];
}

/** The conversation's own view of an exchange: it alone may change it. */
export interface OpenExchange extends Exchange {
  response: HttpEntry | undefined;
  end: HttpEntry | undefined;
  readonly frames: Frame[];
  readonly messages: WireMessage[];
  /** Its rules have been asked. */
  judged: boolean;
}

/** All values of a header, joined as HTTP allows; undefined where it is not there. Names have no case. */
export function headerOf({ headers = [] }: HttpEntry, name: string): string | undefined {
  const values = headers.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(", ");
}

/** The revision that an exchange is of by its header. */
export function spokenIn({ request }: Exchange): Revision | undefined {
  const named = headerOf(request, mcpHeaders.protocolVersion);
  return named === undefined ? undefined : revisionOf(named);
}
