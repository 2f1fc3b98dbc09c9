import { lookup } from "node:dns/promises";
import { connect as connectTcp, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { remedyForWords } from "../../shared/client/url-failure.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { messageOf } from "../../shared/failure.js";
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
    { name: "resolves", isEssential: true, run: () => found(() => addressesOf(address)) },
    { name: "connects", isEssential: true, run: () => found(() => connected(address)) },
    ...(isSecure ? [{ name: "TLS", isEssential: true, run: () => found(() => secured(address)) } as const] : []),
  ];
}

interface Address {
  readonly host: string;
  readonly port: number;
  /** The timeout of a connection, in milliseconds. */
  readonly timeout: number;
}

/** A result with the words that `look` finds, or with the reason why it fails. */
async function found(look: () => Promise<string>): Promise<CheckResult> {
  try {
    return { state: "ok", says: await look() };
  } catch (error) {
    return faultOf(error);
  }
}

async function addressesOf({ host }: Address): Promise<string> {
  if (isIP(host) !== 0) return "it is an address";
  const addresses = await lookup(host, { all: true });
  return addresses.map(({ address }) => address).join(", ");
}

async function connected({ host, port, timeout }: Address): Promise<string> {
  const socket = connectTcp({ host, port });
  await ready(socket, "connect", timeout);
  const says = `${socket.remoteAddress} port ${port}`;
  socket.destroy();
  return says;
}

async function secured({ host, port, timeout }: Address): Promise<string> {
  const socket = connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) });
  await ready(socket, "secureConnect", timeout);
  const says = `${socket.getProtocol()}, certificate until ${socket.getPeerCertificate().valid_to}`;
  socket.destroy();
  return says;
}

/** Resolves when the socket is connected. @throws its error, or an error after the timeout */
function ready(socket: ReturnType<typeof connectTcp>, event: string, timeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve).once("error", reject);
    socket.setTimeout(timeout, () => socket.destroy(new Error(`ETIMEDOUT: nothing for ${timeout} ms`)));
  });
}

function faultOf(error: unknown): CheckResult {
  const words = wordsOf(error);
  // OpenSSL messages begin with a place in its own source.
  const says = /error:[\dA-F]+:[^:]*:[^:]*:([^:]+):/.exec(words)?.[1] ?? words;
  const exitCode = words.startsWith("ETIMEDOUT:") ? exitCodes.timeout : exitCodes.unreachable;
  return { state: "failed", says, exitCode, remedy: remedyForWords(words) };
}

/** The reason of a failed connection. Node tries every address of a name, and has an error for each. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join("; ");
  return messageOf(error);
}
