/**
 * Whether a change of `uri` is one of `followed`: of the resource itself, or of a part of it.
 * https://modelcontextprotocol.io/specification/latest/schema#resourceupdatednotificationparams
 */
export function coversUri(followed: string, uri: string): boolean {
  if (!uri.startsWith(followed)) return false;
  return uri.length === followed.length || followed.endsWith("/") || "/?#".includes(uri.charAt(followed.length));
}
