import { relative } from "node:path";
import { pathToFileURL } from "node:url";

/** The path of a recording, as short as it can be clicked on. */
export function sourceOf(path: string): string {
  if (path === "-") return "stdin";
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
}

/** The address of a recording, relative to where the command runs. */
export function uriOf(path: string): string {
  const source = sourceOf(path);
  return source === path && path.startsWith("/") ? pathToFileURL(path).href : encodeURI(source.replaceAll("\\", "/"));
}
