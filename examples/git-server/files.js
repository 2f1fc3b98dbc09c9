import { isUtf8 } from "node:buffer";
import mime from "mime/lite";
import { GitError, isInside, isRevision, mostBytes, UnknownRevision } from "./git.js";

/** @import { Repository } from "./git.js" */

/**
 * A file as it was committed; undefined if there is none.
 *
 * @param {Repository} git
 * @param {string} path
 * @param {string} revision
 * @throws {GitError} for one that is too large
 */
export async function readFile(git, path, revision) {
  const files = await entries(git, revision, path);
  const file = files.find(({ type, name }) => type === "blob" && name === path);
  if (file === undefined) return undefined;
  if (file.size > mostBytes) {
    throw new GitError(
      `${path} has ${file.size} bytes: at most ${mostBytes} can be read, git_blame shows a part of it`,
    );
  }
  // By its own hash: neither a path nor a filter has a say in what is printed.
  const { bytes } = await git.run(["cat-file", "blob", file.hash]);
  return contentsOf(bytes, path);
}

/**
 * The files and folders that a path can go on to, folders with a slash at their end.
 *
 * @param {Repository} git
 * @param {string} typed
 * @param {string} revision
 */
export async function completePath(git, typed, revision) {
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const inside = await entries(git, revision, folder);
  return inside
    .filter(({ name }) => name.startsWith(typed))
    .map(({ type, name }) => (type === "tree" ? `${name}/` : name));
}

/**
 * The object of a commit at a path: a file, a folder, or with a slash at the end the contents of that folder.
 *
 * @param {Repository} git
 * @param {string} revision
 * @param {string} path empty for the root
 */
async function entries(git, revision, path) {
  if (!isInside(path) || !isRevision(revision)) return [];
  const hash = await git.commit(revision).catch(unknown);
  if (hash === undefined) return [];
  const scope = path === "" ? [] : ["--", path];
  const { text } = await git.run(["ls-tree", "-z", "--long", "--full-tree", hash, ...scope]);
  // Behind the last NUL there is nothing, or what a cut has left.
  return text.split("\0").slice(0, -1).map(entryOf);
}

/**
 * `100644 blob <hash> <size>\t<path>`: https://git-scm.com/docs/git-ls-tree#_output_format
 *
 * @param {string} line
 */
function entryOf(line) {
  const [words = "", ...name] = line.split("\t");
  const [, type = "", hash = "", size] = words.split(/ +/);
  return { type, hash, size: Number(size), name: name.join("\t") };
}

/** @param {unknown} error */
function unknown(error) {
  if (error instanceof UnknownRevision) return undefined;
  throw error;
}

/** The types of texts that say more than that it is one. Others of the table are wrong about sources: a `.ts` is a video there. */
const typeOfText = /^text\/|\/json$|\/svg\+xml$/;

/**
 * @param {Buffer} bytes
 * @param {string} path
 */
function contentsOf(bytes, path) {
  const type = mime.getType(path) ?? undefined;
  const isText = isUtf8(bytes) && !bytes.includes(0);
  if (!isText) return { blob: bytes, mimeType: type ?? "application/octet-stream" };
  return { text: bytes.toString(), mimeType: type !== undefined && typeOfText.test(type) ? type : "text/plain" };
}
