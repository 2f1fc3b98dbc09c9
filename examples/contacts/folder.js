import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { ToolError } from "@parlance/mcp/server";

const mostBytes = 10 * 1024 * 1024;

/**
 * Reads files of one folder, and nothing outside of it: not by `..`, and not by a link.
 *
 * @param {string} folder
 * @returns {Promise<(path: string) => Promise<string>>}
 */
export async function folderReader(folder) {
  const root = await realpath(folder);
  return async (path) => {
    const real = await realpath(resolve(root, path)).catch(() => undefined);
    // The caller does not learn whether a file outside exists.
    if (real === undefined || isOutside(relative(root, real))) {
      throw new ToolError(`There is no file ${path} in the folder for imports`);
    }
    const stats = await stat(real);
    // A pipe would be waited for.
    if (!stats.isFile()) throw new ToolError(`${path} is not a file`);
    if (stats.size > mostBytes) throw new ToolError(`${path} has more than ${mostBytes} bytes: split it`);
    return await readFile(real, "utf8").catch((cause) => {
      throw new ToolError(`${path} cannot be read: ${cause.code}`, { cause });
    });
  };
}

/** @param {string} path relative to the folder; on another drive it stays absolute */
function isOutside(path) {
  return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
}
