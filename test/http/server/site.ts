import type { HttpOptions } from "@parlance/mcp/http";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { type HttpServer, serveHttp } from "@parlance/mcp/node";
import type { Server } from "@parlance/mcp/server";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { expect } from "vitest";
import { turn } from "../../testing/talks.js";
import { type Asked, written } from "./asked.js";
import { shop } from "./shop.js";
import { type Answer, Wire } from "./wire.js";

/** A server of ours behind a socket. */
export interface Site extends AsyncDisposable {
  readonly server: Server;
  readonly http: HttpServer;
  readonly clock: FakeClock;
  /** The reports, in words. */
  readonly reports: string[];
  /** The tools that run. */
  readonly running: ReadonlySet<string>;
  open(): Promise<Wire>;
  /** Asks on a connection of its own. */
  ask(asked: Asked): Promise<Answer>;
}

/** Ends with the leak check: no subscription remains, and no timer runs on. */
export async function site(server: Server = shop(), options: HttpOptions = {}): Promise<Site> {
  const clock = createFakeClock();
  const reports: string[] = [];
  const report = (each: Parameters<typeof describeReport>[0]): void => void reports.push(describeReport(each));
  const http = await serveHttp(server, { clock, report, ...options });
  const running = watchTools(server);
  const open = (): Promise<Wire> => Wire.open(http.port);
  const ask: Site["ask"] = async (asked) => {
    using wire = await open();
    return await wire.ask(written(asked));
  };
  return {
    server,
    http,
    clock,
    reports,
    running,
    open,
    ask,
    async [Symbol.asyncDispose]() {
      await http.close();
      expect(server.changes.size, "listeners that are left").toBe(0);
      // The next keep-alive finds no stream left.
      clock.advance(15_000);
      clock.advance(15_000);
      expect(clock.armed, "timers that are still armed").toBe(0);
    },
  };
}

/** Notes the tools that run, and are not done at once. */
export function watchTools(server: Server): ReadonlySet<string> {
  const running = new Set<string>();
  server.use((next) => (method, params, operation) => {
    const result = next(method, params, operation);
    if (!(result instanceof Promise)) return result;
    const tool = String(params.name);
    const done = (): unknown => running.delete(tool);
    running.add(tool);
    result.then(done, done);
    return result;
  });
  return running;
}

/** Waits, without time, until something is as it should be: what it takes is on its way through this machine. */
export async function until(isSo: () => boolean): Promise<void> {
  const giveUp = performance.now() + 60_000;
  while (!isSo()) {
    if (performance.now() > giveUp) throw new Error(`it never was so that ${isSo}`);
    await turn();
  }
}
