import { kindOf } from "../base/json.js";
import { after } from "../base/later.js";
import type { Exchange } from "../jsonrpc/call.js";
import type { ParamsFault } from "../jsonrpc/errors.js";
import { codes, invalidParams, methodNotFound, RpcError } from "../jsonrpc/errors.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { InitializeResult } from "../protocol/initialize.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../protocol/logging.js";
import { isAdvertised, methodCapabilities } from "../protocol/method-capabilities.js";
import { isProtocolMethod, methods, notifications } from "../protocol/methods.js";
import { versionAliases } from "../revisions/aliases.js";
import { latestHandshake, revisionOf } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import { finish } from "./finish.js";
import { type Carrier, HandshakeChanges } from "./handshake-changes.js";
import type { OperationTerms } from "./operation.js";
import { runAsking } from "./rounds.js";
import type { ClientDescription, Served } from "./served.js";

/** How strictly a server takes what it hears. */
export interface Manners {
  readonly lenient: boolean;
}

interface Agreement {
  /** The capabilities that the client was told. */
  readonly promised: ServerCapabilities;
  readonly terms: OperationTerms;
}

/** What the conversation remembers once the server has agreed. */
const subscriptions: ReadonlySet<string> = new Set([methods.subscribe, methods.unsubscribe]);

/** Before a client says otherwise. */
const defaultLogLevel: LoggingLevel = "info";

/**
 * The server's side of a conversation that is opened by `initialize`: three steps (initialize, its answer,
 * `notifications/initialized`), and no operation before the third.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
export class HandshakeServer {
  readonly #served: Served;
  readonly #manners: Manners;
  readonly #carrier: Carrier;
  readonly #ended = new AbortController();
  #phase: "new" | "answered" | "open" = "new";
  #agreement: Agreement | undefined;
  #logLevel: LoggingLevel = defaultLogLevel;
  #changes: HandshakeChanges | undefined;

  constructor(served: Served, manners: Manners, carrier: Carrier) {
    this.#served = served;
    this.#manners = manners;
    this.#carrier = carrier;
  }

  call(method: string, params: JsonObject, exchange: Exchange): unknown {
    if (method === methods.initialize) return this.#initialize(params);
    if (method === methods.ping) return {};
    const { terms, promised } = this.#requireOpen(method);
    const { revision } = terms;
    if (isProtocolMethod(method) && !revision.requests.client.has(method)) throw methodNotFound(method);
    const needed = methodCapabilities.get(method);
    if (needed !== undefined && !isAdvertised(needed, promised)) throw methodNotFound(method);
    if (method === methods.setLevel) return this.#setLevel(params);
    const run = (): unknown => {
      const result = runAsking(this.#served.run, method, params, { exchange, terms });
      return subscriptions.has(method) ? after(result, (told) => this.#follow(method, params, told)) : result;
    };
    return finish(run, method, revision, this.#served.info);
  }

  notified(method: string): void {
    if (method !== notifications.initialized || this.#phase !== "answered" || this.#agreement === undefined) return;
    this.#phase = "open";
    const { promised, terms } = this.#agreement;
    this.#changes = new HandshakeChanges(this.#served.changes, promised, terms.revision, this.#carrier);
  }

  /** The carrier is gone. */
  close(): void {
    this.#changes?.stop();
    this.#ended.abort();
  }

  /** The server has agreed: from here on the conversation hears of the resource, or no more. */
  #follow(method: string, { uri }: JsonObject, result: unknown): unknown {
    if (method === methods.subscribe)
      this.#changes?.subscribe(uri as string); // The server has checked it.
    else this.#changes?.unsubscribe(uri as string);
    return result;
  }

  #initialize(params: JsonObject): InitializeResult {
    if (this.#phase !== "new") throw outOfOrder("initialize was answered before: a conversation is opened once");
    const faults = initializeFaults(params);
    if (faults.length > 0) throw invalidParams("Invalid params", faults);
    const { protocolVersion, capabilities, clientInfo } = params;
    const version = protocolVersion as string;
    const asked = revisionOf((this.#manners.lenient ? versionAliases.get(version) : undefined) ?? version);
    const revision = asked?.era === "handshake" ? asked : latestHandshake;
    // The faults were looked for just above.
    const client = { info: clientInfo, capabilities } as ClientDescription;
    const promised = this.#served.capabilities();
    const conversation = { ...this.#carrier, ended: this.#ended.signal };
    this.#agreement = { promised, terms: { revision, client, conversation, logLevel: () => this.#logLevel } };
    this.#phase = "answered";
    this.#carrier.agreed(revision);
    return this.#answer(revision, promised);
  }

  #answer(revision: Revision, capabilities: ServerCapabilities): InitializeResult {
    const { info, instructions } = this.#served;
    const result: InitializeResult = {
      protocolVersion: revision.version,
      capabilities,
      serverInfo: info,
      ...(instructions === undefined ? {} : { instructions }),
    };
    return revision.down("result", methods.initialize, result) as InitializeResult; // Its members stay.
  }

  #requireOpen(method: string): Agreement {
    if (this.#phase === "open" && this.#agreement !== undefined) return this.#agreement;
    if (this.#phase === "answered")
      throw outOfOrder(`${method} came before notifications/initialized: send that first`);
    throw outOfOrder(
      `${method} came before initialize: open the conversation with it, or name a stateless revision in params._meta`,
    );
  }

  #setLevel({ level }: JsonObject): JsonObject {
    if (!isLoggingLevel(level)) {
      throw invalidParams("Invalid params", [
        { path: "/level", message: `must be one of ${loggingLevels.join(", ")}` },
      ]);
    }
    this.#logLevel = level;
    return {};
  }
}

function outOfOrder(reason: string): RpcError {
  return new RpcError(codes.invalidRequest, "Invalid Request", { reason });
}

function initializeFaults({ protocolVersion, capabilities, clientInfo }: JsonObject): readonly ParamsFault[] {
  const faults: ParamsFault[] = [];
  const expect = (holds: boolean, path: string, what: string, value: unknown): void => {
    if (!holds) faults.push({ path, message: `must be ${what}, got ${kindOf(value)}` });
  };
  expect(typeof protocolVersion === "string", "/protocolVersion", "a string", protocolVersion);
  expect(isObject(capabilities), "/capabilities", "an object", capabilities);
  expect(isObject(clientInfo), "/clientInfo", "an object", clientInfo);
  if (isObject(clientInfo)) {
    expect(typeof clientInfo.name === "string", "/clientInfo/name", "a string", clientInfo.name);
    expect(typeof clientInfo.version === "string", "/clientInfo/version", "a string", clientInfo.version);
  }
  return faults;
}
