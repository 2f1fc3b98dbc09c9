import { isObject, type JsonObject, metaKeys, methods } from "@parlance/mcp/protocol";
import type { Sender } from "../recording/frame.js";
import { type Declared, isDeclared, usesOf, visibleCapabilities } from "./capability-use.js";
import { getOrInsert } from "./get-or-insert.js";
import type { WireMessage } from "./message.js";
import { metaOf } from "./operations.js";

/** Bounds the memory that a peer can fill by naming capabilities and versions. */
const mostKept = 100;

/** A capability that a side has declared, or that messages use without a declaration. */
export interface ContractCapability {
  /** Members of the capabilities with dots between them: `tools.listChanged`. */
  readonly path: string;
  /** Whether the side has declared it. */
  readonly isDeclared: boolean;
  /** The messages that use it; undefined if no message would show it. */
  readonly uses: number | undefined;
  /** The number of the first frame that uses it. */
  readonly firstUse: number | undefined;
  /** The number of the first frame that uses it although it was not declared then. */
  readonly undeclaredUse: number | undefined;
}

/** The declarations of one side about itself. */
export interface ContractSide {
  /** The name of the program. */
  readonly name: string | undefined;
  /** The version of the program. */
  readonly version: string | undefined;
  /** The number of the frame that declared the capabilities last; undefined if none has. */
  readonly declaredIn: number | undefined;
  /** The numbers of the first frames whose capabilities differ from those declared before. */
  readonly changedIn: readonly number[];
  /** The declared capabilities, and those used without a declaration, in order of their paths. */
  readonly capabilities: readonly ContractCapability[];
}

/** The capabilities that a client and a server have declared to each other, and their use. */
export class Contract {
  readonly #sides: Record<Sender, Side> = { client: new Side(), server: new Side() };
  readonly #versions = new Map<string, number>();
  #requested: string | undefined;
  #negotiated: string | undefined;

  /** The client. */
  get client(): ContractSide {
    return this.#sides.client.value;
  }

  /** The server. */
  get server(): ContractSide {
    return this.#sides.server.value;
  }

  /** The version that `initialize` asks for. */
  get requested(): string | undefined {
    return this.#requested;
  }

  /** The version that the result of `initialize` has. */
  get negotiated(): string | undefined {
    return this.#negotiated;
  }

  /** The number of client requests by version. */
  get versions(): ReadonlyMap<string, number> {
    return this.#versions;
  }

  /** Takes a message. `known` is what was declared before it. */
  take(message: WireMessage, known: Declared): void {
    const { revision, frame, kind, from } = message;
    if (revision === undefined) return;
    if (kind === "req" && from === "client") this.#takeRequest(message, revision.version);
    if (kind === "res" && from === "server") this.#takeResult(message);
    for (const { path, declarer, declared } of usesOf(message, known, revision))
      this.#sides[declarer].use(path, frame.n, declared === undefined || isDeclared(path, declared));
  }

  #takeRequest({ method, params, frame }: WireMessage, version: string): void {
    if (this.#versions.has(version) || this.#versions.size < mostKept)
      this.#versions.set(version, (this.#versions.get(version) ?? 0) + 1);
    const meta = metaOf(params);
    const isInitialize = method === methods.initialize;
    if (isInitialize && typeof params.protocolVersion === "string") this.#requested = params.protocolVersion;
    const { client } = this.#sides;
    client.takeInfo(isInitialize ? params.clientInfo : meta[metaKeys.clientInfo]);
    client.declare(isInitialize ? params.capabilities : meta[metaKeys.clientCapabilities], frame.n);
  }

  #takeResult({ operation, result, frame }: WireMessage): void {
    if (result === undefined) return;
    const { server } = this.#sides;
    server.takeInfo(metaOf(result)[metaKeys.serverInfo]);
    const method = operation?.request.method;
    if (method !== methods.initialize && method !== methods.discover) return;
    server.takeInfo(result.serverInfo);
    server.declare(result.capabilities, frame.n);
    if (method === methods.initialize && typeof result.protocolVersion === "string")
      this.#negotiated = result.protocolVersion;
  }
}

/** The use of a capability, as far as it is known. */
interface Use {
  count: number;
  readonly first: number;
  undeclared: number | undefined;
}

/** One side of a contract, as the messages have shown it so far. */
class Side {
  #name: string | undefined;
  #version: string | undefined;
  #declaredIn: number | undefined;
  #latest: readonly string[] = [];
  readonly #declared = new Set<string>();
  readonly #changedIn: number[] = [];
  readonly #uses = new Map<string, Use>();

  takeInfo(info: unknown): void {
    if (!isObject(info)) return;
    if (typeof info.name === "string") this.#name = info.name;
    if (typeof info.version === "string") this.#version = info.version;
  }

  declare(capabilities: unknown, n: number): void {
    if (!isObject(capabilities)) return;
    const paths = pathsOf(capabilities);
    const isOther = paths.length !== this.#latest.length || paths.some((path) => !this.#latest.includes(path));
    if (this.#declaredIn !== undefined && isOther && this.#changedIn.length < mostKept) this.#changedIn.push(n);
    this.#declaredIn = n;
    this.#latest = paths;
    for (const path of paths) if (this.#declared.size < mostKept) this.#declared.add(path);
  }

  use(path: string, n: number, declared: boolean): void {
    // The use of a member of a capability is a use of the capability, too.
    const names = path.split(".");
    for (let depth = 1; depth <= names.length; depth += 1) {
      const part = names.slice(0, depth).join(".");
      const use = getOrInsert(this.#uses, part, () => ({ count: 0, first: n, undeclared: undefined }));
      use.count += 1;
      if (part === path && !declared) use.undeclared ??= n;
    }
  }

  get value(): ContractSide {
    const undeclared = [...this.#uses].flatMap(([path, use]) => (use.undeclared === undefined ? [] : [path]));
    const paths = [...new Set([...this.#declared, ...undeclared])].sort();
    return {
      name: this.#name,
      version: this.#version,
      declaredIn: this.#declaredIn,
      changedIn: this.#changedIn,
      capabilities: paths.map((path) => {
        const use = this.#uses.get(path);
        return {
          path,
          isDeclared: this.#declared.has(path),
          uses: use?.count ?? (visibleCapabilities.has(path) ? 0 : undefined),
          firstUse: use?.first,
          undeclaredUse: use?.undeclared,
        };
      }),
    };
  }
}

/** The capabilities and their members that are declared: `tools`, `tools.listChanged`. */
function pathsOf(capabilities: JsonObject): readonly string[] {
  return Object.entries(capabilities).flatMap(([name, value]) => {
    if (value === false || value === null || value === undefined) return [];
    const members = isObject(value) ? Object.entries(value) : [];
    const declared = members.filter(([, each]) => each !== false && each !== null);
    return [name, ...declared.map(([member]) => `${name}.${member}`)];
  });
}
