import type { Servable } from "@parlance/mcp/client";
import type { Reporter } from "@parlance/mcp/jsonrpc";
import { serveHttp, serveTcp } from "@parlance/mcp/node";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure, usageFailure } from "../../shared/failure.js";

/** A listening server. */
export interface Listening {
  /** The URL that clients connect to. */
  readonly url: string;
  /** Stops accepting calls, waits for running ones, then closes. */
  drain(grace: number): Promise<void>;
  close(): Promise<void>;
}

type Listen = (served: Servable, at: URL, report: Reporter) => Promise<Listening>;

/** By the scheme of the address. */
const transports: Readonly<Record<string, Listen>> = {
  async "http:"(served, { hostname, port, pathname }, report) {
    // Clients of 2024-11-05 may connect too: every client is on this machine.
    const host = hostname.replace(/^\[|\]$/g, "");
    const path = pathname === "/" ? "/mcp" : pathname;
    return serveHttp(served, { host, port: Number(port), path, legacySse: true, report });
  },
  async "tcp:"(served, { hostname, port }, report) {
    const host = hostname.replace(/^\[|\]$/g, "");
    const server = await serveTcp(served, { host, port: Number(port) }, { report });
    const bound = "port" in server.address ? server.address.port : port;
    return { url: `tcp://${hostname}:${bound}`, drain: (grace) => server.drain(grace), close: () => server.close() };
  },
  async "unix:"(served, { pathname }, report) {
    const server = await serveTcp(served, { path: decodeURIComponent(pathname) }, { report });
    return { url: `unix:${pathname}`, drain: (grace) => server.drain(grace), close: () => server.close() };
  },
};

/** How an address to listen at is written, for help pages. */
export const listenHelp = `An <address> is one of
  http://127.0.0.1:8080/mcp   HTTP, for clients of every revision; port 0
                              is any that is free
  tcp://127.0.0.1:7007        lines of JSON on a TCP port of this machine
  unix:/path/to/socket        the same on a Unix socket, for this user alone`;

/** Serves at a local address. @throws Failure for an invalid address, or one that is taken or forbidden */
export async function listenAt(address: string, served: Servable, report: Reporter): Promise<Listening> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const listen = url === undefined ? undefined : transports[url.protocol];
  if (url === undefined || listen === undefined) {
    throw usageFailure(`${address} is no address to listen at`, "--listen http://127.0.0.1:8080/mcp");
  }
  try {
    return await listen(served, url, report);
  } catch (error) {
    if (error instanceof TypeError) {
      throw usageFailure(`${address} can be reached from other machines, and nobody asks who calls`, onlyHere);
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(`nobody can listen at ${address}: ${why}`, {
      exitCode: exitCodes.unreachable,
      remedy: "port 0 takes any that is free",
      cause: error,
    });
  }
}

const onlyHere = "listen at 127.0.0.1, and put something that asks who calls in front of it";
