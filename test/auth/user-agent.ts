/** A browser as far as a sign-in needs one: it keeps cookies by origin, follows redirects, and sends forms. */
export class UserAgent {
  readonly #cookies = new Map<string, Map<string, string>>();
  /** The pages that it was shown. */
  readonly pages: { readonly url: URL; readonly html: string; readonly headers: Headers }[] = [];

  /**
   * Opens a URL and follows redirects until a page, or until a URL that begins with `until`.
   * @returns the URL of the redirect; undefined for a page
   */
  async open(url: string | URL, until: string, init: RequestInit = {}): Promise<URL | undefined> {
    let next = new URL(url);
    let options = init;
    for (let hops = 0; hops < 20; hops += 1) {
      if (next.href.startsWith(until)) return next;
      const cookies = this.#cookies.get(next.host) ?? new Map<string, string>();
      this.#cookies.set(next.host, cookies);
      const headers = new Headers(options.headers);
      if (cookies.size > 0) headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
      const response = await fetch(next, { ...options, headers, redirect: "manual" });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        if (value === "") cookies.delete(name);
        else cookies.set(name, value);
      }
      const html = await response.text();
      const location = response.headers.get("location");
      if (location === null) {
        this.pages.push({ url: next, html, headers: response.headers });
        return undefined;
      }
      next = new URL(location, next);
      options = {};
    }
    throw new Error("too many redirects");
  }

  /** The HTML of the last page. */
  get html(): string {
    return this.pages.at(-1)?.html ?? "";
  }

  /** Sends the first form of the last page, with its hidden fields and those given. */
  async submit(fields: Readonly<Record<string, string>>, until: string): Promise<URL | undefined> {
    const last = this.pages.at(-1);
    if (last === undefined) throw new Error("there is no page");
    const body = new URLSearchParams();
    for (const [input] of last.html.matchAll(/<input[^>]*>/g)) {
      if (attribute(input, "type") === "hidden") body.set(attribute(input, "name"), attribute(input, "value"));
    }
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const [form = ""] = /<form[^>]*>/.exec(last.html) ?? [];
    return this.open(new URL(attribute(form, "action"), last.url), until, { method: "POST", body });
  }
}

function attribute(tag: string, name: string): string {
  return new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
}
