/** The connections of a recording: exchanges that belong to one MCP session have one name. */
export class SessionNames {
  readonly #names = new Map<string, string>();

  /** Of exchanges that belong to no session, or to one that nobody names. */
  readonly none: string = "0";

  /** The name of the session that its server calls so: `Mcp-Session-Id`, or the address that an event stream gives. */
  of(id: string): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const name = String(this.#names.size + 1);
    this.#names.set(id, name);
    return name;
  }

  /** Whether a server has called a session so. */
  has(id: string): boolean {
    return this.#names.has(id);
  }

  /** Another name that a server uses for the same session. */
  alias(id: string, name: string): void {
    this.#names.set(id, name);
  }
}
