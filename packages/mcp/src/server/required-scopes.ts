import { kindOf } from "../base/json.js";
import type { Identity } from "../jsonrpc/call.js";
import { codes, RpcError } from "../jsonrpc/errors.js";
import type { Operation } from "./servable.js";

/** The members of a definition that say who may use it. */
export interface ScopedDefinition {
  /**
   * The OAuth scopes that a caller needs, all of them. Over HTTP a caller without them gets 403 with a challenge that names them, so that
   * its client can ask the user for more. On stdio and in memory, where the caller is the user of this machine, they are not
   * checked. Default: none.
   */
  readonly scopes?: readonly string[];
  /**
   * Whether a caller over HTTP or a WebSocket sees the definition; undefined is an anonymous caller. Where it is false, the definition is
   * in none of the caller's lists, a call of it fails as a call of one that does not exist, and the caller is not notified of its
   * changes. It is called for every list, call and change, and must not return a promise. What it throws fails the call; the notification
   * of a change is not sent. Not called on stdio and in memory. Default: every caller sees it.
   */
  readonly visible?: (auth: Identity | undefined) => boolean;
}

/** Thrown for a caller that lacks a scope. A transport over HTTP responds with 403 and a challenge. */
export class InsufficientScope extends RpcError {
  readonly scopes: readonly string[];

  constructor(what: string, scopes: readonly string[]) {
    super(
      codes.forbidden,
      `Forbidden: ${what} requires the ${scopes.length === 1 ? "scope" : "scopes"} ${scopes.join(" ")}`,
      { scopes },
    );
    this.scopes = scopes;
  }
}

type Caller = Pick<Operation, "auth" | "report">;

/** Whether a caller has all of the scopes, or needs none because it is local. */
export function hasScopes(scopes: readonly string[] | undefined, { auth }: Caller): boolean {
  if (scopes === undefined || scopes.length === 0 || auth === undefined) return true;
  return auth !== "anonymous" && scopes.every((scope) => auth.scopes?.includes(scope));
}

/** @throws InsufficientScope for a caller that lacks one of the scopes */
export function requireScopes(what: string, scopes: readonly string[] | undefined, caller: Caller): void {
  if (scopes === undefined || hasScopes(scopes, caller)) return;
  const { auth, report } = caller;
  if (auth === "anonymous") {
    const remedy = "give the transport auth, or remove the scopes";
    report?.({
      kind: "fault",
      method: "auth",
      error: new Error(`${what} has scopes, but its callers are anonymous: ${remedy}`),
    });
  }
  throw new InsufficientScope(what, scopes);
}

/** RFC 6749 §3.3: visible ASCII except the double quote and the backslash. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** @throws TypeError for a `visible` that is no function */
export function requireVisible(what: string, visible: ScopedDefinition["visible"]): void {
  if (visible === undefined || typeof visible === "function") return;
  throw new TypeError(`${what}: visible must be a function of the caller, got ${kindOf(visible)}`);
}

/** @throws TypeError for scopes that no token can have, and for a `visible` that is no function */
export function requireAccess(what: string, { scopes, visible }: ScopedDefinition): void {
  requireVisible(what, visible);
  if (scopes === undefined) return;
  if (!Array.isArray(scopes)) throw new TypeError(`${what}: scopes must be an array of strings, e.g. ["files:write"]`);
  const wrong = scopes.find((scope) => typeof scope !== "string" || !scopeToken.test(scope));
  if (wrong === undefined) return;
  throw new TypeError(
    `${what}: ${JSON.stringify(wrong)} is not a scope: write one like "files:write", each in a string of its own`,
  );
}
