/** The connections of a recording: exchanges that belong to one MCP session have one name. */
export class SessionNames {
  readonly #names = new Map<string, string>();

  /** The session of exchanges without a session id. */
  readonly none: string = "0";

  /** The session for an id of the server: `Mcp-Session-Id`, or the endpoint URL of an event stream. */
  of(id: string): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const name = String(this.#names.size + 1);
    this.#names.set(id, name);
    return name;
  }

  /** Whether the server has used this id for a session. */
  has(id: string): boolean {
    return this.#names.has(id);
  }

  /** Registers another id of the same session. */
  alias(id: string, name: string): void {
    this.#names.set(id, name);
  }
}
