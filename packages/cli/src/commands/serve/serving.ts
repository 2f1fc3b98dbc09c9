import { type HttpServer, serveHttp, serveStdio } from "@parlance/mcp/node";
import { type Failure, messageOf, unreachableFailure } from "../../shared/failure.js";
import { libraryOf, loadServer } from "../../shared/target/server-module.js";

/** Where a module is served: on stdin and stdout, or on a port. */
export type Transport =
  | { readonly kind: "stdio" }
  | { readonly kind: "http"; readonly port: number; readonly allowedOrigins: readonly string[] };

/** A module that is being served. */
interface Serving {
  /** The name that the server gives itself. */
  readonly name: string;
  readonly version: string;
  /** The HTTP server; undefined on stdio. */
  readonly http: HttpServer | undefined;
  /** Resolves when the conversation on stdio has ended; never for HTTP. */
  readonly over: Promise<unknown>;
}

/** Loads a module and serves what it exports. @throws Failure */
export async function serveModule(path: string, transport: Transport): Promise<Serving> {
  const library = (await libraryOf(path, "node")) ?? { serveHttp, serveStdio };
  const server = await loadServer(path);
  const { name, version } = server.info;
  if (transport.kind === "stdio")
    return { name, version, http: undefined, over: library.serveStdio(server).then(({ closed }) => closed) };
  const { port, allowedOrigins } = transport;
  try {
    const http = await library.serveHttp(server, { port, allowedOrigins });
    return { name, version, http, over: new Promise(() => undefined) };
  } catch (error) {
    throw portFailure(port, error);
  }
}

/** The failure to listen on a port. */
export function portFailure(port: number, cause: unknown): Failure {
  const message = `port ${port} is not available: ${messageOf(cause)}`;
  return unreachableFailure(message, "--http <port> chooses another one; 0 takes a free port", cause);
}

/** The one message of a worker: it serves, or it has failed. `files` are the module and its imports. */
export type WorkerReport =
  | {
      readonly kind: "ready";
      readonly files: readonly string[];
      readonly name: string;
      readonly version: string;
      readonly http?: { readonly url: string; readonly port: number };
    }
  | {
      readonly kind: "failed";
      readonly files: readonly string[];
      readonly message: string;
      readonly seen: readonly string[];
      readonly remedy?: string | undefined;
    };

/** The report of a module that is served. */
export function readyReport({ name, version, http }: Serving, files: readonly string[]): WorkerReport {
  const ready = { kind: "ready", files, name, version } as const;
  return http === undefined ? ready : { ...ready, http: { url: http.url, port: http.port } };
}
