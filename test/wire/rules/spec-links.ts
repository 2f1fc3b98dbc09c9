import pages from "../../fixtures/spec-pages.json" with { type: "json" };

const sections: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = pages;

/** Whether an address leads to a page of the specification, and a section, that are there. Other sites are not asked. */
export function leadsSomewhere(address: string): boolean {
  const { host, pathname, hash } = new URL(address);
  if (host !== "modelcontextprotocol.io") return true; // What JSON and JSON-RPC say has no revisions.
  const [, version = "", page = ""] = /^\/specification\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
  const anchors = sections[version]?.[page];
  return anchors !== undefined && (hash === "" || anchors.includes(hash.slice(1)));
}
