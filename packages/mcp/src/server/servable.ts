import type { Clock } from "../base/clock.js";
import { isObject, type JsonObject, kindOf } from "../base/json.js";
import type { MaybePromise } from "../base/maybe-promise.js";
import type { Authentication, Exchange, RemoteCall } from "../jsonrpc/call.js";
import type { ErrorObject, Params } from "../jsonrpc/message.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import type { MirroredParam } from "../protocol/mirrored-params.js";
import type { Revision } from "../protocol/revisions/revision.js";
import type { Implementation } from "../protocol/types/implementation.js";
import type { LoggingLevel } from "../protocol/types/logging.js";
import type { ChangeSource } from "../session/change-feed.js";
import type { Input } from "./input/input.js";
import type { InputResponses } from "./input/input-request.js";
import type { StateSeal } from "./input/request-state.js";

/** Information about the client of an operation. For display and capability checks; it is not verified. */
export interface ClientDescription {
  /** The name and version of the client; undefined if it sends none. Not verified. */
  readonly info: Implementation | undefined;
  /** The capabilities of the client. */
  readonly capabilities: ClientCapabilities;
}

/** The session that an operation belongs to; it outlives the call. */
export interface ServedSession {
  /** The clock of the session. */
  readonly clock: Clock;
  /** Aborted when the session ends. */
  readonly ended: AbortSignal;
  /** Sends the client a request that belongs to no call of its own. */
  readonly callback: RemoteCall;
  /** Does nothing once the connection is closed. Never throws. */
  notify(method: string, params?: Params): void;
  /** Resolves when the channel can take more. */
  drained(): Promise<void>;
  /** The error object that the peer sees for an error of `method`; details are reported. */
  failure(method: string, thrown: unknown, params?: Params): ErrorObject;
  /** Closes the connection. */
  close(): void;
}

/** Information about a client before the server responds for the first time. */
export interface ClientHello extends ClientDescription {
  /** The revision of the session, or of the call. */
  readonly revision: Revision;
  /** The principal of an authenticated client. */
  readonly principal: string | undefined;
  /** The key that limits are counted by, as in `Exchange`. */
  readonly peer: string | undefined;
  /** Undefined in the stateless era: there it is who makes one call. */
  readonly session: ServedSession | undefined;
}

/** Context of one operation on a server: the exchange, and the revision and client of the session. */
export interface Operation extends Exchange {
  /**
   * Sends a notification to the caller, if its revision has it; log messages only at the requested level.
   * @throws TypeError for a `_meta` whose keys do not have the form that the specification asks for
   */
  notify(method: string, params?: Params): void;
  /** Sends requests to the client, only for capabilities that it declared. Undefined in the stateless era. */
  readonly callback?: RemoteCall | undefined;
  /** The revision of this operation. Handlers return results in the newest shape in every revision. */
  readonly revision: Revision;
  /** The client that makes the call. */
  readonly client: ClientDescription;
  /** The lowest log level that the caller requested; undefined for none. */
  readonly logLevel: LoggingLevel | undefined;
  /** Requests input from the client; undefined where the method, the transport or the revision does not allow it. */
  readonly input: Input | undefined;
  /** The input responses and the state of a handler that returned `inputRequired`. */
  readonly returned: {
    /** The input responses, by name. */
    readonly answers: InputResponses;
    /** The state given to `inputRequired`; undefined without any. */
    readonly state: unknown;
  };
  /** Undefined in the stateless era, where nothing outlives a call. */
  readonly session?: ServedSession | undefined;
}

/**
 * @param what the function that was called
 * @throws TypeError for what is no server, with what to give instead
 */
export function requireServable(what: string, served: unknown): asserts served is Servable {
  if (isObject(served) && typeof served.run === "function" && typeof served.capabilities === "function") return;
  if (isOfficialServer(served))
    throw new TypeError(`${what} was given a server of the official SDK: ${officialServerRemedy}`);
  if (isObject(served) && typeof served.disable === "function" && typeof served.name === "string") {
    const remedy = "keep the server in a variable, and give that";
    throw new TypeError(
      `${what} was given the registration of ${served.name}, which tool() and its like return: ${remedy}`,
    );
  }
  const isService = isObject(served) && typeof served.call === "function" && typeof served.method === "function";
  throw new TypeError(
    `${what} needs a server, got ${isService ? `a service: ${serviceRemedy(what)}` : `${kindOf(served)}: ${remedy}`}`,
  );
}

const remedy = "give it what createServer of @parlance/mcp/server returns";

/** How plain JSON-RPC is served in the way of a function that serves MCP. */
function serviceRemedy(what: string): string {
  const opens = "(channel, caller) => openConnection(channel, { handle: service.call, ...caller })";
  const ways: Readonly<Record<string, string>> = {
    serveWebSocket: `write serveWebSocket(${opens})`,
    webSocketUpgrade: `write webSocketUpgrade(${opens})`,
    serveTcp: `write acceptTcp(address, ${opens})`,
    serveHttp: "write http.createServer(nodeRpcHandler(service.call))",
    nodeHandler: "write nodeRpcHandler(service.call)",
    httpHandler: "write rpcHandler(service.call)",
  };
  return ways[what] ?? "openConnection(channel, { handle: service.call }) serves it";
}

/** The remedy for a server of the official SDK. */
export const officialServerRemedy =
  "make one with createServer of @parlance/mcp/server, or let the SDK serve it on a transport of its own";

/** Whether it is a `McpServer` or `Server` of the official SDK. */
export function isOfficialServer(value: unknown): boolean {
  if (!isObject(value) || typeof value.connect !== "function") return false;
  return typeof value.registerTool === "function" || typeof value.setRequestHandler === "function";
}

/** Runs an operation. Params and result have the newest shape; undefined is an empty result. */
export type OperationCall = (method: string, params: JsonObject, operation: Operation) => unknown;

/** A server as transports see it: the same interface for every transport and revision. `createServer` and `bridgeTo` return one. */
export interface Servable {
  /** The name and version of the server. */
  readonly info: Implementation;
  /** Instructions for the model. */
  readonly instructions: string | undefined;
  /** The capabilities that clients are offered, in the newest shape. */
  capabilities(): ServerCapabilities;
  /** Whether `run` handles the method. */
  hasMethod(method: string): boolean;
  /** The arguments of a tool that HTTP carries in headers too; none for what is no tool that the caller sees. */
  mirroredParams(tool: unknown, auth: Authentication): readonly MirroredParam[];
  /** Every scope that a definition requires. Default: none. */
  requiredScopes?(): readonly string[];
  /** Runs one call: params and result in the newest shape. */
  readonly run: OperationCall;
  /** Reports changes. A session listens while it is open and must stop when it ends. */
  readonly changes: ChangeSource;
  /**
   * Seals the state of calls that wait for input responses. Undefined for a server that does so itself:
   * then the answers and the state of a call come to `run` as they are.
   */
  readonly stateSeal: StateSeal | undefined;
  /** Whether params come with their numbers as they were written, for what passes them on. Default: false. */
  readonly exactNumbers?: boolean;
  /**
   * Returns the server for one client, where each client gets its own. Called before the first response. @throws RpcError to send
   * to the client instead
   */
  serverFor?(hello: ClientHello): MaybePromise<Servable>;
  /** Receives client notifications that belong to no call, in order. */
  onNotification?(method: string, params: Params | undefined): void;
}
