import type { AuthResponse } from "../resource-server.js";

/** The headers of every page: no script, no frame, no cache, no referrer, and forms go only where this server redirects to. */
function pageHeaders(formTargets: readonly string[]): Readonly<Record<string, string>> {
  const forms = ["'self'", ...formTargets].join(" ");
  const policy = `default-src 'none'; style-src 'unsafe-inline'; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`;
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
}

const style =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}" +
  "button{font:inherit;padding:.4rem 1rem;margin:.2rem .4rem .2rem 0}code{overflow-wrap:anywhere}";

/** A text in HTML. */
export function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

/**
 * A page. `content` is HTML.
 * @param formTargets the sources to which a form of it may lead besides this origin, also by a redirect
 */
export function page(
  status: number,
  title: string,
  content: string,
  formTargets: readonly string[] = [],
): AuthResponse {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>`;
  const body = `<!doctype html><html lang="en"><head>${head}<style>${style}</style></head><body><main><h1>${escapeHtml(title)}</h1>${content}</main></body></html>`;
  return { status, headers: pageHeaders(formTargets), body };
}

/** A redirect URI as a source of a Content Security Policy. */
export function sourceOf(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri);
  return origin === "null" ? protocol : origin;
}
