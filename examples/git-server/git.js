import { spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import { basename, isAbsolute } from "node:path";

// Runs git so that it only reads, and only in one repository. Knows nothing of MCP.

/** More of git's output than a model can use: git is stopped behind it. */
export const mostBytes = 1024 * 1024;
/** Of git's complaints, enough to mend a mistake. */
const mostWords = 4 * 1024;
/** The longest that a client waits; a git that waits for a file system would never end. */
const mostMilliseconds = 120_000;

/** Whatever the user and the repository have configured. */
const settings = Object.entries({
  // Programs that git would start.
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "log.showSignature": "false",
  // `git diff` would write to the index what it has seen of time stamps, even without optional locks.
  "diff.autoRefreshIndex": "false",
  // How names and texts are printed.
  "core.quotePath": "false",
  "i18n.logOutputEncoding": "UTF-8",
}).flatMap(([name, value]) => ["-c", `${name}=${value}`]);

const environment = {
  // Git's own variables could lead it to another repository, or to other programs.
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^GIT_/i.test(name))),
  GIT_LITERAL_PATHSPECS: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  // A partial clone would fetch what it lacks; there is no protocol of this name.
  GIT_ALLOW_PROTOCOL: "none",
  LC_ALL: "C",
};

/** Git has not done what it was asked for. The message has its own words. */
export class GitError extends Error {}

/** There is no commit of this name. */
export class UnknownRevision extends GitError {}

/**
 * The output of git.
 *
 * @typedef {object} Output
 * @property {Buffer} bytes
 * @property {string} text the same, read as UTF-8
 * @property {boolean} cut there was more
 */

/**
 * Whoever waits for git.
 *
 * @typedef {object} Watch
 * @property {AbortSignal} [signal] stops git
 * @property {(args: readonly string[]) => void} [onStart]
 * @property {(bytes: number) => void} [onOutput] told how much there is, while it grows
 */

/** A repository to read. */
export class Repository {
  #folders;
  #names;
  #watch;

  /**
   * @param {{ root: string, gitFolder: string }} folders what paths are relative to, and where git keeps HEAD and the index
   * @param {ReadonlyMap<string, string>} names what folders of this machine are called in front of others
   * @param {Watch} [watch]
   */
  constructor(folders, names, watch = {}) {
    this.#folders = folders;
    this.#names = names;
    this.#watch = watch;
  }

  get name() {
    return basename(this.#folders.root);
  }

  /** Of this working tree: a linked one has its own. */
  get gitFolder() {
    return this.#folders.gitFolder;
  }

  /**
   * The same repository, with somebody waiting for it.
   *
   * @param {Watch} watch
   */
  watched(watch) {
    return new Repository(this.#folders, this.#names, watch);
  }

  /**
   * Runs a git command. In its arguments, paths from outside stand behind `--`, and revisions from outside are hashes:
   * see `commit`.
   *
   * @param {readonly string[]} args
   * @throws {GitError} unless git succeeds
   */
  async run(args) {
    try {
      return await git(this.#folders.root, args, this.#watch);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      let { message } = error;
      for (const [folder, name] of this.#names) message = message.replaceAll(folder, name);
      throw new GitError(message, { cause: error });
    }
  }

  /**
   * The hash of the commit that a revision names.
   *
   * @param {string} revision
   * @throws {UnknownRevision} unless it names one
   */
  async commit(revision) {
    try {
      const { text } = await this.run(["rev-parse", "--verify", "--end-of-options", `${revision}^{commit}`]);
      return text.trim();
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      throw new UnknownRevision(`revision ${JSON.stringify(revision)}: ${error.message}`, { cause: error });
    }
  }

  /**
   * Git would take the missing index of a bare repository for an empty one, as if everything were staged to be deleted.
   *
   * @throws {GitError} if the repository is bare
   */
  async requireWorkTree() {
    await this.run(["rev-parse", "--show-toplevel"]);
  }

  /** Whether the history has been cut off when it was cloned: then the first commits have lost their parents. */
  async isShallow() {
    const { text } = await this.run(["rev-parse", "--is-shallow-repository"]);
    return text.trim() === "true";
  }
}

/**
 * The repository that a folder is in.
 *
 * @param {string} folder
 * @throws {GitError} unless it is in one
 */
export async function openRepository(folder) {
  /** @param {readonly string[]} question */
  const ask = async (...question) => (await git(folder, ["rev-parse", ...question])).text.replace(/\r?\n$/, "");
  const bare = (await ask("--is-bare-repository")) === "true";
  const gitFolder = await ask("--absolute-git-dir");
  const root = bare ? gitFolder : await ask("--show-toplevel");
  /** @type {readonly (readonly [string, string])[]} */
  const names = [
    [root, "."],
    [gitFolder, ".git"],
    [await ask("--path-format=absolute", "--git-common-dir"), ".git"],
    [homedir(), "~"],
  ];
  return new Repository({ root, gitFolder }, new Map(names.filter(([path]) => path !== "/")));
}

/**
 * Whether git can be given this as a path: relative, and without a way out of the folder that it is relative to.
 *
 * @param {string} path
 */
export function isInside(path) {
  return !isAbsolute(path) && !path.split(/[/\\]/).includes("..") && !path.includes("\0");
}

/**
 * Whether git can be given this as a revision: it is no option, and excludes nothing.
 *
 * @param {string} revision
 */
export function isRevision(revision) {
  return !/^[-^]/.test(revision) && !revision.includes("\0");
}

/**
 * @param {string} folder
 * @param {readonly string[]} args
 * @param {Watch} [watch]
 * @returns {Promise<Output>}
 */
async function git(folder, args, { signal, onStart, onOutput } = {}) {
  onStart?.(args);
  // An argument is an argument: there is no shell that could read it otherwise.
  const child = spawn("git", ["--no-pager", ...settings, "-C", folder, ...args], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: mostMilliseconds,
    windowsHide: true,
    ...(signal === undefined ? {} : { signal }),
  });
  const onBytes = (/** @type {number} */ bytes) => {
    onOutput?.(bytes);
    if (bytes > mostBytes) child.kill();
  };
  try {
    const [output, words, [code, killer]] = await Promise.all([
      head(child.stdout, mostBytes, onBytes),
      head(child.stderr, mostWords),
      once(child, "close"),
    ]);
    if (code === 0 || output.cut) return output;
    const end = killer === null ? `ended with code ${code}` : `was ended by ${killer}`;
    throw new GitError(words.text.trim() || `git ${args[0]} ${end}`);
  } catch (error) {
    if (signal?.aborted) throw new GitError(`git ${args[0]} was stopped`, { cause: error });
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw missing ? new GitError("There is no git command: install git, or add it to PATH", { cause: error }) : error;
  }
}

/**
 * The beginning of a stream, which is read to its end.
 *
 * @param {import("node:stream").Readable} stream
 * @param {number} most
 * @param {(bytes: number) => void} [onBytes]
 * @returns {Promise<Output>}
 */
async function head(stream, most, onBytes) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of stream) {
    if (bytes < most) chunks.push(chunk);
    bytes += chunk.length;
    onBytes?.(bytes);
  }
  const beginning = Buffer.concat(chunks).subarray(0, most);
  return { bytes: beginning, text: beginning.toString(), cut: bytes > most };
}
