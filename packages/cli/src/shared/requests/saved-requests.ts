import { constants, existsSync } from "node:fs";
import { link, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { didYouMean, ExactNumber, escapeControls } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject, pointerToken } from "@parlance/mcp/protocol";
import { nodeAt, scanJson } from "@parlance/wire";
import { exitCodes } from "../exit-codes.js";
import { Failure, messageOf, usageFailure } from "../failure.js";

/** A request saved by a person, to send it again. Its numbers are exact. */
export interface SavedRequest {
  readonly name: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly description: string | undefined;
}

/** A file in the folder that is not a request. */
export interface MalformedRequest {
  readonly name: string;
  /** The file, the place in it, and the fault. */
  readonly fault: string;
}

/** The folder of requests without `--requests`, in the working directory. */
export const defaultRequests: string = join(".parlance", "requests");

const suffix = ".json";

/**
 * The maximum number of files that are read, and the maximum size of one in bytes: a request is written by hand, or is a tool
 * call.
 */
const mostFiles = 1_000;
const mostBytes = 1024 * 1024;

/** The requests in a folder: one JSON file each, `{ "method": …, "params": … }` with an optional `"description"`. */
export class SavedRequests {
  /** The folder as named by the user. */
  readonly directory: string;
  readonly #path: string;

  /** @param directory relative to the working directory */
  constructor(directory: string = defaultRequests) {
    this.directory = directory;
    this.#path = resolve(directory);
  }

