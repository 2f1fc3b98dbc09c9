import { LocalError } from "../../jsonrpc/errors.js";
import type { Era, Revision } from "../../protocol/revisions/revision.js";
import type { NotStateless } from "./probe.js";

/** @throws LocalError `protocol` for another revision than the one that is insisted on */
export function requireRevision(wanted: Revision | undefined, offered: Revision): void {
  if (wanted !== undefined && wanted !== offered) throw notSpoken(wanted.version, `it offers ${offered.version}`);
}

/** The options that require an era or a revision. */
interface RevisionRequirement {
  readonly revision?: Revision;
  readonly era?: Era;
}

/** Allows the fallback to a handshake. @throws LocalError if the options require the stateless era */
export function requireHandshakeAllowed({ revision, era }: RevisionRequirement, { answered, why }: NotStateless): void {
  const wanted = revision?.version ?? (era === "stateless" ? `a revision of the ${era} era` : undefined);
  if (wanted !== undefined) throw answered ? notSpoken(wanted, why.message) : why;
}

function notSpoken(wanted: string, why: string): LocalError {
  return new LocalError("protocol", `the server does not speak ${wanted}: ${why}`);
}
