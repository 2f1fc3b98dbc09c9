import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Random } from "../../properties/random.js";

/** Stands before a server, and breaks event streams in the middle. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** How many streams it has broken. */
  readonly cuts: number;
}

/** An event with an id has passed, so the reader can resume. */
const resumable = /\nid: [^\n]+\n(?:[a-z]+:[^\n]*\n)*\n/;

/**
 * Passes bytes both ways. Of what a stream brings behind its first event it passes a part, and breaks the connection.
 *
 * @param random where
 * @param most so many times
 */
export async function cuttingProxy(target: number, random: Random, most: number): Promise<CuttingProxy> {
  let cuts = 0;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    let passed = "";
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    client.on("data", (chunk) => server.write(chunk));
    server.on("data", (chunk) => {
      const text = chunk.toString("latin1");
      if (text.startsWith("HTTP/1.1 ")) passed = "";
      const behind = resumable.exec(passed + text);
      const start = behind === null ? text.length : Math.max(0, behind.index + behind[0].length - passed.length);
      passed += text;
      if (cuts === most || start === text.length) return client.write(chunk);
      cuts += 1;
      return client.write(chunk.subarray(0, start + random.below(text.length - start)), () => client.destroy());
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    port: (proxy.address() as AddressInfo).port,
    get cuts() {
      return cuts;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(proxy, "close");
      proxy.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
