import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { CompactEncrypt, compactDecrypt, errors } from "jose";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { thrownText } from "../../jsonrpc/errors.js";
import { type FileTokenStore, stateFile, type TokenFormat, tokensInFile } from "./file-token-store.js";

/** Options of `keychainTokenStore`. */
interface KeychainTokenStoreOptions {
  /**
   * The file with the encrypted tokens. Default: `parlance/credentials.encrypted.json` in the directory for the state of programs, as for
   * `fileTokenStore`.
   */
  readonly path?: string;
  /** The name under which the keychain shows the key. Default: `Parlance MCP tokens`. */
  readonly service?: string;
}

const members: MembersOf<KeychainTokenStoreOptions> = {
  path: ["string", "file"],
  service: ["string", "name", "serviceName"],
};

/**
 * Keeps tokens in a file that is encrypted with a key in the keychain of the operating system: the Keychain of macOS, the Credential Manager
 * of Windows, and on Linux the Secret Service (GNOME Keyring, KWallet, KeePassXC). A copy of the file is of no use without the keychain of
 * its user. Otherwise it is as `fileTokenStore`: for all processes of one user, replaced in one step, one refresh at a time.
 *
 * The tokens themselves are not in the keychain, because that of Windows takes 2,560 bytes for an entry, which tokens of providers exceed.
 * A file whose key is gone is renamed to `….corrupt-…` with a warning of the process, and the user signs in again.
 *
 * Needs the package `@napi-rs/keyring`. Every operation rejects with an error that names the remedy without it, and where there is no
 * keychain, as in most containers, or the user does not unlock it.
 *
 * @example
 * const client = await connect("https://mcp.example.com/mcp", { auth: oauth({ store: keychainTokenStore() }) });
 */
export function keychainTokenStore(options: KeychainTokenStoreOptions = {}): FileTokenStore {
  checkMembers("keychainTokenStore", options, members);
  const { path = stateFile("credentials.encrypted.json"), service = "Parlance MCP tokens" } = options;
  return tokensInFile(path, encrypted(new KeychainKey(service, resolve(path))));
}

function encrypted(key: KeychainKey): TokenFormat {
  return {
    async read({ encrypted: text }) {
      const secret = await key.read();
      if (typeof text !== "string" || secret === undefined) return undefined;
      try {
        const { plaintext } = await compactDecrypt(text, secret, {
          keyManagementAlgorithms: ["dir"],
          contentEncryptionAlgorithms: ["A256GCM"],
        });
        return JSON.parse(new TextDecoder().decode(plaintext)) as unknown;
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined; // Encrypted with another key, or damaged.
        throw error;
      }
    },
    async write(credentials) {
      const secret = (await key.read()) ?? (await key.create());
      const content = new TextEncoder().encode(JSON.stringify(credentials));
      const jwe = new CompactEncrypt(content).setProtectedHeader({ alg: "dir", enc: "A256GCM" });
      return { encrypted: await jwe.encrypt(secret) };
    },
  };
}

/** The parts of an entry of `@napi-rs/keyring`. */
interface Entry {
  getPassword(): Promise<string | null>;
  setPassword(password: string): Promise<void>;
}

/** The key of one file, in base64. It is read for every operation: a keychain that was locked meanwhile gives it no more. */
class KeychainKey {
  readonly #service: string;
  readonly #account: string;
  #entry: Promise<Entry> | undefined;

  constructor(service: string, account: string) {
    this.#service = service;
    this.#account = account;
  }

  async read(): Promise<Uint8Array | undefined> {
    const kept = await this.#use((entry) => entry.getPassword());
    const key = Buffer.from(kept ?? "", "base64");
    return key.length === 32 ? key : undefined;
  }

  async create(): Promise<Uint8Array> {
    const key = randomBytes(32);
    await this.#use((entry) => entry.setPassword(key.toString("base64")));
    return key;
  }

  async #use<T>(run: (entry: Entry) => Promise<T>): Promise<T> {
    this.#entry ??= this.#open();
    try {
      return await run(await this.#entry);
    } catch (error) {
      this.#entry = undefined; // The keychain may be there the next time.
      if (error instanceof KeychainUnavailable) throw error;
      throw new KeychainUnavailable(`the keychain cannot be used (${thrownText(error)}): unlock it, ${remedy}`, {
        cause: error,
      });
    }
  }

  async #open(): Promise<Entry> {
    const { AsyncEntry } = await import("@napi-rs/keyring").catch((error: unknown) => {
      throw new KeychainUnavailable("it needs the package @napi-rs/keyring: npm install @napi-rs/keyring", {
        cause: error,
      });
    });
    // Otherwise the keyring of the Linux kernel would take its place, which forgets everything at the next start of the machine.
    return new AsyncEntry(this.#service, this.#account, { linux: { store: "secret-service" } });
  }
}

const remedy =
  process.platform === "linux"
    ? "start a Secret Service such as gnome-keyring or KWallet, or use fileTokenStore()"
    : "or use fileTokenStore()";

class KeychainUnavailable extends Error {
  override readonly name = "KeychainUnavailable";

  constructor(problem: string, options: ErrorOptions) {
    super(`keychainTokenStore: ${problem}`, options);
  }
}
