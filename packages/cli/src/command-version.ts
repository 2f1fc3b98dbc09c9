import { readFileSync } from "node:fs";

/** The version of this command. */
export function commandVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version; // Our own package.
}