  /**
   * The files of the folder, by name; empty without a folder. A malformed file has its fault. @throws Failure if the folder
   * cannot be read
   */
  async list(): Promise<readonly (SavedRequest | MalformedRequest)[]> {
    let files: readonly string[];
    try {
      files = await readdir(this.#path);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      throw this.#unusable(this.directory, "cannot be read", error);
    }
    const shown = files.filter((file) => file.endsWith(suffix) && !file.startsWith(".")).sort();
    const requests: (SavedRequest | MalformedRequest)[] = [];
    for (const file of shown.slice(0, mostFiles)) requests.push(await this.#read(file.slice(0, -suffix.length)));
    return requests;
  }

  /** The request with a name. @throws Failure if it does not exist or is malformed */
  async read(name: string): Promise<SavedRequest> {
    requireName(name);
    const read = await this.#read(name);
    if (!("fault" in read)) return read;
    if (await this.has(name)) throw usageFailure(read.fault);
    const names = (await this.list()).map((each) => each.name);
    const there = names.length === 0 ? "--save makes one" : "parlance call @ lists those that are there";
    throw usageFailure(`there is no request ${name} in ${this.directory}`, didYouMean(name, names) ?? there);
  }

  /** Whether there is a file for a name. @throws Failure for an invalid name */
  async has(name: string): Promise<boolean> {
    requireName(name);
    return existsSync(this.#pathOf(name));
  }

  /**
   * Writes a request, without `_meta`, which may hold tokens. Readers see the old file or the new one, never a part. Returns the
   * path; undefined if the name is taken and must not be replaced. A replaced request keeps its description.
   *
   * @throws Failure for an invalid name, or if the folder cannot be written
   */
  async save(
    name: string,
    { method, params }: Pick<SavedRequest, "method" | "params">,
    replaces: boolean,
  ): Promise<string | undefined> {
    requireName(name);
    const former = replaces ? await this.#read(name) : undefined;
    const { _meta: _, ...kept } = params;
    const description = former !== undefined && "method" in former ? former.description : undefined;
    const request = { ...(description !== undefined && { description }), method, params: kept };
    const temporary = join(this.#path, `.${crypto.randomUUID()}`);
    try {
      await mkdir(this.#path, { recursive: true });
      await writeFile(temporary, `${ExactNumber.stringify(request, 2)}\n`, { flag: "wx" });
      if (replaces) await rename(temporary, this.#pathOf(name));
      else await link(temporary, this.#pathOf(name));
    } catch (error) {
      if (codeOf(error) === "EEXIST") return undefined;
      throw this.#unusable(this.#shown(name), "cannot be written", error);
    } finally {
      await rm(temporary, { force: true });
    }
    return this.#shown(name);
  }

  /** Reads a file. Refuses links out of the folder, and does not wait for pipes. */
  async #read(name: string): Promise<SavedRequest | MalformedRequest> {
    const reason = reasonAgainst(name);
    if (reason !== undefined) return this.#malformed(name, `its name ${reason}`);
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    try {
      const file = await open(this.#pathOf(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const facts = await file.stat();
        if (!facts.isFile()) return this.#malformed(name, "it is not a file");
        if (facts.size > mostBytes) return this.#malformed(name, `it has more than ${mostBytes} bytes`);
        return this.#parse(name, await file.readFile());
      } finally {
        await file.close();
      }
    } catch (error) {
      return this.#malformed(
        name,
        codeOf(error) === "ELOOP" ? "it is a link" : `it cannot be read: ${messageOf(error)}`,
      );
    }
  }

  #parse(name: string, bytes: Uint8Array): SavedRequest | MalformedRequest {
    const scan = scanJson(bytes);
    if (!scan.ok) return this.#malformed(name, scan.fault.says, placeOf(bytes, scan.fault.at));
    const fault = (says: string, pointer: string): MalformedRequest => {
      const { start } = nodeAt(scan.root, pointer) ?? scan.root;
      return this.#malformed(name, says, placeOf(bytes, start));
    };
    const value = ExactNumber.parse(new TextDecoder().decode(bytes));
    if (!isObject(value)) return fault("a request is an object", "");
    const { method, params = {}, description } = value;
    if (typeof method !== "string") return fault('"method" must be a string', "/method");
    if (!isObject(params) || params instanceof ExactNumber) return fault('"params" must be an object', "/params");
    if (description !== undefined && typeof description !== "string")
      return fault('"description" must be a string', "/description");
    const other = Object.keys(value).find((key) => !members.has(key));
    if (other !== undefined)
      return fault(`a request has no member ${JSON.stringify(other)}`, `/${pointerToken(other)}`);
    return { name, method, params, description };
  }

  #malformed(name: string, says: string, place = ""): MalformedRequest {
    return { name, fault: escapeControls(`${this.#shown(name)}${place}: ${says}`) };
  }

  #pathOf(name: string): string {
    return join(this.#path, `${name}${suffix}`);
  }

  #shown(name: string): string {
    return join(this.directory, `${name}${suffix}`);
  }

  #unusable(path: string, what: string, cause: unknown): Failure {
    return new Failure(`${path} ${what}: ${messageOf(cause)}`, { exitCode: exitCodes.usage, cause });
  }
}

const members: ReadonlySet<string> = new Set(["$schema", "description", "method", "params"]);

/** `:3:14`: the line and the column of a byte. */
function placeOf(bytes: Uint8Array, at: number): string {
  const lines = new TextDecoder().decode(bytes.subarray(0, at)).split("\n");
  return `:${lines.length}:${(lines.at(-1) ?? "").length + 1}`;
}

/** The maximum number of bytes of a name: file systems allow 255, including the suffix. */
const longestName = 200;

/** Matches device names, which Windows reserves in every folder and with every suffix. */
const devices = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³]|conin\$|conout\$)(?:\.|$)/i;

/** Why a name is invalid for a file on some system; undefined if it is valid. */
function reasonAgainst(name: string): string | undefined {
  if (name === "") return "is empty";
  if (Buffer.byteLength(name) > longestName) return `has more than ${longestName} bytes`;
  if (/[/\\]/.test(name)) return "has a path separator";
  if (/^[.@]/.test(name)) return `begins with ${name[0]}`;
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) return "has a hidden character";
  if (/[<>:"|?*]/.test(name)) return 'has one of < > : " | ? *, which Windows forbids';
  if (/^\s|[\s.]$/.test(name)) return "begins or ends with a space, or ends with a dot";
  return devices.test(name) ? "is a device on Windows" : undefined;
}

/** @throws Failure for an invalid name */
function requireName(name: string): void {
  const reason = reasonAgainst(name);
  if (reason !== undefined)
    throw usageFailure(`a request cannot have the name ${escapeControls(JSON.stringify(name))}: it ${reason}`);
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
