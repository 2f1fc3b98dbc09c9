import { mcpHeaders } from "../protocol/http-headers.js";
import { revisionOf } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import type { HttpEntry } from "./entry.js";
import type { Exchange } from "./message.js";

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
