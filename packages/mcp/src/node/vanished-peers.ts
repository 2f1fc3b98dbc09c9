import { readFile } from "node:fs/promises";
import { isIPv4, type Socket } from "node:net";
import { endianness } from "node:os";

/** The TCP connections of this network namespace, with their retransmission counts: `man 5 proc_pid_net`. */
const tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"] as const;

/** Milliseconds between two checks. */
const interval = 2_000;

/**
 * The number of retransmissions after which a peer counts as gone: the first after 0.2 s, then with doubled delays, 13
 * s in total.
 */
const mostRetransmissions = 6;

/** Addresses and ports of both ends in hexadecimal, the bytes that are not acknowledged, and the retransmissions. */
const connection =
  /^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) \S+ ([0-9A-F]+):\S+ \S+ ([0-9A-F]{8}) /gm;

/** The progress of a connection, in bytes since its start. */
interface Watched {
  received: number;
  /** Sent and acknowledged, or fewer. */
  acknowledged: number;
}

const watched = new Map<Socket, Watched>();
let timer: NodeJS.Timeout | undefined;

/**
 * Closes a connection whose peer no longer acknowledges data, such as a machine without network. TCP keep-alive covers
 * idle connections only: sent data is retransmitted for up to 15 minutes first (`net.ipv4.tcp_retries2`), and Node
 * cannot set `TCP_USER_TIMEOUT`. Linux lists the retransmission counts; on other systems this does nothing.
 */
export function closeWhenVanished(socket: Socket): void {
  if (process.platform !== "linux") return;
  watched.set(socket, { received: 0, acknowledged: 0 });
  socket.once("close", () => watched.delete(socket));
  timer ??= setInterval(() => void look(), interval).unref();
}

async function look(): Promise<void> {
  if (watched.size === 0) {
    clearInterval(timer);
    timer = undefined;
    return;
  }
  const silent = silentPeers();
  // The kernel walks its whole hash table of connections for this list, which can take 10 ms.
  if (silent.size === 0) return;
  const waiting = new Set<string>();
  const gone = new Set<string>();
  // A system without IPv6 has one table; one without `/proc` has none.
  for (const text of await Promise.all(tables.map((path) => readFile(path, "latin1").catch(() => "")))) {
    for (const [, , localPort = "", address = "", port = "", unacknowledged = "", count = ""] of text.matchAll(
      connection,
    )) {
      if (Number.parseInt(unacknowledged, 16) === 0) continue;
      const key = keyOf(Number.parseInt(localPort, 16), Number.parseInt(port, 16), addressOf(address));
      waiting.add(key);
      if (Number.parseInt(count, 16) >= mostRetransmissions) gone.add(key);
    }
  }
  for (const [socket, sent] of silent) {
    const { localPort = 0, remotePort = 0, remoteAddress } = socket;
    // A Unix socket has no address, and neither has a connection that has just ended.
    const key = remoteAddress ? keyOf(localPort, remotePort, normalized(remoteAddress)) : "";
    const known = watched.get(socket);
    if (gone.has(key)) socket.destroy();
    else if (known !== undefined && !waiting.has(key)) known.acknowledged = sent;
  }
}

/**
 * The connections that have sent something that their peers may not have acknowledged, and received nothing since the look before,
 * with the bytes that they have sent.
 */
function silentPeers(): ReadonlyMap<Socket, number> {
  const silent = new Map<Socket, number>();
  for (const [socket, known] of watched) {
    const { bytesRead, bytesWritten = 0 } = socket;
    if (bytesRead === known.received && bytesWritten > known.acknowledged) silent.set(socket, bytesWritten);
    known.received = bytesRead;
  }
  return silent;
}

function keyOf(localPort: number, remotePort: number, remoteAddress: string): string {
  return `${localPort} ${remotePort} ${remoteAddress}`;
}

/** Parses an address of the table: 32-bit words in native byte order. */
function addressOf(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => {
    const inMemory = word.match(/../g) ?? [];
    return endianness() === "LE" ? inMemory.reverse() : inMemory;
  });
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join(".");
  return normalized((bytes.join("").match(/.{4}/g) ?? []).join(":"));
}

/** The canonical short form of an IPv6 address, without a zone. */
function normalized(address: string): string {
  return isIPv4(address) ? address : new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname;
}
