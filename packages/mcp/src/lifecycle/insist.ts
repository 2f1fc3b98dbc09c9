import { LocalError } from "../jsonrpc/errors.js";
import type { Era, Revision } from "../revisions/revision.js";
import type { NotStateless } from "./probe.js";

/** @throws LocalError `protocol` for another revision than the one that is insisted on */
export function insist(wanted: Revision | undefined, offered: Revision): void {
  if (wanted !== undefined && wanted !== offered) throw notSpoken(wanted.version, `it offers ${offered.version}`);
}

/** What of an opening says which era it must be. */
interface Insistence {
  readonly revision?: Revision;
  readonly era?: Era;
}

/** A server that does not speak the stateless era is spoken to in the other one. @throws LocalError where that must not be */
export function allowHandshake({ revision, era }: Insistence, { answered, why }: NotStateless): void {
  const wanted = revision?.version ?? (era === "stateless" ? `a revision of the ${era} era` : undefined);
  if (wanted !== undefined) throw answered ? notSpoken(wanted, why.message) : why;
}

function notSpoken(wanted: string, why: string): LocalError {
  return new LocalError("protocol", `the server does not speak ${wanted}: ${why}`);
}
