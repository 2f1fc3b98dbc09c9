import { recordingSuffix } from "../recordings/recording-directory.js";

/** The path of a recording, or the one beside it where that is taken: the second, the third. */
export function numberedPath(path: string, number: number): string {
  if (number === 1) return path;
  const end = path.endsWith(recordingSuffix) ? recordingSuffix : "";
  return `${path.slice(0, path.length - end.length)}-${number}${end}`;
}
