import { lookup } from "node:dns/promises";
import { connect as connectTcp, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { remedyForWords } from "../../shared/client/url-failure.js";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Check, CheckResult } from "./check.js";

/** The checks of a connection: name resolution, TCP, TLS. */
export function transportChecks(url: URL, timeout: number): readonly Check[] {
  const isSecure = url.protocol === "https:" || url.protocol === "wss:";
  const address: Address = {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || (isSecure ? 443 : 80),
    timeout,
  };
  return [
    { name: "resolves", isEssential: true, run: () => resolves(address) },
    { name: "connects", isEssential: true, run: () => connects(address) },
    ...(isSecure ? [{ name: "TLS", isEssential: true, run: () => speaksTls(address) } as const] : []),
  ];
}

interface Address {
  readonly host: string;
  readonly port: number;
  /** The timeout of a connection, in milliseconds. */
  readonly timeout: number;
}

async function resolves({ host }: Address): Promise<CheckResult> {
  if (isIP(host) !== 0) return { state: "ok", says: "it is an address" };
  try {
    const addresses = await lookup(host, { all: true });
    return { state: "ok", says: addresses.map(({ address }) => address).join(", ") };
  } catch (error) {
    return failed(error);
  }
}

async function connects({ host, port, timeout }: Address): Promise<CheckResult> {
  try {
    const socket = connectTcp({ host, port });
    await ready(socket, "connect", timeout);
    const says = `${socket.remoteAddress} port ${port}`;
    socket.destroy();
    return { state: "ok", says };
  } catch (error) {
    return failed(error);
  }
}

async function speaksTls({ host, port, timeout }: Address): Promise<CheckResult> {
  try {
    const socket = connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) });
    await ready(socket, "secureConnect", timeout);
    const says = `${socket.getProtocol()}, certificate until ${socket.getPeerCertificate().valid_to}`;
    socket.destroy();
    return { state: "ok", says };
  } catch (error) {
    return failed(error);
  }
}

/** Resolves when the socket is connected. @throws its error, or an error after the timeout */
function ready(socket: ReturnType<typeof connectTcp>, event: string, timeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve).once("error", reject);
    socket.setTimeout(timeout, () => socket.destroy(new Error(`ETIMEDOUT: nothing for ${timeout} ms`)));
  });
}

function failed(error: unknown): CheckResult {
  const words = wordsOf(error);
  const remedy = remedyForWords(words);
  // OpenSSL messages begin with a place in its own source.
  const says = /error:[\dA-F]+:[^:]*:[^:]*:([^:]+):/.exec(words)?.[1] ?? words;
  const exitCode = words.startsWith("ETIMEDOUT:") ? exitCodes.timeout : exitCodes.unreachable;
  return { state: "failed", says, exitCode, ...(remedy !== undefined && { remedy }) };
}

/** The reason of a failed connection. Node tries every address of a name, and has an error for each. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
