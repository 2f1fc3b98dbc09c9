import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { exclusively, type StoredCredentials, type TokenStore } from "../../auth/client/token-store.js";
import { isObject, parseJson } from "../../base/json.js";
import { codeOf, withFileLock } from "./file-lock.js";

type Credentials = Readonly<Record<string, StoredCredentials>>;

/** The form of the content of a file. */
export interface TokenFormat {
  /** The credentials; undefined for what is not a content of this form. Rejects if they cannot be read now. */
  read(content: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** The content besides its version. Called while no other process changes the file. */
  write(credentials: Credentials): Promise<Readonly<Record<string, unknown>>>;
}

const readable: TokenFormat = {
  read: async ({ credentials }) => credentials,
  write: async (credentials) => ({ credentials }),
};

/** Tokens in a file. */
export interface FileTokenStore extends TokenStore {
  /** All credentials in the file by their keys, for a list of sign-ins. */
  entries(): Promise<ReadonlyMap<string, StoredCredentials>>;
}

/** The permissions of all users but the owner. */
const others = 0o077;

/**
 * Keeps tokens in a file that only this user can read, for all processes that name the same file: a sign-in in one is a sign-in in all, and
 * they refresh a token one at a time. The file is replaced in one step, so that a crash leaves the old one or the new one.
 *
 * A file that other users can read is refused. A file that is not JSON is renamed to `….corrupt-…` with a warning of the process, and
 * the user signs in again.
 *
 * @param path default: `parlance/credentials.json` in the directory for the state of programs (`XDG_STATE_HOME`, `~/.local/state`; on Windows
 * `%LOCALAPPDATA%`)
 *
 * @example
 * const client = await connect("https://mcp.example.com/mcp", { auth: oauth({ store: fileTokenStore() }) });
 */
export function fileTokenStore(path: string = stateFile("credentials.json")): FileTokenStore {
  return tokensInFile(path, readable);
}

/** Keeps tokens in a file of any form. */
export function tokensInFile(path: string, format: TokenFormat): FileTokenStore {
  const within = exclusively();
  const change = (edit: (credentials: Map<string, StoredCredentials>) => void): Promise<void> =>
    within("", async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await withFileLock(`${path}.lock`, async () => {
        const credentials = await readTokens(path, format);
        edit(credentials);
        await replace(path, { version: 1, ...(await format.write(Object.fromEntries(credentials))) });
      });
    });
  return {
    entries: () => readTokens(path, format),
    get: async (key) => (await readTokens(path, format)).get(key),
    set: (key, credentials) => change((kept) => void kept.set(key, credentials)),
    delete: (key) => change((kept) => void kept.delete(key)),
    exclusive: (key, run) =>
      within(`exclusive ${key}`, async () => {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const name = createHash("sha256").update(key).digest("hex").slice(0, 16);
        return withFileLock(`${path}.${name}.lock`, run);
      }),
  };
}

/** A file in the directory for the state of programs. */
export function stateFile(name: string): string {
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env;
  return join(XDG_STATE_HOME ?? LOCALAPPDATA ?? join(homedir(), ".local", "state"), "parlance", name);
}

async function readTokens(path: string, format: TokenFormat): Promise<Map<string, StoredCredentials>> {
  let text: string;
  try {
    const { mode } = await stat(path);
    if (process.platform !== "win32" && (mode & others) !== 0)
      throw new Error(`Other users of this machine can read ${path}, which contains tokens: chmod 600 ${path}`);
    text = await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return new Map();
    throw error;
  }
  const content = parseJson(text);
  const credentials = isObject(content) && content.version === 1 ? await format.read(content) : undefined;
  if (areCredentials(credentials)) return new Map(Object.entries(credentials));
  const aside = `${path}.corrupt-${Date.now()}`;
  await rename(path, aside);
  process.emitWarning(`${path} does not contain tokens; it was renamed to ${aside}`);
  return new Map();
}

function areCredentials(value: unknown): value is Credentials {
  if (!isObject(value)) return false;
  return Object.values(value).every(
    (each) => isObject(each) && typeof each.issuer === "string" && typeof each.resource === "string",
  );
}

async function replace(path: string, content: Readonly<Record<string, unknown>>): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const text = `${JSON.stringify(content, undefined, 2)}\n`;
    await writeFile(temporary, text, { flag: "wx", mode: 0o600, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
