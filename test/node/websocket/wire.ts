import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** The opcodes of frames, as RFC 6455 §11.8 numbers them. */
export const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A frame of the server. */
export interface Received {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly payload: Buffer;
}

/** The response to a request to open a WebSocket. */
export interface Handshake {
  readonly status: number;
  /** The answer up to its body, in lower case. */
  readonly head: string;
  readonly body: string;
  readonly wire: Wire;
}

/** Headers of the request; undefined leaves one out, a list has it more than once. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const usual: Headers = {
  upgrade: "websocket",
  connection: "Upgrade",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version": "13",
  "sec-websocket-protocol": "mcp",
};

/** Asks for a WebSocket with exactly these headers. */
export async function handshake(url: string, headers: Headers = {}): Promise<Handshake> {
  const { hostname, port, host, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined); // A server may break a connection that still has something to say.
  await once(socket, "connect");
  const lines = Object.entries({ host, ...usual, ...headers }).flatMap(([name, value = []]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  );
  socket.write([`GET ${pathname}${search} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  return answered(new Wire(socket));
}

/** A WebSocket that is open. @throws Error for a server that opens none */
export async function open(url: string, headers: Headers = {}): Promise<Wire> {
  const { status, body, wire } = await handshake(url, headers);
  if (status !== 101) throw new Error(`the server has answered with ${status}: ${body}`);
  return wire;
}

async function answered(wire: Wire): Promise<Handshake> {
  const head = (await wire.until("\r\n\r\n")).toLowerCase();
  const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
  const body = (await wire.take(length)).toString();
  return { status: Number(head.split(" ")[1]), head, body, wire };
}

/** A client of a WebSocket that is written by hand: it sends what no client would, and reads when a test says so. */
export class Wire implements Disposable {
  readonly socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.socket = socket;
    this.#chunks = (socket as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  text(text: string): void {
    this.send(opcodes.text, text);
  }

  send(opcode: number, payload: string | Uint8Array = "", isLast = true): void {
    this.socket.write(frame(opcode, payload, isLast));
  }

  /** The next frame. @throws Error at the end of the connection */
  async next(): Promise<Received> {
    const [first = 0, second = 0] = await this.take(2);
    const length =
      second < 126
        ? second
        : second === 126
          ? (await this.take(2)).readUInt16BE()
          : Number((await this.take(8)).readBigUInt64BE());
    return { opcode: first & 15, isLast: first >= 128, payload: await this.take(length) };
  }

  /** The next message, whole. */
  async message(): Promise<string> {
    const fragments: Buffer[] = [];
    for (let expected: number = opcodes.text; ; expected = opcodes.more) {
      const { opcode, isLast, payload } = await this.next();
      if (opcode !== expected) throw new Error(`a frame of another kind: ${opcode} ${payload}`);
      fragments.push(payload);
      if (isLast) return Buffer.concat(fragments).toString();
    }
  }

  /** The code and the reason of the next frame, which closes. */
  async closing(): Promise<string> {
    const { opcode, payload } = await this.next();
    return opcode === opcodes.close
      ? `${payload.readUInt16BE()} ${payload.subarray(2)}`.trim()
      : `not closed: ${opcode}`;
  }

  /** Reads and drops everything. Resolves when the server has ended the connection. */
  async gone(): Promise<void> {
    try {
      while (!(await this.#chunks.next()).done);
    } catch {
      // Broken is gone as well.
    }
  }

  async until(end: string): Promise<string> {
    while (!this.#buffer.includes(end)) await this.#read();
    return (await this.take(this.#buffer.indexOf(end) + end.length)).toString("latin1");
  }

  async take(length: number): Promise<Buffer> {
    while (this.#buffer.length < length) await this.#read();
    const taken = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length);
    return taken;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  async #read(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (done === true) throw new Error("the server has ended the connection");
    this.#buffer = Buffer.concat([this.#buffer, value]);
  }
}

/** A frame of a client, masked with zeros. */
export function frame(opcode: number, content: string | Uint8Array, isLast = true): Buffer {
  const payload = Buffer.from(content as string);
  const start = [(isLast ? 128 : 0) | opcode];
  const mask = Buffer.alloc(4);
  if (payload.length < 126) return Buffer.concat([Buffer.from([...start, 128 | payload.length]), mask, payload]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(payload.length));
  return Buffer.concat([Buffer.from([...start, 255]), length, mask, payload]);
}
