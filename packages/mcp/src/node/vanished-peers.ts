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

const connection = /^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) \S+ \S+ \S+ ([0-9A-F]{8}) /gm;

const watched = new Set<Socket>();
let timer: NodeJS.Timeout | undefined;

/**
 * Closes a connection whose peer no longer acknowledges data, such as a machine without network. TCP keep-alive covers
 * idle connections only: sent data is retransmitted for up to 15 minutes first (`net.ipv4.tcp_retries2`), and Node
 * cannot set `TCP_USER_TIMEOUT`. Linux lists the retransmission counts; on other systems this does nothing.
 */
export function closeWhenVanished(socket: Socket): void {
  if (process.platform !== "linux") return;
  watched.add(socket);
  socket.once("close", () => watched.delete(socket));
  timer ??= setInterval(() => void look(), interval).unref();
}

async function look(): Promise<void> {
  if (watched.size === 0) {
    clearInterval(timer);
    timer = undefined;
    return;
  }
  const gone = new Set<string>();
  // A system without IPv6 has one table; one without `/proc` has none.
  for (const text of await Promise.all(tables.map((path) => readFile(path, "latin1").catch(() => "")))) {
    for (const [, , localPort = "", address = "", port = "", retransmissions = ""] of text.matchAll(connection)) {
      if (Number.parseInt(retransmissions, 16) < mostRetransmissions) continue;
      gone.add(keyOf(Number.parseInt(localPort, 16), Number.parseInt(port, 16), addressOf(address)));
    }
  }
  if (gone.size === 0) return;
  for (const socket of watched) {
    const { localPort = 0, remotePort = 0, remoteAddress } = socket;
    // A Unix socket has no address, and neither has a connection that has just ended.
    if (!remoteAddress) continue;
    if (gone.has(keyOf(localPort, remotePort, normalized(remoteAddress)))) socket.destroy();
  }
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
